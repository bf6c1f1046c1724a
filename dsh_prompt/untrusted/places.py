"""Where a file is, and what it must not lead out of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted.errors import UnusableError
from dsh_prompt.untrusted.invisible import visible_name

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Folders of version control systems: Git, Mercurial, Subversion, Jujutsu, Bazaar, Sapling, Pijul,
#: Darcs, CVS.
_REPOSITORIES: Final = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs", "CVS")


@attrs.frozen
class Bounds:
    """What a file of a project, or of another *whole*, must not lead out of.

    A checkout may hold links, and could name the user's keys with one. Its *markers* are as much
    out of bounds, and whatever a version control system keeps for itself: the settings of a
    repository may hold a password.
    """

    root: str
    markers: tuple[str, ...] = ()
    whole: str = "the project"

    def check(self, real: str) -> None:
        """Raise `UnusableError` where the *real* path, links followed, is out of bounds."""
        if not is_inside(real, self.root):
            raise UnusableError(f"is not read: it leads out of {self.whole}")
        # On some systems, .GIT is the same directory.
        markers = {marker.casefold() for marker in (*self.markers, *_REPOSITORIES)}
        for part in parts_below(self.root, real):
            if part.casefold() in markers:
                raise UnusableError(f"is not read: it leads into {visible_name(part)}")


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


def way_up(directory: str, markers: Sequence[str]) -> list[str]:
    """Give the folders from the real *directory* up to the top of its project.

    That is the nearest one that holds a marker; without any, *directory* stands alone.
    """
    folders = [directory]
    while not any(os.path.lexists(join(folders[-1], marker)) for marker in markers):
        parent = os.path.dirname(folders[-1])  # noqa: PTH120
        if parent == folders[-1]:
            return [directory]
        folders.append(parent)
    return folders


def about_path(path: str) -> str:
    """Say what keeps *path* from being the same place whatever the working directory is."""
    if "\0" in path:
        return "holds a NUL"
    if not path.startswith("~") and not os.path.isabs(path):  # noqa: PTH117 - also for "~name"
        return "is neither absolute nor below ~"
    return ""


def about_name(name: str) -> str:
    """Say what keeps *name* from being the name of a file in a directory."""
    if not name:
        return "is empty"
    if not name.strip("."):
        return "is nothing but dots"
    if any(character in name for character in "/\\\0"):
        return "holds a slash, a backslash or a NUL"
    return ""


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


def _visible(parts: list[str]) -> str:
    return visible_name("/".join(parts))
