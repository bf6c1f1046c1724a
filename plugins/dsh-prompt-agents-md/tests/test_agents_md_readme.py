"""The README tells the truth."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import dsh_prompt_agents_md
import pytest
from dsh_prompt_agents_md import Config

from dsh_prompt import Config as HostConfig
from dsh_prompt import SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable

_README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not _README.exists(), reason="the tests stand alone")


def blocks(language: str) -> list[str]:
    text = _README.read_text(encoding="utf-8")
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return found


@pytest.mark.posix
def test_code_prints_what_it_says(
    project: Path,
    write: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The code, run in a project such as it describes, prints the output that is shown."""
    write("AGENTS.md", "Write tests first. Quote {{names}} as they are.")
    write("services/api/AGENTS.md", "Run `make api-test`.")
    monkeypatch.chdir(project)
    first, second = blocks("python")
    exec(compile(first, "README.md", "exec"), {})
    (project / "services/api/CLAUDE.md").symlink_to("/etc/passwd")
    exec(compile(second, "README.md", "exec"), {})
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, and all that there are."""
    (toml,) = blocks("toml")
    prompt = SystemPrompt(HostConfig.from_dict(tomllib.loads(toml)))
    prompt.load(dsh_prompt_agents_md, name="agents-md")
    shown = tomllib.loads(toml)["plugins"]["config"]["agents-md"]
    assert set(shown) == {field.name for field in attrs.fields(Config)}


def test_defaults_are_those_in_the_text() -> None:
    """What the README shows as a setting is the default, but for the user's files."""
    (toml,) = blocks("toml")
    shown = tomllib.loads(toml)["plugins"]["config"]["agents-md"]
    assert attrs.evolve(Config(**shown), user_files=Config().user_files) == Config()
