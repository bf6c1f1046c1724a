"""Secrets are hidden however somebody else has written them."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from dsh_prompt_mcp.hiding import without
from dsh_prompt_mcp.variables import secrets
from hypothesis import example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

_WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "repr": lambda text: repr(text)[1:-1],
    "quotes": lambda text: repr(f"'\"{text}")[4:-1],
    "ascii": lambda text: ascii(text)[1:-1],
    "bytes": lambda text: repr(text.encode())[2:-1],
    "json": lambda text: json.dumps(text)[1:-1],
    "json text": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json in json": lambda text: json.dumps(json.dumps(text))[3:-3],
    "path": quote,
    "query": lambda text: quote_plus(text).lower() if text.islower() else quote_plus(text),
    "html": html.escape,
}


@settings(deadline=None)
@given(st.sampled_from(sorted(_WAYS)), st.text(st.characters(exclude_categories=["Cs"])))
@example("bytes", "\u00c3")
@example("json in json", "\U00010000")
def test_ways(way: str, secret: str) -> None:
    """A secret is hidden in each of these ways, whatever is in it."""
    secret = f"s3cret{secret}".strip()
    assert without([secret], f"got [{_WAYS[way](secret)}]!") == "got [***]!"


def test_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token alone is as secret as with the word before it; white space around it is none."""
    monkeypatch.setenv("A_TOKEN", " from-a-file\n")
    hidden = secrets({"Authorization": "Bearer abc-def-ghi", "X": "${A_TOKEN}"})
    assert without(hidden, "abc-def-ghi and from-a-file, Bearer abc-def-ghi") == "*** and ***, ***"


def test_hostile_words() -> None:
    """Words that were made to take long do not."""
    words = "\\" * 500_000 + "s3cret" * 50_000
    hidden = ["s3cret\\\\-\u00e4-value", "\\-" * 40]
    assert words.startswith(without(hidden, words))
