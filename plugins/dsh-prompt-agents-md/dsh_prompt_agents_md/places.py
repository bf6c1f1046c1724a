"""Where instruction files may be: the user's own, and those of the project around a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt_agents_md.errors import UnusableError
from dsh_prompt_agents_md.invisible import visible_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_agents_md.config import Config

#: Folders of version control systems: Git, Mercurial, Subversion, Jujutsu, Bazaar, Sapling, Pijul,
#: Darcs, CVS.
_REPOSITORIES: Final = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs", "CVS")


@attrs.frozen
class Bounds:
    """What a file of a project must not lead out of.

    A checkout may hold links, and could name the user's keys with one. Its *markers* are as much
    out of bounds, and whatever a version control system keeps for itself: the settings of a
    repository may hold a password.
    """

    root: str
    markers: tuple[str, ...]

    def check(self, real: str) -> None:
        """Raise `UnusableError` where the *real* path, links followed, is out of bounds."""
        if not is_inside(real, self.root):
            raise UnusableError("is not read: it is a link that leads out of the project")
        # On some systems, .GIT is the same directory.
        markers = {marker.casefold() for marker in (*self.markers, *_REPOSITORIES)}
        for part in parts_below(self.root, real):
            if part.casefold() in markers:
                raise UnusableError(f"is not read: it is a link into {visible_name(part)}")


@attrs.frozen
class Candidate:
    """A file that may exist: a *name* in the real directory *folder*.

    *home* is the directory that its readers see as `~`, where it is the user's own; *bounds* are
    those of its project, where it has one.
    """

    folder: str
    name: str
    home: str = ""
    bounds: Bounds | None = None

    @property
    def path(self) -> str:
        """Where it is."""
        return join(self.folder, self.name)

    @property
    def shown(self) -> str:
        """How readers see the path: from the top of the project, or from the user's home."""
        if self.bounds:
            return _visible(parts_below(self.bounds.root, self.path))
        if self.home and is_inside(self.path, self.home):
            return _visible(["~", *parts_below(self.home, self.path)])
        return visible_name(self.path)


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


def parts_below(folder: str, path: str) -> list[str]:
    """Give the names that lead from *folder* down to *path*; both are absolute and plain."""
    return list(filter(None, path.removeprefix(folder).split(os.sep)))  # noqa: PTH206


def join(folder: str, name: str) -> str:
    """Give the path of *name* in *folder*, which is absolute and plain."""
    # This is called for each name in each directory, and `os.path` takes longer.
    return f"{folder.removesuffix(os.sep)}{os.sep}{name}"


def is_inside(path: str, folder: str) -> bool:
    """Tell whether *path* is *folder* or below it; both are absolute and plain."""
    return path == folder or path.startswith(join(folder, ""))


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


def _visible(parts: list[str]) -> str:
    return visible_name("/".join(parts))
