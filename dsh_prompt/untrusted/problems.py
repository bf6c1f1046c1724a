"""What is wrong with a file, for as long as it is what it was."""

from __future__ import annotations

import os

import attrs


@attrs.frozen
class Problem:
    """Something that a person should know about what is at *path*, or has that name.

    *what* goes on where *path* ends: `str(problem)` is a sentence. Neither holds a control
    character. *signature* differs where the file has changed, so that it is reported again.
    """

    path: str
    what: str
    signature: tuple[int, ...] = attrs.field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.path} {self.what}"


def signature(path: str) -> tuple[int, ...]:
    """Give numbers that are others once the file, or the link in its place, has changed.

    The last two are when it was changed, in nanoseconds; there are none where there is no file.
    """
    for look in (os.stat, os.lstat):
        try:
            status = look(path)
        except (OSError, ValueError):
            continue
        times = (status.st_mtime_ns, status.st_ctime_ns)
        return (status.st_dev, status.st_ino, status.st_size, *times)
    return ()
