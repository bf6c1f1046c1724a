"""Read a file that somebody else may have put there to do harm.

Whatever is checked is checked on the opened descriptor, or cannot change any more: between a look
at a path and its opening, somebody could put something else in its place.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted.errors import UnusableError
from dsh_prompt.untrusted.places import is_inside, join, parts_below

if TYPE_CHECKING:
    from typing import Self

    from dsh_prompt.untrusted.places import Bounds, Candidate

#: A pipe in place of the file must not make the reader wait; a terminal must not become its own.
_FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
#: Windows cannot open a file on a way that it holds open.
_HAS_WAYS: Final = os.open in os.supports_dir_fd
_MOST_LINKS: Final = 40
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
#: A directory may be passed through by those who may not list it.
_DIRECTORY: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


class Reader:
    """Reads one file after the other; files of a project on a way that follows no link.

    It keeps the directory that it opened last, and goes on from there: to begin at the top for each
    file of a deep tree would take the square of the time.
    """

    def __init__(self) -> None:
        self._folder = ""
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def read(self, candidate: Candidate, limit: int) -> bytes | None:
        """Give what is in the file of *candidate*; None where there is nothing of that name.

        Raises `UnusableError` where there is something that cannot or must not be read: no regular
        file, more than *limit* bytes, out of bounds, no permission.
        """
        path, bounds = candidate.path, candidate.bounds
        try:
            is_link = stat.S_ISLNK(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as exc:
            raise _unreadable(exc) from None
        try:
            real = _follow(path, bounds) if is_link else path
            return _read(self._open(real, bounds), limit)
        except OSError as exc:
            raise _unreadable(exc) from None

    def _open(self, real: str, bounds: Bounds | None) -> int:
        """Open *real*, within *bounds* through no link, whoever puts one there now."""
        if bounds is None or not _HAS_WAYS:
            # On Windows, what was checked is the path alone.
            return os.open(real, _FILE)
        folder, name = os.path.split(real) if real != bounds.root else (real, os.curdir)
        self._go_to(folder, bounds.root)
        return os.open(name, _FILE | _NO_LINK, dir_fd=self._descriptor)

    def _go_to(self, folder: str, root: str) -> None:
        """Open *folder*, which is *root* or below it."""
        if self._descriptor < 0 or not is_inside(folder, self._folder):
            self._leave()
            self._enter(root, root)
        for part in parts_below(self._folder, folder):
            self._enter(part, join(self._folder, part))

    def _enter(self, name: str, folder: str) -> None:
        inside = None if self._descriptor < 0 else self._descriptor
        descriptor = os.open(name, _DIRECTORY | _NO_LINK, dir_fd=inside)
        self._leave()
        self._folder, self._descriptor = folder, descriptor

    def _leave(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def _unreadable(exc: Exception) -> UnusableError:
    reason = exc.strerror if isinstance(exc, OSError) else None
    return UnusableError(f"cannot be read: {reason or 'it has no valid name'}")


def _follow(path: str, bounds: Bounds | None) -> str:
    """Give what the link at *path* leads to, where that is within *bounds*."""
    try:
        if bounds is None or not _HAS_WAYS:
            real = os.path.realpath(path, strict=True)
        else:
            real = _resolved(path)
    except FileNotFoundError:
        raise UnusableError("cannot be read: it is a link that leads nowhere") from None
    if bounds:
        bounds.check(real)
    return real


def _resolved(path: str) -> str:
    """Do what `realpath` does for a link in a real directory, without a look at the way to that.

    There may be many links in a deep tree. If this were wrong, or not any more right when the file
    is opened, it would be the opening that fails.
    """
    folder, *parts = os.path.split(path)
    links = 0
    while parts:
        part = parts.pop()
        if part == os.pardir:
            folder = os.path.dirname(folder)  # noqa: PTH120
        elif part and part != os.curdir:
            ahead = join(folder, part)
            if not stat.S_ISLNK(os.lstat(ahead).st_mode):
                folder = ahead
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.readlink(ahead)  # noqa: PTH115
            parts += reversed(target.split(os.sep))  # noqa: PTH206
            folder = os.sep if target.startswith(os.sep) else folder
    return folder


def _read(descriptor: int, limit: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnusableError("is not read: it is not a regular file")
        # Its size says nothing: a file may grow meanwhile, and some never tell.
        data = _read_at_most(descriptor, limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise UnusableError(f"is not read: it has more than {limit} bytes")
    return data


def _read_at_most(descriptor: int, count: int) -> bytes:
    parts = []
    while count and (part := os.read(descriptor, count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
