"""What is under way in a repository: what git would ask the user to finish or to abort."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt_git.small_file import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADS: Final = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_SEQUENCES: Final = {b"pick": "cherry-pick", b"revert": "revert"}


@attrs.frozen
class Operation:
    """One operation that has begun and not ended.

    *branch*: the branch that it began on, where git keeps that. *step*: which of how many.
    """

    name: str
    branch: bytes | None = None
    step: tuple[int, int] | None = None


def operations(git_dir: str) -> tuple[Operation, ...]:
    """Give what is under way in the repository whose state is in *git_dir*."""
    return (*_rebase(git_dir), *_single(git_dir), *_bisect(git_dir))


def _rebase(git_dir: str) -> Iterator[Operation]:
    for folder, at, end in (("rebase-merge", "msgnum", "end"), ("rebase-apply", "next", "last")):
        if _exists(git_dir, folder):
            name = "applying patches" if _exists(git_dir, folder, "applying") else "rebase"
            step = _number(git_dir, folder, at), _number(git_dir, folder, end)
            yield Operation(name, _branch(git_dir, folder, "head-name"), _both(*step))


def _single(git_dir: str) -> Iterator[Operation]:
    """Find what marks itself by the commit it works on; a rebase uses the pick's mark too."""
    found = [name for file, name in _HEADS.items() if _exists(git_dir, file)]
    if _exists(git_dir, "rebase-merge"):
        found = [name for name in found if name == "merge"]
    elif not found:
        found = _sequence(git_dir)
    yield from map(Operation, found)


def _sequence(git_dir: str) -> list[str]:
    """Find a pick or revert of several commits that is between two of them."""
    command = (first_line(git_dir, "sequencer", "todo") or b"").partition(b" ")[0]
    return [_SEQUENCES[command]] if command in _SEQUENCES else []


def _bisect(git_dir: str) -> Iterator[Operation]:
    if _exists(git_dir, "BISECT_LOG"):
        yield Operation("bisect", _branch(git_dir, "BISECT_START"))


def _exists(*path: str) -> bool:
    return os.path.lexists(os.path.join(*path))  # noqa: PTH118


def _branch(*path: str) -> bytes | None:
    name = (first_line(*path) or b"").removeprefix(b"refs/heads/")
    return None if name in (b"", b"detached HEAD") else name


def _number(*path: str) -> int | None:
    digits = first_line(*path) or b""
    longest = 9
    return int(digits) if digits.isdigit() and len(digits) <= longest else None


def _both(at: int | None, end: int | None) -> tuple[int, int] | None:
    return None if at is None or end is None else (at, end)
