"""Cuts: after a line where that loses little, never inside of what readers take for one."""

from __future__ import annotations

import pytest

from dsh_prompt.cutting import cut, cut_bytes

#: Each is one character to a reader, of several code points.
CLUSTERS = {
    "letter with a mark": "e\u0301",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "flag": "\U0001f1e9\U0001f1ea",
    "skin tone": "\U0001f44d\U0001f3fd",
    "flag of tags": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f",
    "keycap": "1\ufe0f\u20e3",
    "jamo": "\u1112\u1161\u11ab",
    "syllable and jamo": "\uac00\u11a8",
    "jamo and syllable": "\u1100\uac00",
    "two first jamo": "\u1107\u1109\u1161",
    "old jamo": "\ua960\u1160\ud7cb",
    "jamo and an old vowel": "\u1100\ud7b0",
    "Thai vowel AM": "\u0e01\u0e33",
    "Lao vowel AM": "\u0e81\u0eb3",
    "joined consonants": "\u0915\u094d\u0937",
    "half-width sound mark": "\uff76\uff9e",
    "non-joiner": "x\u200c",
    "line end of two": "\r\n",
}


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_what_readers_take_for_one_character_is_kept_whole_or_left_out(cluster: str) -> None:
    """Wherever the cut would fall inside of it."""
    text = f"ab{cluster}cd"
    for inside in range(2, 2 + len(cluster)):
        assert cut(text, inside) == "ab"
    assert cut(text, 2 + len(cluster)) in (f"ab{cluster}", "ab")
    assert cut(text, 3 + len(cluster)).startswith("ab")


def test_a_cut_falls_after_a_line_unless_more_than_half_is_lost() -> None:
    """A line is worth more than a few characters of the next one."""
    assert cut("one line\nand another", 12) == "one line"
    assert cut("a\nand a much longer line", 12) == "a\nand a much"


def test_syllables_of_hangul_are_characters() -> None:
    """They are cut between, as there are no spaces in much of what is written with them."""
    assert cut("\uac00\ub098\ub2e4", 2) == "\uac00\ub098"
    assert cut("\u1161\u1100\u1161", 1) == "\u1161"


def test_flags_in_a_row_are_taken_in_pairs() -> None:
    """Two letters make a flag, wherever the row begins."""
    flags = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
    assert [len(cut(flags, end)) for end in range(5)] == [0, 0, 2, 2, 4]


def test_bytes_are_cut_to_whole_characters() -> None:
    """The room is in bytes of UTF-8."""
    assert cut_bytes("\u00e9\u00e9\u00e9", 5) == "\u00e9\u00e9"
    assert cut_bytes("abc", 3) == "abc"
