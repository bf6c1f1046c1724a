"""Text that is none: half of a surrogate pair, which one side writes and the other cannot read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

#: No arguments are as deep, and far deeper ones the SDK cannot write.
_DEEPEST: Final = 100
_HALF: Final = re.compile(
    rb"\\u[dD](?:"
    rb"[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)


def mended(data: bytes) -> bytes:
    """Give lines of JSON that can be read: U+FFFD stands for what is no text in them.

    That is half of a surrogate pair, and what is no UTF-8.
    """
    data = data.decode("utf-8", "replace").encode()
    if b"\\u" not in data or b"\0" in data:
        return data
    # An escaped backslash is no part of what follows it; a NUL does not stand in JSON.
    apart = data.replace(b"\\\\", b"\0")
    return _HALF.sub(rb"\\ufffd", apart).replace(b"\0", b"\\\\")


def sendable(value: Any, depth: int = 0) -> Any:
    """Give *value*, arguments of a call, as plain JSON that any transport can write.

    Half of a surrogate pair, which models do write, becomes U+FFFD. Raises `ValueError` for what
    is no JSON.
    """
    if depth > _DEEPEST:
        raise ValueError(f"they are nested deeper than {_DEEPEST} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        json.dumps(value, allow_nan=False)
        return value
    if isinstance(value, Mapping):
        return {_key(key): sendable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(item, depth + 1) for item in value]
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - with the SDK, where a server is

    return sendable(to_jsonable_python(value), depth + 1)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"a key is no string: {key!r}")  # noqa: TRY004
    return _text(key)


def _text(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
