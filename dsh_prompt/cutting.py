"""Cut a text where a reader would: after a line, else between characters as readers see them."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Longer than this, what readers take for one character is somebody's joke.
_LONGEST: Final = 50
#: Nor does anybody wave more flags in a row; an even number, as two letters make one.
_MOST_LETTERS: Final = 2000
_JOINER: Final = "\u200d"
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_TAGS: Final = range(0xE0020, 0xE0080)
_REGIONS: Final = range(0x1F1E6, 0x1F200)
#: Letters of Hangul: those that begin a syllable, those that go on with one, whole syllables.
_FIRST_JAMO: Final = frozenset((*range(0x1100, 0x1160), *range(0xA960, 0xA97D)))
_MORE_JAMO: Final = frozenset((*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)))
_SYLLABLES: Final = range(0xAC00, 0xD7A4)
#: What belongs to the character before it, and is no mark: joiners, half-width sound marks, and the
#: vowel AM of Thai and Lao.
_ATTACHED: Final = "\u200c\u200d\uff9e\uff9f\u0e33\u0eb3"
#: The combining class of the sign that joins the next consonant, in scripts of India.
_VIRAMA: Final = 9


def cut_bytes(text: str, room: int) -> str:
    """Give the beginning of *text* that *room* bytes of UTF-8 hold, cut as by `cut`."""
    data = text.encode()
    if len(data) <= room:
        return text
    return cut(text, len(data[: max(room, 0)].decode("utf-8", "ignore")))


def cut(text: str, end: int) -> str:
    """Give the beginning of *text*, of at most *end* code points.

    It ends with a line, unless more than half would be lost that way, else with a character as
    readers see it.
    """
    if len(text) <= end:
        return text
    end = max(end, 0)
    line_end = text.rfind("\n", 0, end + 1)
    if line_end * 2 >= end > 0:
        return text[:line_end].removesuffix("\r")
    nearest = range(end, max(end - _LONGEST, -1), -1)
    return text[: next((index for index in nearest if _is_boundary(text, index)), end)]


def _is_boundary(text: str, index: int) -> bool:
    """Tell whether what readers take for one character ends before *index*."""
    if not index:
        return True
    before, after = text[index - 1], text[index]
    if before == _JOINER or _extends(after) or (before, after) == ("\r", "\n"):
        return False
    if _is_in_syllable(ord(before), ord(after)):
        return False
    if unicodedata.combining(before) == _VIRAMA and after.isalpha():
        return False
    return not (ord(after) in _REGIONS and _regions_before(text, index) % 2)


def _is_in_syllable(before: int, after: int) -> bool:
    """Tell whether two letters of Hangul are written in one block."""
    begins = before in _FIRST_JAMO
    if after in _MORE_JAMO:
        return begins or before in _MORE_JAMO or before in _SYLLABLES
    return begins and (after in _FIRST_JAMO or after in _SYLLABLES)


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        character in _ATTACHED
        or code in _SKIN_TONES
        or code in _TAGS
        or unicodedata.category(character).startswith("M")
    )


def _regions_before(text: str, index: int) -> int:
    """Count the letters of flags that end at *index*: two make a flag."""
    start, first = index, max(index - _MOST_LETTERS, 0)
    while start > first and ord(text[start - 1]) in _REGIONS:
        start -= 1
    return index - start
