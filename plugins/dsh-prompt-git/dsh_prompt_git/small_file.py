"""Read the small files that git keeps beside a repository."""

from __future__ import annotations

import os
import stat
from typing import Final

_SIZE: Final = 4096
#: A pipe in place of the file must not make the reader wait, a link must not lead it astray.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


def first_line(*path: str) -> bytes | None:
    """Give the first line of the file at *path*, given in parts; None where it is no such file."""
    try:
        descriptor = os.open(os.path.join(*path), _FLAGS)  # noqa: PTH118
    except OSError:
        return None
    try:
        return _read(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes | None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    return os.read(descriptor, _SIZE).partition(b"\n")[0].strip()
