"""The folders that skills are looked for in, the highest rank first.

The Agent Skills specification names none. `.agents/skills` is what clients share, and many skills
stand in `.claude/skills`; nearer folders of a project come first, and a project's before the
user's: https://agentskills.io/client-implementation/adding-skills-support.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import Bounds, Problem, visible_name
from dsh_prompt.untrusted.places import join, way_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.values import Rank

#: Nobody works deeper than this, and to look into each folder of a deep tree takes long.
_MOST_FOLDERS: Final = 64


@attrs.frozen
class Root:
    """A folder of skills that may exist: its *rank*, its *path*, and whose it is.

    *bounds* are those of its project, where it has one; *home* is the user's.
    """

    rank: Rank
    path: str
    home: str = ""
    bounds: Bounds | None = None


def roots_for(workdir: str | None, config: Config, problems: list[Problem]) -> Iterator[Root]:
    """Give the roots for an agent in *workdir*; without one, none of a project."""
    home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111 - no home raises nothing
    yield from _named("configured", config.roots, home)
    if workdir:
        yield from _of_project(workdir, config, problems)
    yield from _named("user", config.user_roots, home)


def _named(rank: Rank, paths: Sequence[str], home: str) -> Iterator[Root]:
    for named in paths:
        path = os.path.expanduser(named)  # noqa: PTH111
        if os.path.isabs(path):  # noqa: PTH117 - it is not where the home is not known
            yield Root(rank, os.path.normpath(path), home)


def _of_project(workdir: str, config: Config, problems: list[Problem]) -> Iterator[Root]:
    try:
        # Where a link leads to is where the agent works.
        directory = os.path.realpath(workdir)
    except (OSError, ValueError):
        problems.append(Problem(visible_name(workdir), "cannot be found"))
        return
    folders = way_up(directory, config.root_markers)
    bounds = Bounds(folders[-1], config.root_markers)
    if len(folders) > _MOST_FOLDERS:
        what = f"is deep: skills are looked for in the nearest {_MOST_FOLDERS} folders alone"
        problems.append(Problem(visible_name(directory), what))
    for folder in folders[:_MOST_FOLDERS]:
        for name in config.project_roots:
            path = os.path.normpath(join(folder, name))
            yield Root("project", path, bounds=bounds)
