"""Real files in temporary folders, and the two ways to read them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import dsh_prompt_agents_md
import pytest
from dsh_prompt_agents_md import Config, Instructions, read_instructions

from dsh_prompt import RuntimeState, SystemPrompt, render_prompt

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
    """Give a home of the test's own, so that nobody's real files take part."""
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
def write(project: Path) -> Callable[..., Path]:
    """Give a function that writes a file of the project, folders included."""

    def file(name: str, content: str | bytes = "Be kind.\n") -> Path:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


@pytest.fixture
def reading(project: Path) -> Callable[..., Instructions]:
    """Give a function that reads the instructions for a folder of the project."""

    def read(folder: str = "", **settings: Any) -> Instructions:
        return read_instructions(project / folder, Config(**settings))

    return read


@pytest.fixture
def shown(reading: Callable[..., Instructions]) -> Callable[..., list[tuple[str, str]]]:
    """Give a function that reads the path and the text of each file in the section."""

    def read(folder: str = "", **settings: Any) -> list[tuple[str, str]]:
        text = reading(folder, **settings).text
        frames = r'^<instructions path="(.*?)">\n(.*?)\n</instructions>$'
        found: list[tuple[str, str]] = re.findall(frames, text, re.DOTALL | re.MULTILINE)
        return found

    return read


@pytest.fixture
def paths(shown: Callable[..., list[tuple[str, str]]]) -> Callable[..., list[str]]:
    """Give a function that reads the paths in the section."""

    def read(folder: str = "", **settings: Any) -> list[str]:
        return [path for path, _ in shown(folder, **settings)]

    return read


@pytest.fixture
def problems(reading: Callable[..., Instructions]) -> Callable[..., list[str]]:
    """Give a function that reads what is wrong, in words."""

    def read(folder: str = "", **settings: Any) -> list[str]:
        return [str(problem) for problem in reading(folder, **settings).problems]

    return read


@pytest.fixture
def rendered() -> Callable[..., str]:
    """Give a function that loads the plugin into a host and renders a prompt for *workdir*.

    The host's own sections are left out, so what there is comes from the plugin.
    """

    def render(workdir: Path | str | None, prompt: SystemPrompt | None = None) -> str:
        if prompt is None:
            prompt = SystemPrompt()
            prompt.load(dsh_prompt_agents_md)
        state = None if workdir is None else RuntimeState(workdir=str(workdir))
        assembly = prompt.assemble(state=state)
        assembly.sections = [
            section for section in assembly.sections if section.name == "workspace-instructions"
        ]
        return render_prompt(assembly)

    return render
