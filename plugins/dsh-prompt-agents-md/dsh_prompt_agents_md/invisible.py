"""Characters that show nothing or turn the line around, made visible."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

#: The inside of a character class. Listed, since the tables of the interpreter differ between its
#: versions. Tab and newline are not in it.
INVISIBLE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)

#: Scripts in which a joiner, or the lack of one, changes how two letters are written: Arabic and
#: its relatives, then those of India and what lies east of it.
_JOINING: Final = (
    "\u0620-\u06ff\u0700-\u07ff\u0840-\u08ff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u18af\u1b00-\u1bff"
)
_EMOJI: Final = "\xa9\xae\u203c-\u3299\U0001f000-\U0001faff"
_IDEOGRAPHS: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def _flags() -> str:
    """Match each character of the three flags that are written with tags, in its place alone."""
    places = []
    for region in ("gbeng", "gbsct", "gbwls"):
        tags = "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
        for index, tag in enumerate(tags):
            before, after = tags[:index], tags[index + 1 :]
            places.append(f"(?<=\U0001f3f4{before}){tag}(?={after})")
    return "|".join(places)


#: What may stay: each of these is part of the character before it, and seen there.
_LEGITIMATE: Final = re.compile(
    "|".join(
        (
            f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])",
            f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
            f"(?<=[0-9#*{_EMOJI}{_IDEOGRAPHS}])[\ufe00-\ufe0f]",
            f"(?<=[{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]",
            "(?<=[\u1800-\u180a\u1820-\u18af])[\u180b-\u180d\u180f]",
            _flags(),
        )
    )
)
_SUSPECT: Final = re.compile(f"[{INVISIBLE}]")
_NAME: Final = re.compile("[\t\n\\\\\ud800-\udfff]")
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"}
_UNDECODED: Final = range(0xDC80, 0xDD00)


def reveal(text: str) -> tuple[str, Counter[str]]:
    """Escape what cannot be seen in *text*, and count it by character."""
    hidden: Counter[str] = Counter()

    def escaped(match: re.Match[str]) -> str:
        if _LEGITIMATE.match(match.string, match.start()):
            return match.group()
        hidden[match.group()] += 1
        return _escape(match)

    return _SUSPECT.sub(escaped, text), hidden


def visible_name(name: str) -> str:
    """Give a path in one line, of which each character can be seen and told from the others."""
    return reveal(_NAME.sub(_escape, name))[0]


def _escape(match: re.Match[str]) -> str:
    """Write a character below 256 or an undecoded byte with two digits, the others with more."""
    character = match.group()
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code in _UNDECODED:
        return f"\\x{code - 0xDC00:02x}"
    longest_byte, longest_short = 0xFF, 0xFFFF
    if code <= longest_byte:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= longest_short else f"\\U{code:08x}"
