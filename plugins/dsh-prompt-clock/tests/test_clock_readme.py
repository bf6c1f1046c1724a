"""The README tells the truth."""

from __future__ import annotations

from pathlib import Path

import attrs
import dsh_prompt_clock
import pytest
from dsh_prompt_clock import Config

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

_README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not _README.exists(), reason="the tests stand alone")


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    readme = Readme(_README)
    readme.run()
    assert capsys.readouterr().out == "".join(readme.blocks("text"))


def test_settings_are_the_defaults() -> None:
    """The settings shown are all that there are, with their defaults."""
    readme = Readme(_README)
    prompt = SystemPrompt(readme.config())
    prompt.load(dsh_prompt_clock, name="clock")
    shown = readme.settings("clock")
    assert set(shown) == {field.name for field in attrs.fields(Config)}
    assert Config(**shown) == Config()
