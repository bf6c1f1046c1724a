"""An event loop of one's own, whatever loop may be running here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


def run_in_own_loop(main: Callable[[], Awaitable[T]]) -> T:
    """Run *main* in an event loop in a thread of its own, and give what it gives.

    A loop that runs in this thread, asyncio's or trio's, is not in the way.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="dsh_prompt.testing") as thread:
        return thread.submit(anyio.run, main).result()
