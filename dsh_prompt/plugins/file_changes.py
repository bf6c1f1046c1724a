"""Changed files: folders watched by threads, and told from there into any event loop."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from dsh_prompt.event_loops import post_here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from dsh_prompt.event_loops import Post

#: Seconds in which the watchers tell the rest of what belongs to one edit.
SETTLING = 0.06


class FileChanges:
    """The paths that changed in the folders that it follows, for one reader at a time.

    Raises `ModuleNotFoundError` where watchfiles is not installed. Watching takes threads and
    not tasks, since whoever waits for watchfiles in a task cannot be cancelled for seconds.
    """

    def __init__(self) -> None:
        self._watch = _import_watch()
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._came: set[str] = set()
        self._error: Exception | None = None
        self._is_woken = False
        self._is_closed = False
        self._watchers: list[_Watcher] = []
        self._waiting: list[tuple[Post, anyio.Event]] = []

    async def follow(self, deep: Collection[str], flat: Collection[str]) -> None:
        """Watch folders from now on, *deep* ones with all below them; those that exist.

        A folder that is watched already is not watched anew, unless it was replaced. Returns
        when each of them is watched.
        """
        while True:
            new = [
                *self._begun(_outermost(filter(os.path.isdir, deep)), recursive=True),
                *self._begun(filter(os.path.isdir, flat), recursive=False),
            ]
            await self._until(partial(_are_ready, new), None)
            # A folder can go between the look at it and the watch; then there is none left.
            if self._error is not None or all(one.folders for one in new):
                return

    def _begun(self, folders: Iterable[str], *, recursive: bool) -> list[_Watcher]:
        """Begin to watch those of *folders* that are not watched: in one thread."""
        with self._lock:
            deep = {f for one in self._watchers if one.recursive for f in one.folders}
            flat = {f for one in self._watchers if not one.recursive for f in one.folders}
            missing = {
                folder
                for folder in folders
                if not is_below(folder, deep) and (recursive or folder not in flat)
            }
            if not missing or self._is_closed:
                return []
            watcher = _Watcher(missing, recursive, self)
            self._watchers.append(watcher)
        threading.Thread(target=watcher.run, args=[self._watch], name="dsh-prompt watch").start()
        return [watcher]

    async def take(self, stop: Any = None) -> set[str] | None:
        """Wait for changed paths, or for `wake`; None after *stop* was set, or `close`."""
        await self._until(lambda: bool(self._changed or self._is_woken or self._error), stop)
        if self._is_closed or (stop is not None and stop.is_set()):
            return None
        if self._changed:
            await anyio.sleep(SETTLING)
        with self._lock:
            changed, self._changed = self._changed, set()
            came, self._came = self._came, set()
            self._is_woken = False
        if self._error is not None:
            raise self._error
        # What came and went again was a step of somebody who replaces a file.
        return {path for path in changed if path not in came or _is_there(path)}

    async def _until(self, condition: Callable[[], bool], stop: Any) -> None:
        async def wait_for_stop() -> None:
            await stop.wait()
            self._wake_all()

        while True:
            with self._lock:
                if condition() or self._is_closed or (stop is not None and stop.is_set()):
                    return
                event = anyio.Event()
                self._waiting.append((post_here(), event))
            async with anyio.create_task_group() as group:
                if stop is not None:
                    group.start_soon(wait_for_stop)
                await event.wait()
                group.cancel_scope.cancel()

    def tell(self, changed: Iterable[str], came: Iterable[str], went: Iterable[str]) -> None:
        """Note that paths *changed*, some of which *came*, or *went*; from any thread."""
        with self._lock:
            self._changed.update(changed)
            self._came.update(came)
            for watcher in self._watchers:
                # What is there now has the name of what was watched, and is something else.
                watcher.folders.difference_update(came, went)
            self._watchers = [one for one in self._watchers if one.folders]
        self._wake_all()

    def fail(self, error: Exception) -> None:
        """Note that a watcher ended with *error*, from its thread."""
        self._error = error
        self._wake_all()

    def wake(self) -> None:
        """Let the reader look around, though no file has changed; from any thread."""
        self._is_woken = True
        self._wake_all()

    def close(self) -> None:
        """End all watching, from any thread."""
        with self._lock:
            self._is_closed = True
            for watcher in self._watchers:
                watcher.folders.clear()
            self._watchers.clear()
        self._wake_all()

    def _wake_all(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for post, event in waiting:
            try:
                post(event.set)
            except RuntimeError:  # its loop is closed
                continue


class _Watcher:
    """One thread's folders; it ends when there are none left, or when the program ends.

    It is the event that watchfiles asks, in each of its rounds, whether to stop. The first
    round begins when the folders are watched.
    """

    def __init__(self, folders: set[str], recursive: bool, changes: FileChanges) -> None:
        self.folders = folders
        self.recursive = recursive
        self.is_ready = False
        self._changes = changes

    def is_set(self) -> bool:
        if not self.is_ready:
            self.is_ready = True
            self._changes._wake_all()
        return not self.folders or not threading.main_thread().is_alive()

    def run(self, watch: Callable[..., Iterable[set[tuple[Any, str]]]]) -> None:
        """Tell the changes until it is stopped."""
        try:
            for changes in watch(
                *sorted(self.folders),
                watch_filter=None,
                stop_event=self,
                rust_timeout=0,
                raise_interrupt=False,
                recursive=self.recursive,
                ignore_permission_denied=True,
            ):
                came = {path for change, path in changes if change.name == "added"}
                went = {path for change, path in changes if change.name == "deleted"}
                # A folder is modified with each file that comes or goes, which is told itself.
                changed = {path for _, path in changes if not Path(path).is_dir()}
                self._changes.tell(changed | came, came, went)
        except FileNotFoundError:
            self._changes.tell((), (), set(self.folders))
        except Exception as error:  # noqa: BLE001 - raised where changes are waited for
            self._changes.fail(error)
        finally:
            self.is_ready = True
            self._changes._wake_all()


def _are_ready(watchers: Iterable[_Watcher]) -> bool:
    return all(watcher.is_ready for watcher in watchers)


def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def is_below(path: str, folders: Collection[str]) -> bool:
    """Tell whether *path* is one of *folders*, or in one of them."""
    while path not in folders:
        parent = os.path.dirname(path)  # noqa: PTH120
        if parent == path:
            return False
        path = parent
    return True


def _outermost(folders: Iterable[str]) -> set[str]:
    """Give *folders* without those that are in others of them."""
    every = set(folders)
    return {f for f in every if not is_below(os.path.dirname(f), every - {f})}  # noqa: PTH120


def _import_watch() -> Callable[..., Iterable[set[tuple[Any, str]]]]:
    try:
        from watchfiles import watch  # noqa: PLC0415 - an extra, only for who watches
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "watching needs the package watchfiles: pip install 'dsh-prompt[watch]'",
            name=error.name,
        ) from error
    return watch
