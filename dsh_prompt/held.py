"""An async context manager that is entered and left in one task of its own."""

from __future__ import annotations

import asyncio
import sys
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager


class HeldContext:
    """Holds *manager* open until `leave`, which may be called from another task or loop."""

    def __init__(self, manager: AbstractAsyncContextManager[Any]) -> None:
        self._manager = manager
        self._entered = anyio.Event()
        self._stop = anyio.Event()
        self._left = Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self._post: Callable[[Callable[[], object]], object] = lambda _: None

    async def enter(self) -> Any:
        """Enter the manager and give what it gives; raises what it raises."""
        self._post = _spawn(self._hold)
        await self._entered.wait()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._value

    async def leave(self) -> None:
        """Leave the manager; raises what it raises."""
        if not self._left.is_set():  # as it is where the loop of its task has ended
            self._post(self._stop.set)
            await anyio.to_thread.run_sync(self._left.wait, abandon_on_cancel=True)
        if isinstance(self._error, Exception):
            error, self._error = self._error, None
            raise error

    async def _hold(self) -> None:
        try:
            async with self._manager as self._value:
                self._entered.set()
                await self._stop.wait()
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._entered.set()
            self._left.set()


# asyncio keeps weak references to tasks only.
_tasks: set[asyncio.Task[None]] = set()


def _spawn(
    function: Callable[[], Coroutine[Any, Any, None]],
) -> Callable[[Callable[[], object]], object]:
    """Run *function* in a task of the running loop; give a way to call into that loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        lowlevel = sys.modules["trio"].lowlevel
        lowlevel.spawn_system_task(function)
        post: Callable[[Callable[[], object]], object] = lowlevel.current_trio_token().run_sync_soon
        return post
    task = loop.create_task(function())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return loop.call_soon_threadsafe
