"""Text that a repository chose, as the model sees it."""

from __future__ import annotations

import unicodedata

import pytest
from dsh_prompt_git.escaping import file_name, visible
from hypothesis import assume, given, settings
from hypothesis import strategies as st

_RAW = st.binary(max_size=40) | st.text(max_size=40).map(
    lambda text: text.encode("utf-8", "replace")
)


@settings(max_examples=60, deadline=None)
@given(_RAW)
def test_nothing_invisible_is_left(raw: bytes) -> None:
    """No control, format or surrogate character and no line break comes through."""
    for text in (visible(raw, 100), file_name(raw, 100)):
        assert {unicodedata.category(character) for character in text}.isdisjoint(
            {"Cc", "Cs", "Zl", "Zp"}
        )
        assert len(text.splitlines()) <= 1


@settings(max_examples=60, deadline=None)
@given(_RAW, _RAW)
def test_two_names_two_texts(one: bytes, other: bytes) -> None:
    """Different file names stay different."""
    assume(one != other)
    assert file_name(one, 200) != file_name(other, 200)


@settings(max_examples=60, deadline=None)
@given(_RAW, st.integers(5, 50))
def test_names_are_bounded(raw: bytes, limit: int) -> None:
    """No text is longer than its limit, each character escaped and the quotes included."""
    longest_escape = len(r"\U000e0041")
    assert len(file_name(raw, limit)) <= limit * longest_escape + 2


def test_long_name_keeps_both_ends() -> None:
    """A long path loses its middle."""
    assert file_name(b"a" * 50 + b"/end.txt", 11) == "aaaaa\u2026d.txt"


def test_long_text_keeps_its_beginning() -> None:
    """A long text loses its end."""
    assert visible(b"abcdef", 4) == "abc\u2026"


@pytest.mark.parametrize("raw", ["emoji \U0001f600", "日本語", "e\u0301", "a_b-c.d"])
def test_ordinary_text_stays(raw: str) -> None:
    """What can be seen is left as it is."""
    assert visible(raw.encode(), 100) == file_name(raw.encode(), 100) == raw
