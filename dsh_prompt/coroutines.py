"""Coroutines without an event loop, awaitables that nobody wants, and foreign cancellations."""

from __future__ import annotations

import inspect
import math
import sys
from typing import TYPE_CHECKING, Any

from dsh_prompt.errors import AsyncProviderError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine


def drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to its end a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    # Whatever is async is refused before it is awaited; this is for what we did not think of.
    coroutine.close()
    raise AsyncProviderError("something async was awaited by a synchronous call")


def discard(awaitable: Any) -> None:
    """Close a coroutine that nobody will await, so that nothing warns about it."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


class ForeignCancellationError(Exception):
    """Raised where contributed code was cancelled, and its assembly was not."""

    def __init__(self) -> None:
        super().__init__("was cancelled by something else")


async def outcome(work: Awaitable[Any]) -> Any:
    """Await *work*; a cancellation that is not ours becomes an error of the work."""
    import anyio  # noqa: PLC0415 - only where something is async

    try:
        return await work
    except anyio.get_cancelled_exc_class() as error:
        if anyio.current_effective_deadline() == -math.inf or _task_is_cancelled():
            raise
        raise ForeignCancellationError from error


def _task_is_cancelled() -> bool:
    """Tell whether somebody cancelled the running task itself, as asyncio does it."""
    asyncio = sys.modules.get("asyncio")
    try:
        task = None if asyncio is None else asyncio.current_task()
    except RuntimeError:  # no asyncio loop runs here
        return False
    return task is not None and task.cancelling() > 0
