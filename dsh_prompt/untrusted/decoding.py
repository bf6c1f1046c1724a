"""Bytes into text, or a reason why not."""

from __future__ import annotations

import codecs
from typing import Final

from dsh_prompt.untrusted.errors import UnusableError

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes) -> str:
    """Give the text of a file, with plain newlines and without space around it.

    Raises `UnusableError` for what is no text.
    """
    try:
        text = _decoded(data)
    except UnicodeDecodeError:
        raise UnusableError(
            "is not shown: it is neither UTF-8 nor UTF-16 with a byte order mark"
        ) from None
    if "\0" in text:
        raise UnusableError("is not shown: it holds a NUL, so it is no text")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding)
    return data.decode("utf-8")
