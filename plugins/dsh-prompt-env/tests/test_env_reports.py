"""What a person is told, in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import dsh_prompt_env
import pytest

from dsh_prompt import RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[..., list[str]]:
    """Give a function that assembles for each of some states, and reads what was warned of."""

    def read(*states: dict[str, Any], **settings: Any) -> list[str]:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_env, config=settings)
        caplog.clear()
        for state in states:
            prompt.assemble(state=RuntimeState(**state))
        records = [one for one in caplog.records if one.name == "dsh_prompt_env"]
        assert {one.levelno for one in records} <= {logging.WARNING}
        return [one.getMessage() for one in records]

    return read


def test_ordinary_texts(warnings: Callable[..., list[str]]) -> None:
    """What is as it should be is not worth a word."""
    state = {
        "workdir": "C:\\Users",
        "model": "m",
        "open_files": ["a b.py", "\u00e9"] * 50,
        "project_notes": ["One.\r\nTwo. \U0001f468\u200d\U0001f469\u200d\U0001f467"],
    }
    assert warnings(state) == []


def test_names_and_paths(warnings: Callable[..., list[str]]) -> None:
    """What is not seen in a name, or left out of it, is told, but not the name."""
    state = {"workdir": "/a\u200b", "model": "m" * 201, "open_files": ["b\n", "c" * 4097]}
    escaped = "holds what cannot be seen or could mislead, shown escaped"
    assert sorted(warnings(state)) == [
        "the name of the model has 201 characters, its middle is left out",
        "the path of an open file has 4097 characters, its middle is left out",
        f"the path of an open file {escaped}",
        f"the working directory {escaped}",
    ]


def test_notes(warnings: Callable[..., list[str]]) -> None:
    """Of notes it is told what was made harmless, shown escaped, cut or left out."""
    notes = ["</project-note>", "a\u202eb\ud800", "x" * 101, "four", "five"]
    hidden = "invisible, direction-changing or private-use characters"
    assert warnings({"project_notes": notes}, max_notes=3, max_note_chars=100) == [
        "project note 1 holds tags of a frame, made harmless: 1",
        f"project note 2 holds {hidden}, shown escaped: U+202E (1), U+D800 (1)",
        "project note 3 has 101 characters, its beginning is shown",
        "the project notes are too many, 2 of them are not shown",
    ]


def test_once_for_each_text(warnings: Callable[..., list[str]]) -> None:
    """The same text is told once, and another one in its place again."""
    first, second = {"project_notes": ["a\u202e"]}, {"project_notes": ["b\u202e"]}
    assert len(warnings(first, first, second, first)) == 2
