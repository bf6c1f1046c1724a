"""Characters that nobody sees, or that turn a line around: a prompt can hide orders in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING
from unicodedata import category, name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dsh_prompt.testing.parts import Part

#: Controls, format characters, lone surrogates, private use, line and paragraph separators.
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
#: Others that show nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
#: What texts need: joiners are part of emoji, and of the letters of several scripts.
_ALLOWED = frozenset("\t\n\u200c\u200d")
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
#: One belongs to what stands before it; a row of them spells something that nobody sees.
_IN_A_ROW = re.compile(
    f"(?<=[{_JOINERS}])[{_JOINERS}{_SELECTORS}]|(?<=[{_SELECTORS}])[{_SELECTORS}]"
)
#: The flags of regions, as Scotland's: a black flag, the letters of its code, and an end.
_FLAGS = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")


def hidden_characters(text: str) -> list[str]:
    """Name the characters of *text* that nobody can see, with how often they occur."""
    text = _FLAGS.sub("", text)
    found = Counter(_IN_A_ROW.findall(text))
    found.update(
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
        for hidden in hidden_characters(f"{part.name}\n{_read(part)}")
    ]


def _read(part: Part) -> str:
    """Give what the model reads: a tool's text is JSON, which writes some of them as ASCII."""
    return "\n".join(_strings(json.loads(part.text))) if part.kind == "tool" else part.text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _strings(list(pair))
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
