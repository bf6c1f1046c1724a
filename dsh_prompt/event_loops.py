"""The running event loop, asyncio's or trio's: tasks of one's own, and ways in from elsewhere."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_prompt.errors import AsyncProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

#: Calls a function in an event loop, soon, from any thread.
Post: TypeAlias = "Callable[[Callable[[], object]], object]"

# asyncio keeps weak references to tasks only.
_tasks: set[asyncio.Task[None]] = set()


def spawn(function: Callable[[], Coroutine[Any, Any, None]]) -> Post:
    """Run *function* in a task of the running loop; gives a way to call into that loop.

    Raises `AsyncProviderError` where no loop runs.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        trio = _trio()
        trio.spawn_system_task(function)
        return _post_into_trio(trio)
    task = loop.create_task(function())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return loop.call_soon_threadsafe


def post_here() -> Post:
    """Give a way to call into the running loop; raises `AsyncProviderError` without one."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        return _post_into_trio(_trio())


def _trio() -> Any:
    lowlevel = getattr(sys.modules.get("trio"), "lowlevel", None)
    if lowlevel is None or not lowlevel.in_trio_run():
        raise AsyncProviderError("no event loop is running here") from None
    return lowlevel


def _post_into_trio(lowlevel: Any) -> Post:
    post: Post = lowlevel.current_trio_token().run_sync_soon
    return post
