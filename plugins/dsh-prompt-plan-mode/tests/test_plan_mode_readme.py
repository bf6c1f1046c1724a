"""The README tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from dsh_prompt_plan_mode import Config, PlanMode

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    import pytest

README = Readme(Path(__file__).parents[1] / "README.md")


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    README.run()
    assert capsys.readouterr().out == "".join(README.blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, and all that there are."""
    prompt = SystemPrompt(README.config())
    prompt.load(PlanMode, name="plan-mode")
    shown = README.settings("plan-mode")
    assert set(shown) == {field.name for field in attrs.fields(Config)}
