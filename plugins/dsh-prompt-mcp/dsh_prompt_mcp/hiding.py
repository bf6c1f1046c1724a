"""Secrets in the words of somebody else, as they are or written in another way."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A shorter value is no secret, and could be part of any word.
_SHORTEST_SECRET: Final = 6
_LONGEST: Final = 20_000
#: Backslashes together: each with any number of them would be tried in every combination.
_PARTS: Final = re.compile(r"\\+|[^\\]")
#: Written twice, as JSON in JSON, one backslash is four.
_TIMES: Final = 4


def without(hidden: Iterable[str], text: str) -> str:
    """Give *text* without the *hidden* values that an error of somebody else may have quoted.

    Also where it quotes them as Python, JSON, HTML or an address writes them. A long text is cut:
    nobody reads it to its end.
    """
    text = text[:_LONGEST]
    for secret in sorted({value.strip() for value in hidden}, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = re.sub("".join(map(_any_form, _PARTS.findall(secret))), "***", text)
    return text


def _any_form(part: str) -> str:
    """Give a pattern for *part*, a character or backslashes, plain or escaped, once or twice."""
    if part.isascii() and part.isalnum():
        return part
    count, character = len(part), part[0]
    forms = [f"(?:{_again(one)}){{{count}}}" for one in _escaped(character)]
    if character == "\\":
        return rf"(?:\\{{{count},{count * _TIMES}}}|{'|'.join(forms)})"
    plain = "[ +]" if character == " " else re.escape(character)
    return rf"\\{{0,{_TIMES}}}(?:{'|'.join([*forms, plain])})"


def _again(escaped: str) -> str:
    """Give a pattern for *escaped*, with the case and the number of backslashes left open."""
    pattern = re.escape(escaped).replace(r"\\", rf"\\{{1,{_TIMES}}}")
    return f"(?i:{pattern})"


def _escaped(character: str) -> list[str]:
    """Give what stands for *character*, the longest first: one may be the start of another."""
    raw = character.encode("utf-8", "surrogatepass")
    forms = {
        html.escape(character),
        f"&#{ord(character)};",
        f"&#x{ord(character):x};",
        f"\\x{ord(character):02x}",
        f"\\u{ord(character):04x}",
        "".join(f"\\x{byte:02x}" for byte in raw),
        quote(raw, safe=""),
        json.dumps(character)[1:-1],
        ascii(character)[1:-1],
    }
    return sorted(forms - {character, character * 2}, key=lambda form: (-len(form), form))
