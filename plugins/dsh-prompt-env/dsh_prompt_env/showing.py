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


def shown_line(raw: str, limit: int) -> Shown:
    """Give *raw* in one line, its middle left out where it has more than *limit* characters."""
    return _line(raw, limit, visible_name)


def shown_path(raw: str | bytes) -> Shown:
    """Give a path in one line, as `shown_line` does; a Windows path keeps its backslashes."""
    path = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
    return _line(path, LONGEST_PATH, _visible_windows if _WINDOWS.match(path) else visible_name)


def _visible_windows(path: str) -> str:
    return "\\".join(map(visible_name, path.split("\\")))


def _line(raw: str, limit: int, visible: Callable[[str], str]) -> Shown:
    problems = []
    short = raw
    if len(raw) > limit:
        half = limit // 2
        short = f"{raw[: limit - half - 1]}{_CUT}{raw[-half:]}"
        problems.append(f"has {len(raw)} characters, its middle is left out")
    text = clean(visible(short)).text
    if text != short:
        problems.append(_ESCAPED)
    return Shown(raw, text, tuple(problems), short is raw)


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
