"""What a reading gives."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

Shown: TypeAlias = Literal["whole", "cut", "left out"]


@attrs.frozen
class Problem:
    """Something that a person should know about the file at *path*.

    *what* goes on where *path* ends: `str(problem)` is a sentence. Neither holds a control
    character. *signature* differs where the file has changed.
    """

    path: str
    what: str
    signature: tuple[int, ...] = attrs.field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


@attrs.frozen
class InstructionFile:
    """A file that was found: its *path* and what the section holds of its *text*.

    *shown* tells whether that is all of it: `"whole"`, `"cut"` (its beginning) or `"left out"`.
    """

    path: str
    text: str
    shown: Shown


@attrs.frozen
class Instructions:
    """The *text* of the section, the *files* in their order, and the *problems* with them."""

    text: str
    files: tuple[InstructionFile, ...] = ()
    problems: tuple[Problem, ...] = ()
