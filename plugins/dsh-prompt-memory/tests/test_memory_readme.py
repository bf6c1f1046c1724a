"""The README tells the truth."""

from __future__ import annotations

from pathlib import Path

import attrs
import dsh_prompt_memory
import pytest
from dsh_prompt_memory import Config

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests stand alone")


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    readme = Readme(README)
    readme.run()["prompt"].dispose()
    assert capsys.readouterr().out == "".join(readme.blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, all that there are, and but for the path the defaults."""
    readme = Readme(README)
    with SystemPrompt(readme.config()) as prompt:
        prompt.load(dsh_prompt_memory, name="memory")
    shown = readme.settings("memory")
    assert set(shown) == {field.name for field in attrs.fields(Config)}
    assert attrs.evolve(Config(**shown), path=None) == Config()
