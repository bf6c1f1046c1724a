"""Files of one directory that say the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt_agents_md.places import Candidate


@attrs.frozen
class Found:
    """A file that was read, and its *text*."""

    candidate: Candidate
    text: str


def distinct(files: Iterable[Found]) -> list[Found]:
    """Leave out what is empty, what repeats an earlier file, and what only points to another.

    A link to an earlier file repeats it, too.
    """
    files = [file for file in files if file.text]
    paths = {file.candidate.path for file in files}
    kept: list[Found] = []
    for file in files:
        repeats = any(file.text == other.text for other in kept)
        if not repeats and not _points_into(paths, file):
            kept.append(file)
    return kept


def _points_into(paths: set[str], file: Found) -> bool:
    """Tell whether all of *file* is the name of another of *paths*, as `@NAME` or bare.

    The first is how a file imports another. The second is what a link becomes in a checkout on a
    system without links.
    """
    if "\n" in file.text:
        return False
    folder, name = file.candidate.folder, file.text.removeprefix("@")
    target = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
    return target != file.candidate.path and target in paths
