"""A server that is reached by streamable HTTP: the SDK's transport, over a client with bounds."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from dsh_prompt_mcp.broken import BrokenError
from dsh_prompt_mcp.mending import mended
from dsh_prompt_mcp.rate import Rate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp.client._transport import TransportStreams

    from dsh_prompt_mcp.wire import Wire

_CONNECTING: Final = 10.0
#: Seconds for the server to hear that its session is over.
_FAREWELL: Final = 2.0
_MOST_LONG_MESSAGES: Final = 8
_STREAM: Final = "text/event-stream"


@asynccontextmanager
async def http(
    url: str, headers: Mapping[str, str], wire: Wire, longest: int
) -> AsyncIterator[TransportStreams]:
    """Give the messages of the server at *url*; *longest* is the length of one in bytes."""
    bounds = _Bounds(wire, longest)
    client = httpx2.AsyncClient(
        # Packed, a short answer could be a long message.
        headers={"accept-encoding": "identity", **headers},
        # A stream may be silent for long; whether the server lives is asked for by pings.
        timeout=httpx2.Timeout(_CONNECTING, read=None),
        event_hooks={"request": [bounds.sending], "response": [bounds.received]},
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=longest) as streams,
    ):
        yield streams


class _Bounds:
    """Keeps each answer within *longest* bytes, and a stream of them within some in a second."""

    def __init__(self, wire: Wire, longest: int) -> None:
        self._wire = wire
        self._longest = longest
        self._rate = Rate(_MOST_LONG_MESSAGES * longest, "bytes")

    async def sending(self, request: httpx2.Request) -> None:
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_FAREWELL).as_dict()

    async def received(self, response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            self._refuse("sends an answer in a packed form that it was not asked for")
        is_stream = response.headers.get("content-type", "").lower().startswith(_STREAM)
        response.stream = _Counted(response.stream, self, left=None if is_stream else self._longest)

    def count(self, size: int, left: int | None) -> int | None:
        """Count a chunk; give how much of an answer may follow it, None for a stream."""
        try:
            self._rate.count(size)
        except BrokenError as error:
            self._refuse(str(error))
        if left is not None and size > left:
            self._refuse(f"sends an answer of more than {self._longest} bytes")
        return None if left is None else left - size

    def check(self, size: int) -> None:
        """Refuse a line that has come to be too long."""
        if size > self._longest:
            self._refuse(f"sends a message of more than {self._longest} bytes")

    def _refuse(self, why: str) -> None:
        self._wire.close(why)
        raise BrokenError(why)


class _Counted(httpx2.AsyncByteStream):
    """The bytes of an answer, counted as they come, and mended line by line."""

    def __init__(self, inner: Any, bounds: _Bounds, left: int | None) -> None:
        self._inner = inner
        self._bounds = bounds
        self._left = left

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held: list[bytes] = []
        size = 0
        async for chunk in self._inner:
            self._left = self._bounds.count(len(chunk), self._left)
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                yield mended(b"".join((*held, chunk[:end])))
                held, size = [], 0
            held.append(chunk[end:])
            size += len(held[-1])
            self._bounds.check(size)
        yield mended(b"".join(held))

    async def aclose(self) -> None:
        await self._inner.aclose()
