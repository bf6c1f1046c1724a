"""The README tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import dsh_prompt_agents_md
import pytest
from dsh_prompt_agents_md import Config

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    from collections.abc import Callable

README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests stand alone")


@pytest.mark.posix
def test_code_prints_what_it_says(
    project: Path,
    write: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The code, run in a project such as it describes, prints the output that is shown."""
    readme = Readme(README)
    write("AGENTS.md", "Write tests first. Quote {{names}} as they are.")
    write("services/api/AGENTS.md", "Run `make api-test`.")
    monkeypatch.chdir(project)
    first, second = readme.blocks("python")
    readme.run(first)
    (project / "services/api/CLAUDE.md").symlink_to("/etc/passwd")
    readme.run(second)
    assert capsys.readouterr().out == "".join(readme.blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, all that there are, and but for the files the defaults."""
    readme = Readme(README)
    prompt = SystemPrompt(readme.config())
    prompt.load(dsh_prompt_agents_md, name="agents-md")
    shown = readme.settings("agents-md")
    assert set(shown) == {field.name for field in attrs.fields(Config)}
    assert attrs.evolve(Config(**shown), user_files=Config().user_files) == Config()
