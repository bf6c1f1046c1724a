"""Characters that show nothing or turn the line around, made visible."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from dsh_prompt.untrusted.tables import (
    AFTER_JOINER,
    BEFORE_JOINER,
    EMOJI_BLOCKS,
    IDEOGRAPHS,
    INVISIBLE,
    JOINING,
    STANDARD,
    TEXT_OR_EMOJI,
)

_SKIN_TONES: Final = "\U0001f3fb-\U0001f3ff"


def _flags() -> dict[str, str]:
    """Match each character of the three flags that are written with tags, in its place alone."""
    places: dict[str, list[str]] = {}
    for region in ("gbeng", "gbsct", "gbwls"):
        tags = "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
        for index, tag in enumerate(tags):
            place = f"(?<=\U0001f3f4{tags[:index]}){tag}(?={tags[index + 1 :]})"
            places.setdefault(tag, []).append(place)
    return {tag: "|".join(alternatives) for tag, alternatives in places.items()}


_BETWEEN_LETTERS: Final = f"(?<=[{JOINING}]).(?=[{JOINING}])"
_IN_EMOJI: Final = (
    f"(?<=[{BEFORE_JOINER}]).(?=[{AFTER_JOINER}])"
    f"|(?<=[{BEFORE_JOINER}][\ufe0f{_SKIN_TONES}]).(?=[{AFTER_JOINER}])"
)
_TEXT_OR_EMOJI: Final = f"(?<=[{TEXT_OR_EMOJI}])."
#: Where each may stay: it is part of the character before it, and seen there.
_PLACES: Final = {
    character: re.compile(place)
    for character, place in {
        "\u200c": _BETWEEN_LETTERS,
        "\u200d": f"{_BETWEEN_LETTERS}|{_IN_EMOJI}",
        "\ufe0e": _TEXT_OR_EMOJI,
        "\ufe0f": f"{_TEXT_OR_EMOJI}|(?<=[{EMOJI_BLOCKS}]).|(?<=[0-9#*]).(?=\u20e3)",
        **{selector: f"(?<=[{bases}])." for selector, bases in STANDARD.items()},
        **_flags(),
    }.items()
}
_SUSPECT: Final = re.compile(f"[{INVISIBLE}]")
#: An ideograph, and which of the shapes in which names are written it has.
_SHAPED: Final = re.compile(f"[{IDEOGRAPHS}][\U000e0100-\U000e01ef]")
_MOST_SHAPED: Final = 3
_NAME: Final = re.compile("[\t\n\\\\\ud800-\udfff]")
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"}
_UNDECODED: Final = range(0xDC80, 0xDD00)


def reveal(text: str) -> tuple[str, Counter[str]]:
    """Escape what cannot be seen in *text*, and count it by character."""
    hidden: Counter[str] = Counter()
    if not _SUSPECT.search(text):
        return text, hidden
    shaped = _shaped(text)
    last_end = -1

    def shown(match: re.Match[str]) -> str:
        nonlocal last_end
        character, (start, end) = match.group(), match.span()
        place = _PLACES.get(character)
        fits = (place and place.match(text, start)) or text[max(start - 1, 0) : end] in shaped
        # What follows something escaped is no part of it any more.
        if fits and start != last_end:
            return character
        last_end = end
        hidden[character] += 1
        return _escape(match)

    return _SUSPECT.sub(shown, text), hidden


def _shaped(text: str) -> set[str]:
    """Give the ideographs that may keep their selectors, with these.

    Each selector could hold a byte: there are none in a text that has more of them than names need.
    """
    pairs = set(_SHAPED.findall(text))
    ideographs = {pair[0] for pair in pairs}
    return pairs if len(pairs) == len(ideographs) <= _MOST_SHAPED else set()


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
