"""The words of a name, a text or a query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Between a small and a capital letter, before the last capital of several, and around digits.
_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_WORD = re.compile(r"[^\W_]+")

# Words that tell nothing about a tool: they only stand in the way of the others.
_EMPTY_WORDS = """
a about again all am an and any are as at be been but by can could did do does doing for from
give gives had has have he her here him his how i if in into is it its just let like made make
makes me mine my need needs no not of off on one only or our out please should show shows so
some something such tell tells than that the their them then there these they this those to
too up us use used want was way we were what when where which while who whom whose why will
with would yes you your
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def words_of(text: str) -> list[str]:
    """Give the words of *text*, parts of camelCase and snake_case too, in small letters."""
    return [word.lower() for word in _words(text)]


def query_words(text: str, most: int) -> list[str]:
    """Give the words of a query that tell something, each once, *most* at the most."""
    words = list(dict.fromkeys(words_of(text)))
    telling = [word for word in words if word not in _EMPTY]
    return (telling or words)[:most]


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        whole = match.group()
        parts = _HUMP.split(whole)
        if len(parts) > 1:
            yield whole
        yield from parts
