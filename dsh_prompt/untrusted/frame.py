"""Frames around text that somebody else wrote, and what keeps it from leaving them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from dsh_prompt.untrusted.tables import INVISIBLE

#: The tags of the first party's frames, and the one that many harnesses put their own words in.
#: A text of one plugin must not pretend to stand in the frame of another.
FRAMES: Final = (
    "workspace-instructions",
    "instructions",
    "skills",
    "skill",
    "memory",
    "summary",
    "project-note",
    "server-instructions",
    "system-reminder",
)

#: All that become a plain bracket in the shadow of a text.
_BRACKET: Final = re.compile("([<\u226e\ufe64\uff1c])")

# The patterns below are for the shadow. Those that could match the same never stand side by side
# unless possessive, so that the time it takes grows with the length of the text and not faster.
_NOTHING: Final = "\u200b"
_BETWEEN: Final = f"[ {_NOTHING}]*+"
_SLASHES: Final = r"/\\\u2044\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9"
_HYPHENS: Final = rf"[ {_NOTHING}_\u2010-\u2015\u2212-]*+"
_PREFIX: Final = rf"[\w.-][\w.{_NOTHING}-]*+{_BETWEEN}:{_BETWEEN}"


def _loosely(name: str) -> str:
    return _HYPHENS.join(_BETWEEN.join(word) for word in name.split("-"))


@cache
def _tag(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"{_BETWEEN}(?:[{_SLASHES}]{_BETWEEN})*+(?:{_PREFIX})*"
        rf"(?:{'|'.join(map(_loosely, tags))})(?![\w-])"
    )


_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
_ATTRIBUTE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class _Shadow(dict[int, str]):
    """A table for `str.translate` that makes of a text what a reader could take it for.

    Letters lose their case, their marks and their fancy shapes; space is one of two kinds, that
    which is seen and that which is not.
    """

    def __missing__(self, code: int) -> str:
        self[code] = shade = _shade(chr(code))
        return shade


def _shade(character: str) -> str:
    if character.isspace():
        return " "
    if _INVISIBLE.match(character):
        return _NOTHING
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join([one for one in plain if unicodedata.category(one)[0] != "M"])


def defuse(text: str, tags: tuple[str, ...] = ()) -> tuple[str, int]:
    """Write the bracket of each tag that belongs to a frame as `&lt;`, and count those tags.

    *tags* are looked for besides `FRAMES`: names of lower-case letters and hyphens.
    """
    pieces = _BRACKET.split(text)
    if len(pieces) == 1:
        return text, 0
    # The table is not kept for the next text: rare characters could fill the memory.
    _, *behind = text.translate(_Shadow()).split("<")
    tag = _tag((*FRAMES, *tags))
    found = [index for index, shadow in enumerate(behind) if tag.match(shadow)]
    for index in found:
        pieces[2 * index + 1] = "&lt;"
    return "".join(pieces), len(found)


def without_tag_at_end(text: str, tags: tuple[str, ...] = ()) -> str:
    """Take away the tag of a frame that the beginning of a clean text may end with.

    None was there before: `</memorybook` is no tag, and `</memory`, cut from that, is one.
    """
    _, count = defuse(text, tags)
    if not count:
        return text
    *_, bracket = _BRACKET.finditer(text)
    return text[: bracket.start()]


def quoted(value: str) -> str:
    """Give the visible *value* in quotes, so that it ends nowhere but at their end."""
    return f'"{value.translate(_ATTRIBUTE)}"'


def framed(tag: str, body: str, **attributes: str) -> str:
    """Put *body*, which `clean` has made safe, between the tags of a frame.

    The values of *attributes* are quoted here; what cannot be seen in them is the caller's to show.
    """
    said = "".join(f" {name}={quoted(value)}" for name, value in attributes.items())
    return f"<{tag}{said}>\n{body}\n</{tag}>"
