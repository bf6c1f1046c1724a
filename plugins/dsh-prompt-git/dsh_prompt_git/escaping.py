"""Text that a repository chose, made visible and short."""

from __future__ import annotations

import re
from typing import Final

#: Control characters, what shows nothing or turns the line around, and bytes that are no UTF-8.
#: Listed, since the tables of the interpreter differ between its versions.
_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_QUOTED: Final = re.compile(r'["\\]')
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
_UNDECODED: Final = range(0xDC80, 0xDD00)
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(raw: bytes, limit: int) -> str:
    """Decode *raw*, cut it to *limit* characters and escape what cannot be seen."""
    text = _decode(raw)
    return _escaped(text if len(text) <= limit else text[: limit - 1] + _CUT)


def file_name(raw: bytes, limit: int) -> str:
    """Give a path, its middle cut out where it has more than *limit* characters.

    It stands in quotes, as in a string of a program, where it could be taken for something else.
    """
    text = _decode(raw)
    if len(text) > limit:
        half = limit // 2
        text = text[: limit - half - 1] + _CUT + text[-half:]
    if not _needs_quotes(text):
        return text
    return '"' + _escaped(text.replace("\\", r"\\").replace('"', r"\"")) + '"'


def _needs_quotes(name: str) -> bool:
    return (
        name != name.strip()
        or not name
        or " -> " in name
        or _QUOTED.search(name) is not None
        or _INVISIBLE.search(name) is not None
    )


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _escaped(text: str) -> str:
    return _INVISIBLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    """Write a character below 128 or an undecoded byte with two digits, the others with more."""
    character = match.group()
    code = ord(character)
    if code in _UNDECODED:
        return f"\\x{code - 0xDC00:02x}"
    if character.isascii():
        return _SHORT.get(character, f"\\x{code:02x}")
    longest_short = 0xFFFF
    return f"\\u{code:04x}" if code <= longest_short else f"\\U{code:08x}"
