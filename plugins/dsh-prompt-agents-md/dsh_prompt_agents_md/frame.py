"""The frame around the files, and what keeps their contents from leaving it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dsh_prompt_agents_md.tables import INVISIBLE

#: What stands between the parts of the section.
GAP: Final = "\n\n"
_SECTION: Final = "workspace-instructions"
_FILE: Final = "instructions"
#: The tags of this frame, and the one that many harnesses put their own words in.
_TAGS: Final = (_SECTION, _FILE, "system-reminder")

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


_TAG: Final = re.compile(
    rf"{_BETWEEN}(?:[{_SLASHES}]{_BETWEEN})*+(?:{_PREFIX})*"
    rf"(?:{'|'.join(map(_loosely, _TAGS))})(?![\w-])"
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


def defuse(text: str) -> tuple[str, int]:
    """Write the bracket of each tag that belongs to a frame as `&lt;`, and count those tags."""
    pieces = _BRACKET.split(text)
    if len(pieces) == 1:
        return text, 0
    # The table is not kept for the next text: rare characters could fill the memory.
    _, *behind = text.translate(_Shadow()).split("<")
    tags = [index for index, shadow in enumerate(behind) if _TAG.match(shadow)]
    for index in tags:
        pieces[2 * index + 1] = "&lt;"
    return "".join(pieces), len(tags)


def quoted(path: str) -> str:
    """Give the visible *path* in quotes, as a value that ends nowhere but at their end."""
    return f'"{path.translate(_ATTRIBUTE)}"'


def framed(path: str, body: str) -> str:
    """Put a file into its frame."""
    return f"<{_FILE} path={quoted(path)}>\n{body}\n</{_FILE}>"


def section(*parts: str) -> str:
    """Put the *parts* that are not empty into the frame of the section."""
    inside = GAP.join(filter(None, parts))
    return f"<{_SECTION}>\n{inside}\n</{_SECTION}>"
