"""Real skills in temporary folders, and hosts that find them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import dsh_prompt_skills
import pytest
from dsh_prompt_skills import SKILLS, Config, Skills

from dsh_prompt import PromptAssembly, RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs links, pipes or modes where the system has none."""
    if os.name == "nt":
        for item in items:
            if item.get_closest_marker("posix"):
                item.add_marker(pytest.mark.skip(reason="needs a POSIX file system"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "posix: needs a POSIX file system")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home of the test's own, so that nobody's real skills take part."""
    path = tmp_path / "home"
    path.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(path))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give the top of a project: a folder with a marker and nothing else."""
    path = tmp_path / "project"
    (path / ".git").mkdir(parents=True)
    return path


@pytest.fixture
def write() -> Callable[..., Path]:
    """Give a function that writes a skill into a folder of skills, folders included."""

    def skill(
        root: Path, place: str, body: str = "Do it.", *, flat: bool = False, **fields: str
    ) -> Path:
        path = root / (f"{place}.md" if flat else f"{place}/SKILL.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        said = {"name": place, "description": f"About {place}.", **fields}
        front = "\n".join(f"{key.replace('_', '-')}: {value}" for key, value in said.items())
        path.write_text(f"---\n{front}\n---\n{body}\n", encoding="utf-8")
        return path

    return skill


@pytest.fixture
def local(project: Path) -> Path:
    """Give the project's folder of skills."""
    return project / ".agents/skills"


@pytest.fixture
def raw(local: Path) -> Callable[..., Path]:
    """Give a function that writes any content as the file of a skill of the project."""

    def file(content: str | bytes, name: str = "one") -> Path:
        path = local / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


@pytest.fixture
def service() -> Callable[..., Skills]:
    """Give a function that makes the service; what is installed here takes no part."""

    def make(**settings: Any) -> Skills:
        return Skills(Config(**{"installed": False, **settings}))

    return make


@pytest.fixture
def problems(project: Path, service: Callable[..., Skills]) -> Callable[..., list[str]]:
    """Give a function that reads what is wrong with the skills of the project."""

    def read(**settings: Any) -> list[str]:
        return [str(problem) for problem in service(**settings).problems(str(project))]

    return read


@pytest.fixture
def host() -> Callable[..., SystemPrompt]:
    """Give a function that loads the plugin into a host of its own."""

    def load(**settings: Any) -> SystemPrompt:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_skills, config={"installed": False, **settings})
        return prompt

    return load


@pytest.fixture
def assemble(project: Path, host: Callable[..., SystemPrompt]) -> Callable[..., PromptAssembly]:
    """Give a function that assembles for the project, with these skills loaded."""

    def run(*loaded: str, prompt: SystemPrompt | None = None, **settings: Any) -> PromptAssembly:
        state = RuntimeState(workdir=str(project), loaded_skills=loaded)
        return (prompt or host(**settings)).assemble(state=state)

    return run


@pytest.fixture
def called(host: Callable[..., SystemPrompt], project: Path) -> Callable[..., str]:
    """Give a function that calls the tool as a model would."""

    def call(arguments: dict[str, object], **settings: Any) -> str:
        return host(**settings).require(SKILLS).call(arguments, workdir=str(project))

    return call
