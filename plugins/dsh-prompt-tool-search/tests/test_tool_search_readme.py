"""The README tells the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from dsh_prompt_tool_search import Config, ToolSearchPlugin
from tool_search_measure import BLOCK, PAGE, measured, recall

from dsh_prompt import SystemPrompt
from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    import pytest

README = Readme(PAGE)


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    README.run()
    assert capsys.readouterr().out == "".join(README.blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, and all that there are."""
    prompt = SystemPrompt(README.config())
    prompt.load(ToolSearchPlugin, name="tool-search")
    shown = README.settings("tool-search")
    assert set(shown) == {field.name for field in attrs.fields(Config)}


def test_tables_are_current() -> None:
    """The README has the tables that the measuring gives."""
    found = BLOCK.search(README.text)
    assert found is not None
    assert found.group() == measured()


def test_nine_of_ten_questions_find_their_tool() -> None:
    """Of the hundred questions, ninety or more find the tool among the first five."""
    assert recall(5) >= 90
