"""Files of one directory that say the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dsh_prompt.untrusted import Candidate


@attrs.frozen
class Found:
    """A file that was read, and its *text*."""

    candidate: Candidate
    text: str


def distinct(files: Sequence[Found]) -> list[Found]:
    """Leave out what is empty, what repeats an earlier file, and what only points to another.

    A link to an earlier file repeats it, too.
    """
    pointers = _pointers(files)
    kept: list[Found] = []
    for file in files:
        repeats = any(file.text == other.text for other in kept)
        if file.text and not repeats and file.candidate.path not in pointers:
            kept.append(file)
    return kept


def circular(files: Sequence[Found]) -> list[Found]:
    """Give those that only point to each other, so that none of them has a text."""
    pointers = _pointers(files)
    return [file for file in files if _is_endless(pointers, file.candidate.path)]


def _is_endless(pointers: Mapping[str, str], path: str) -> bool:
    seen = set()
    while path in pointers and path not in seen:
        seen.add(path)
        path = pointers[path]
    return path in seen


def _pointers(files: Iterable[Found]) -> dict[str, str]:
    """Give the paths of files of which all is the name of another, as `@NAME` or bare, with that.

    The first is how a file imports another. The second is what a link becomes in a checkout on a
    system without links.
    """
    targets = {file.candidate.path: _target(file) for file in files if file.text}
    return {path: to for path, to in targets.items() if to != path and to in targets}


def _target(file: Found) -> str:
    if "\n" in file.text:
        return ""
    name = file.text.removeprefix("@")
    return os.path.normpath(os.path.join(file.candidate.folder, name))  # noqa: PTH118
