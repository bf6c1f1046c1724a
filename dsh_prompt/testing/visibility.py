"""Characters that nobody sees, or that turn a line around: a prompt can hide orders in them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from unicodedata import category, name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.testing.parts import Part

#: Controls, format characters, lone surrogates, private use, line and paragraph separators.
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
#: Others that show nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
#: What texts need: joiners are part of emoji, and of the letters of several scripts.
_ALLOWED = frozenset("\t\n\u200c\u200d")


def hidden_characters(text: str) -> list[str]:
    """Name the characters of *text* that nobody can see, with how often they occur."""
    found = Counter(
        character
        for character in text
        if character not in _ALLOWED and (category(character) in _CATEGORIES or character in _BLANK)
    )
    return [
        f"U+{ord(character):04X} {name(character, 'without a name')} ({count} times)"
        for character, count in sorted(found.items())
    ]


def hidden_in(parts: Iterable[Part]) -> list[str]:
    """Tell which of *parts* hold such characters, in name or text."""
    return [
        f"{part.label} holds {hidden}"
        for part in parts
        for hidden in hidden_characters(f"{part.name}\n{part.text}")
    ]
