"""Where instruction files may be: the user's own, and those of the project around a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsh_prompt.untrusted import Bounds, Candidate
from dsh_prompt.untrusted.places import way_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_agents_md.config import Config


def candidates(directory: str, config: Config) -> Iterator[list[Candidate]]:
    """Give the candidates for work in the real *directory*, broadest first.

    Each list holds those of which several may say the same.
    """
    folders = way_up(directory, config.root_markers)
    bounds = Bounds(folders[-1], config.root_markers)
    yield list(_of_user(config.user_files))
    for folder in reversed(folders):
        names = (*config.base_names, *config.local_names)
        yield [Candidate(folder, name, bounds=bounds) for name in names]


def _of_user(files: tuple[str, ...]) -> Iterator[Candidate]:
    home = os.path.expanduser("~")  # noqa: PTH111 - a home that is not known raises nothing
    for file in files:
        path = os.path.expanduser(file)  # noqa: PTH111
        if os.path.isabs(path):  # noqa: PTH117 - it is not where the home is not known
            folder, name = os.path.split(os.path.normpath(path))
            yield Candidate(folder, name, home=os.path.normpath(home))
