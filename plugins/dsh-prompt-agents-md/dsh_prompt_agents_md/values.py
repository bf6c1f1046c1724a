"""What a reading gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from dsh_prompt.untrusted import Problem

Shown: TypeAlias = Literal["whole", "cut", "left out"]


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
