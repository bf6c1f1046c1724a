"""The README tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import dsh_prompt_skills
import pytest
from dsh_prompt_skills import Config

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    from collections.abc import Callable

README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests stand alone")


def test_code_prints_what_it_says(
    project: Path,
    write: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The code, run in a project such as it describes, prints the output that is shown."""
    readme = Readme(README)
    skill, *outputs = readme.blocks("markdown") + readme.blocks("text")
    path = project / ".agents/skills/release/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(skill, encoding="utf-8")
    (path.parent / "checklist.md").write_text("1. Tag it.\n", encoding="utf-8")
    write(project / ".agents/skills", "broken", description="")
    monkeypatch.chdir(project)
    # What is installed where the tests run is nobody's business.
    monkeypatch.setattr("dsh_prompt_skills.installed._folders", list)
    readme.run()
    assert capsys.readouterr().out == "".join(outputs)


def test_settings_are_taken() -> None:
    """The settings shown are valid, all that there are, and the defaults but for the roots."""
    readme = Readme(README)
    prompt = SystemPrompt(readme.config())
    prompt.load(dsh_prompt_skills, name="skills")
    shown = readme.settings("skills")
    assert set(shown) == {field.name for field in attrs.fields(Config)}
    assert attrs.evolve(Config(**shown), roots=()) == Config()
