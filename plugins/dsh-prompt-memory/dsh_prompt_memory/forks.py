"""What a fork needs of whom it copies: that nobody is in the middle of something.

SQLite keeps locks of its own in the memory of a process, and a lock that another thread holds is
held for ever in the child. So what is here lets go of its file before a fork, and the child makes
new locks. This module knows nothing of the others: the interpreter never forgets its functions.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Final, Protocol
from weakref import WeakSet


class Copied(Protocol):
    """What has a lock and an open file."""

    def pause(self) -> None:
        """Get hold of the lock, if that can be had soon, and let go of the file."""

    def go_on(self) -> None:
        """Let go of the lock, if `pause` has got hold of it; called in the parent."""

    def renew(self) -> None:
        """Make a new lock; called in the child."""


_all: Final[WeakSet[Copied]] = WeakSet()
_paused: Final[list[Copied]] = []
#: Held from before a fork until after it, so that two threads fork one after the other.
_guard: Final = Lock()


def prepare(copied: Copied) -> None:
    """Call *copied* before and after each fork, for as long as somebody else holds it."""
    with _guard:
        _all.add(copied)


def _before() -> None:
    _guard.acquire()
    _paused.extend(_all)
    for copied in _paused:
        copied.pause()


def _in_parent() -> None:
    for copied in _paused:
        copied.go_on()
    _paused.clear()
    _guard.release()


def _in_child() -> None:
    for copied in _paused:
        copied.renew()
    _paused.clear()
    _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
