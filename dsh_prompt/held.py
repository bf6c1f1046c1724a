"""An async context manager that is entered and left in one task of its own."""

from __future__ import annotations

import asyncio
import sys
from contextvars import copy_context
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio

from dsh_prompt.lifecycle import enter_disposal
from dsh_prompt.running import wait_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager
    from contextvars import Context


class HeldContext:
    """Holds *manager* open until `leave`, which may be called from another task or loop."""

    def __init__(self, manager: AbstractAsyncContextManager[Any]) -> None:
        self._manager = manager
        self._entered = anyio.Event()
        self._stop = anyio.Event()
        self._left = Event()
        self._value: Any = None
        self._error: BaseException | None = None
        # That of whoever disposes: the manager is left as part of that disposal.
        self._context: Context | None = None
        self._post: Callable[[Callable[[], object]], object] = lambda _: None

    async def enter(self) -> Any:
        """Enter the manager and give what it gives; raises what it raises."""
        self._post = _spawn(self._hold)
        try:
            await self._entered.wait()
        except BaseException:
            self._stop.set()  # nobody will know of it: it is left as soon as it is entered
            raise
        self._raise()
        return self._value

    async def leave(self) -> None:
        """Leave the manager; raises what it raises."""
        self._context = copy_context()
        if not self._left.is_set():  # as it is where the loop of its task has ended
            self._post(self._stop.set)
            await wait_in_thread(self._left)
        self._raise()

    async def _hold(self) -> None:
        try:
            async with self._manager as self._value:
                self._entered.set()
                await self._stop.wait()
                enter_disposal(self._context)
        except BaseException as error:  # noqa: BLE001 - raised to whoever enters or leaves
            self._error = error
        finally:
            self._entered.set()
            self._left.set()

    def _raise(self) -> None:
        error, self._error = self._error, None
        # Cancelled with its loop: it was left all the same.
        if error is not None and not isinstance(error, anyio.get_cancelled_exc_class()):
            raise error


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
