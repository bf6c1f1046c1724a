"""Read a file that somebody else may have put there to do harm.

Whatever is checked is checked on the opened descriptor, or cannot change any more: between a look
at a path and its opening, somebody could put something else in its place.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from dsh_prompt_agents_md.errors import UnusableError
from dsh_prompt_agents_md.places import parts_below

if TYPE_CHECKING:
    from dsh_prompt_agents_md.places import Bounds, Candidate

#: A pipe in place of the file must not make the reader wait; a terminal must not become its own.
_FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
#: A directory may be passed through by those who may not list it.
_DIRECTORY: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


def read(candidate: Candidate, limit: int) -> bytes | None:
    """Give what is in the file of *candidate*; None where there is nothing of that name.

    Raises `UnusableError` where there is something that cannot or must not be read: no regular
    file, more than *limit* bytes, out of bounds, no permission.
    """
    path = candidate.path
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as exc:
        raise _unreadable(exc) from None
    try:
        real = _follow(path, candidate.bounds) if is_link else path
        return _read(_open(real, candidate.bounds), limit)
    except OSError as exc:
        raise _unreadable(exc) from None


def _unreadable(exc: Exception) -> UnusableError:
    reason = exc.strerror if isinstance(exc, OSError) else None
    return UnusableError(f"cannot be read: {reason or 'it has no valid name'}")


def _follow(path: str, bounds: Bounds | None) -> str:
    """Give what the link at *path* leads to, where that is within *bounds*."""
    try:
        real = os.path.realpath(path, strict=True)
    except FileNotFoundError:
        raise UnusableError("cannot be read: it is a link that leads nowhere") from None
    if bounds:
        bounds.check(real)
    return real


def _open(real: str, bounds: Bounds | None) -> int:
    """Open *real*, within *bounds* on a way that follows no link, whoever puts one there now."""
    if bounds is None or os.open not in os.supports_dir_fd:
        # Windows cannot do the latter: what was checked is the path alone.
        return os.open(real, _FILE)
    *directories, name = parts_below(bounds.root, real) or [os.curdir]
    descriptor = os.open(bounds.root, _DIRECTORY | _NO_LINK)
    for part, flags in [*((part, _DIRECTORY) for part in directories), (name, _FILE)]:
        parent = descriptor
        try:
            descriptor = os.open(part, flags | _NO_LINK, dir_fd=parent)
        finally:
            os.close(parent)
    return descriptor


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
