"""What a process has beside objects: threads, open files, and settings that all of it shares."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsh_prompt.testing.places import code_place

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds that a thread has for its end, once it has been told.
GRACE = 1.0
_DESCRIPTORS = Path("/proc/self/fd")


class ProcessState:
    """The state of the process when this was made, to be compared with a later one."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._files = _open_files()
        self._settings = _settings()

    def changes(self) -> list[str]:
        """Tell what has come since, or is other now."""
        return [*self._new_threads(), *self._new_files(), *self._new_settings()]

    def _new_threads(self) -> Iterator[str]:
        new = set(threading.enumerate()) - self._threads
        deadline = time.monotonic() + GRACE
        for thread in sorted(new, key=lambda one: one.name):
            if isinstance(thread, threading._DummyThread):
                continue
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                yield f'thread "{thread.name}" still runs{_running_code(thread)}'

    def _new_files(self) -> Iterator[str]:
        new = _open_files().items() - self._files.items()
        for target, count in sorted(Counter(target for _, target in new).items()):
            times = "" if count == 1 else f", {count} times"
            yield f"file handle of {target} is still open{times}"

    def _new_settings(self) -> Iterator[str]:
        now = _settings()
        for name, before in self._settings.items():
            if now[name] != before:
                yield f"{name} is not what it was"


def _running_code(thread: threading.Thread) -> str:
    """Tell which function a thread was started with."""
    frame = sys._current_frames().get(thread.ident or 0)
    started_with = frame
    while frame is not None and frame.f_code.co_filename != threading.__file__:
        started_with, frame = frame, frame.f_back
    return "" if started_with is None else code_place(started_with)


def _open_files() -> dict[str, str]:
    """Map each open file descriptor to what it leads to; nothing where that cannot be seen."""
    found = {}
    try:
        descriptors = list(_DESCRIPTORS.iterdir())
    except OSError:
        return {}
    for descriptor in descriptors:
        try:
            found[descriptor.name] = str(descriptor.readlink())
        except OSError:  # the one that was used for looking
            continue
    return found


def _settings() -> dict[str, Any]:
    try:
        here = str(Path.cwd())
    except OSError:
        here = ""
    return {
        "the working directory": here,
        "os.environ": dict(os.environ),
        "sys.path": list(sys.path),
        "the root logger's handlers": list(logging.getLogger().handlers),
    }
