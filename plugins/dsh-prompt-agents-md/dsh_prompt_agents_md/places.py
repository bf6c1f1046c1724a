"""Where instruction files may be: the user's own, and those of the project around a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsh_prompt.untrusted import Bounds, Candidate
from dsh_prompt.untrusted.places import join, parts_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_agents_md.config import Config


def candidates(directory: str, config: Config) -> Iterator[list[Candidate]]:
    """Give the candidates for work in the real *directory*, broadest first.

    Each list holds those of which several may say the same.
    """
    root = _find_root(directory, config.root_markers)
    bounds = Bounds(root, config.root_markers)
    yield list(_of_user(config.user_files))
    for folder in _way_down(root, directory):
        names = (*config.base_names, *config.local_names)
        yield [Candidate(folder, name, bounds=bounds) for name in names]


def _of_user(files: tuple[str, ...]) -> Iterator[Candidate]:
    home = os.path.expanduser("~")  # noqa: PTH111 - a home that is not known raises nothing
    for file in files:
        path = os.path.expanduser(file)  # noqa: PTH111
        if os.path.isabs(path):  # noqa: PTH117 - it is not where the home is not known
            folder, name = os.path.split(os.path.normpath(path))
            yield Candidate(folder, name, home=os.path.normpath(home))


def _find_root(directory: str, markers: tuple[str, ...]) -> str:
    """Give the nearest directory upward that holds a marker, else *directory* itself."""
    folder, parent = directory, os.path.dirname(directory)  # noqa: PTH120
    while not any(os.path.lexists(join(folder, marker)) for marker in markers):
        if parent == folder:
            return directory
        folder, parent = parent, os.path.dirname(parent)  # noqa: PTH120
    return folder


def _way_down(root: str, directory: str) -> Iterator[str]:
    folder = root
    yield folder
    for part in parts_below(root, directory):
        folder = join(folder, part)
        yield folder
