"""Change events for ``async for``: bounded, from any thread into any event loop."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from weakref import ref

import anyio

from dsh_prompt.event_loops import post_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from dsh_prompt.event_loops import Post
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.lifecycle.registration import Registration


class ChangeStream:
    """The change events of *host* since the stream was made, in the order in which they come.

    At most *limit* events wait; where the reader is slower than that, the oldest are
    dropped, and ``dropped`` counts them: who follows the state reads it anew then. The
    stream ends with the host, or when it is closed; one that nobody holds any more is
    forgotten.
    """

    def __init__(self, host: DisposableContext, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        #: How many events were dropped, since the reader was slow.
        self.dropped = 0
        self._limit = limit
        self._lock = Lock()
        self._events: deque[ChangeEvent] = deque()
        self._waiting: list[tuple[Post, anyio.Event]] = []
        self._is_closed = False
        ends: list[Registration] = []
        self._registration = host.on_change(_listener(ref(self), host, ends))
        ends.append(self._registration)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChangeEvent:
        while True:
            with self._lock:
                if self._events:
                    return self._events.popleft()
                if self._is_closed:
                    raise StopAsyncIteration
                waiting = (post_here(), anyio.Event())
                self._waiting.append(waiting)
            try:
                await waiting[1].wait()
            finally:
                with self._lock, suppress(ValueError):  # it was woken, and is not there any more
                    self._waiting.remove(waiting)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the stream; events that wait can still be read."""
        self.close()

    def close(self) -> None:
        """End the stream, from any thread."""
        self._registration.dispose()
        with self._lock:
            self._is_closed = True
            self._wake()

    def put(self, event: ChangeEvent, *, is_last: bool) -> None:
        """Add *event*, from any thread."""
        with self._lock:
            self._events.append(event)
            if len(self._events) > self._limit:
                self._events.popleft()
                self.dropped += 1
            self._is_closed |= is_last
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for post, wake in waiting:
            with suppress(RuntimeError):  # its loop is closed
                post(wake.set)


def _listener(
    stream: ref[ChangeStream], host: DisposableContext, ends: list[Registration]
) -> Callable[[ChangeEvent], None]:
    def tell(event: ChangeEvent) -> None:
        reader = stream()
        if reader is not None:
            reader.put(event, is_last=host.is_gone)
        elif ends:
            ends.pop().dispose()  # nobody reads it any more

    return tell
