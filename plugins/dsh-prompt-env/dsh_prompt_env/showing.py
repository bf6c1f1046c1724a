"""Texts of the state and of the machine, made visible, harmless and short."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import clean, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The longest path of which nothing is left out; no system takes a longer one.
LONGEST_PATH: Final = 4096
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
#: Where a backslash divides names; elsewhere it would be part of one.
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_ESCAPED: Final = "holds what cannot be seen or could mislead, shown escaped"


@attrs.frozen
class Problem:
    """What is wrong with the text *raw*, called *what*: another one for another text."""

    what: str
    raw: str
    problem: str

    def __str__(self) -> str:
        return f"{self.what} {self.problem}"


@attrs.frozen
class Shown:
    """A safe *text*, and in *problems* what a person should know about the *raw* one."""

    raw: str
    text: str
    problems: tuple[str, ...] = ()
    is_whole: bool = True

    def problems_of(self, what: str) -> Iterator[Problem]:
        """Give the problems of the text, which is called *what*, for the log."""
        return (Problem(what, self.raw, problem) for problem in self.problems)


def as_text(value: object) -> str:
    """Give what a state holds as text: bytes decoded, and of anything else the type."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else f"({type(value).__name__})"


def shown_line(raw: str, limit: int) -> Shown:
    """Give *raw* in one line, its middle left out where it has more than *limit* characters."""
    return _line(raw, limit, visible_name)


def shown_path(path: str) -> Shown:
    """Give a path in one line, as `shown_line` does; a Windows path keeps its backslashes."""
    return _line(path, LONGEST_PATH, _visible_windows if _WINDOWS.match(path) else visible_name)


def _visible_windows(path: str) -> str:
    return "\\".join(map(visible_name, path.split("\\")))


def _line(raw: str, limit: int, visible: Callable[[str], str]) -> Shown:
    problems = []
    short = _without_middle(raw, limit)
    escaped = clean(visible(short)).text
    if escaped != short:
        problems.append(_ESCAPED)
    # What is escaped counts as long as it is shown; the ends that are left can make a tag.
    text = clean(_without_middle(escaped, limit)).text
    is_whole = short is raw and len(escaped) <= limit
    if not is_whole:
        problems.append(f"has {len(raw)} characters, its middle is left out")
    return Shown(raw, text, tuple(problems), is_whole)


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[: limit - half - 1]}{_CUT}{text[-half:]}"


def shown_text(raw: str, limit: int) -> Shown:
    """Give the beginning of *raw*, of about *limit* characters, safe to stand in a frame."""
    begun = raw.strip()
    short = cut(begun, limit)
    cleaned = clean(short.replace("\r\n", "\n").replace("\r", "\n"))
    problems = list(cleaned.findings())
    text = cut(cleaned.text, limit)
    is_whole = len(short) == len(begun) and len(text) == len(cleaned.text)
    if not is_whole:
        problems.append(f"has {len(raw)} characters, its beginning is shown")
    # The end of a cut text can be a tag that the whole one was not.
    return Shown(raw, clean(text).text, tuple(problems), is_whole)
