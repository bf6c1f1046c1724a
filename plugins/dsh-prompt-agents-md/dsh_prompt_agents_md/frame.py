"""The frame around the files, and what keeps their contents from leaving it."""

from __future__ import annotations

import re
from typing import Final

from dsh_prompt_agents_md.invisible import INVISIBLE

_SECTION: Final = "workspace-instructions"
_FILE: Final = "instructions"
#: The tags of this frame, and the one that many harnesses put their own words in.
_TAGS: Final = (_SECTION, _FILE, "system-reminder")

# A reader who wants to see a tag sees one in spite of what stands between its letters.
_BETWEEN: Final = rf"[\s{INVISIBLE}]*"
_SLASH: Final = r"[/\\\u2044\u2215\uff0f]"
_HYPHENS: Final = rf"[\s{INVISIBLE}_\u2010-\u2015\u2212\ufe58\ufe63\uff0d-]*"


def _loosely(name: str) -> str:
    return _HYPHENS.join(_BETWEEN.join(word) for word in name.split("-"))


_TAG: Final = re.compile(
    rf"[<\ufe64\uff1c](?={_BETWEEN}(?:{_SLASH}{_BETWEEN})*"
    rf"(?:{'|'.join(map(_loosely, _TAGS))})(?![\w-]))",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def defuse(text: str) -> tuple[str, int]:
    """Write the bracket of each tag that belongs to a frame as `&lt;`, and count those tags."""
    return _TAG.subn("&lt;", text)


def quoted(path: str) -> str:
    """Give the visible *path* in quotes, as a value that ends nowhere but at their end."""
    return f'"{path.translate(_ATTRIBUTE)}"'


def framed(path: str, body: str) -> str:
    """Put a file into its frame."""
    return f"<{_FILE} path={quoted(path)}>\n{body}\n</{_FILE}>"


def section(*parts: str) -> str:
    """Put the *parts* that are not empty into the frame of the section."""
    inside = "\n\n".join(filter(None, parts))
    return f"<{_SECTION}>\n{inside}\n</{_SECTION}>"
