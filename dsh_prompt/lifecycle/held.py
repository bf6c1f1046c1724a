"""What a context holds in a task of its own: an async context manager, or a function that runs."""

from __future__ import annotations

import logging
from contextvars import ContextVar, copy_context
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio

from dsh_prompt.assembly.running import wait_in_thread
from dsh_prompt.event_loops import post_here, spawn
from dsh_prompt.lifecycle.disposal import enter_disposal, enter_task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from contextvars import Context

    from dsh_prompt.event_loops import Post

logger = logging.getLogger("dsh_prompt.plugins")


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
        self._post: Post = lambda _: None

    async def enter(self) -> Any:
        """Enter the manager and give what it gives; raises what it raises."""
        self._post = spawn(self._hold)
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


class HeldTask:
    """Runs the async *function* until it ends, or until `stop`, from whatever task or loop."""

    def __init__(self, function: Callable[[], Awaitable[Any]], owner: str) -> None:
        self._function = function
        self._owner = owner
        self._scope: anyio.CancelScope
        self._ended = Event()
        self._post: Post

    def start(self, ended: Callable[[], None]) -> None:
        """Start the task; *ended* is called when it is over."""
        self._post = post_here()
        self._scope = anyio.CancelScope()

        async def run() -> None:
            enter_task()
            _inside.set((*_inside.get(), self))
            try:
                with self._scope:
                    await self._function()
            except Exception:
                logger.exception("a task of %s failed", self._owner)
            except anyio.get_cancelled_exc_class():
                pass  # with its loop
            finally:
                self._ended.set()
                ended()

        spawn(run)

    async def stop(self) -> None:
        """Cancel the task, and wait for its end, unless it is the one that calls."""
        if self._ended.is_set():  # as it is where its loop has ended
            return
        self._post(self._scope.cancel)
        if self not in _inside.get():
            await wait_in_thread(self._ended)


# The tasks that the running code is part of: they cannot end while it waits for them.
_inside: ContextVar[tuple[HeldTask, ...]] = ContextVar("_inside", default=())
