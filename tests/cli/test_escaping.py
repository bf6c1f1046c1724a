"""Nothing that a terminal obeys or hides gets through."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt.cli.escaping import json_text, visible, visible_line

#: Format characters that scripts and emoji need: they shape what is seen, and hide nothing.
NEEDED = {
    *"\u200c\u200d",  # joiners
    *map(chr, range(0x600, 0x606)),  # Arabic number signs
    *"\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd",
    *map(chr, range(0x13430, 0x13440)),  # Egyptian hieroglyphs
    *map(chr, range(0x1BCA0, 0x1BCA4)),  # shorthand
    *map(chr, range(0x1D173, 0x1D17B)),  # music
}


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp"])
def test_controls_and_hidden_characters_are_escaped(category: str) -> None:
    """All characters of these categories, but for tab, newline and those that scripts need."""
    passed = {
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) == category and visible(char) == char
    }
    assert passed <= {*"\t\n", *NEEDED}


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_readable_text_stays_as_it_is(text: str) -> None:
    """Letters, marks, numbers, punctuation, symbols and spaces are shown, not escaped."""
    shown = "".join(char for char in text if not 0xE0000 <= ord(char) <= 0xE0FFF)
    assert visible(shown) == shown


def test_escapes_are_those_of_python() -> None:
    """An escape names the character as Python would; in a line, tab and newline too."""
    assert visible("a\x1b\x9b\u202e\U000e0041\ud800\tb\n") == (
        "a\\x1b\\x9b\\u202e\\U000e0041\\ud800\tb\n"
    )
    assert visible_line("a\tb\nc\r") == "a\\tb\\nc\\r"


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=5))
def test_json_is_safe_to_show_and_exact(value: object) -> None:
    """JSON says the same after it was made safe, lone surrogates included."""
    text = json_text(value)
    assert visible(text) == text
    assert json.loads(text) == value


def test_json_refuses_what_is_not_json() -> None:
    """There is no NaN in JSON."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(float("nan"))
