"""One connection's messages, watched on their way between the transport and the SDK's client."""

from __future__ import annotations

import math
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import types
from mcp.types import methods
from pydantic import ValidationError

from dsh_prompt_mcp.broken import BrokenError
from dsh_prompt_mcp.rate import Rate
from dsh_prompt_mcp.reasons import complaint
from dsh_prompt_mcp.report import named_tool

if TYPE_CHECKING:
    from contextvars import Context
    from types import TracebackType
    from typing import Self

    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage

#: Far more than a server has to say, far fewer than an event loop can take.
_MOST_MESSAGES: Final = 500
#: Seconds for a server to take that a call is given up.
_COURTESY: Final = 0.2


class Wire(AbstractAsyncContextManager["TransportStreams"]):
    """A transport for the SDK's client around another one, *inner*.

    It tells when the connection is over and *why*, ends it where the server floods, and takes
    broken tools out of lists, which the SDK would refuse whole. *version* is the protocol's, once
    it is agreed upon; a list may have up to *most_tools*.
    *stray* counts lines that were no messages, *heard* messages.
    """

    def __init__(self, most_tools: int) -> None:
        self.closed = anyio.Event()
        self.why = ""
        self.version = ""
        self.stray = 0
        self.heard = 0
        self._broken: list[tuple[str, str]] = []
        self._listings: set[int | str] = set()
        self._most_tools = most_tools
        self._rate = Rate(_MOST_MESSAGES, "messages")
        self.inner: AbstractAsyncContextManager[TransportStreams]

    async def __aenter__(self) -> TransportStreams:
        read, write = await self.inner.__aenter__()
        return _Incoming(read, self), _Outgoing(write, self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self.inner.__aexit__(kind, error, traceback)

    def close(self, why: str) -> None:
        """Say that the connection is over; the first reason counts."""
        if not self.closed.is_set():
            self.why = why
            self.closed.set()

    @property
    def in_good_order(self) -> bool:
        """Whether the connection was closed without a reason: nothing is wrong with the server."""
        return self.closed.is_set() and not self.why

    def taken_out(self) -> list[tuple[str, str]]:
        """Give the tools that were broken in the last answers, and what was wrong with each."""
        broken, self._broken = self._broken, []
        return broken

    def _sent(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method == "tools/list":
            self._listings.add(_as_matched(message.id))

    def _received(self, item: object) -> None:
        self._rate.count()
        self.heard += 1
        message = getattr(item, "message", None)
        if isinstance(message, types.JSONRPCResponse):
            identity = _as_matched(message.id)
            if identity in self._listings:
                self._listings.discard(identity)
                self._take_out_broken(message.result)

    def _take_out_broken(self, result: dict[str, Any]) -> None:
        tools = result.get("tools")
        if not isinstance(tools, list):
            return  # the SDK says what is wrong
        if len(tools) > self._most_tools:
            raise BrokenError(f"lists more than {self._most_tools} tools")
        for tool in tools:
            if isinstance(tool, dict):
                # The SDK would check results by it, in the event loop: one pattern could hold
                # that up for years. A loop gets the text, and needs no such promise.
                tool.pop("outputSchema", None)
        envelope = {key: value for key, value in result.items() if key != "nextCursor"}
        result["tools"] = [tool for tool in tools if self._is_whole(tool, envelope)]

    def _is_whole(self, tool: Any, envelope: dict[str, Any]) -> bool:
        try:
            methods.validate_server_result(
                "tools/list", self.version, {**envelope, "tools": [tool]}
            )
            types.Tool.model_validate(tool, by_name=False)
        except ValidationError as error:
            name = tool.get("name") if isinstance(tool, dict) else None
            self._broken.append((named_tool(name), f"left out: {complaint(error)}"))
            return False
        return True


def _as_matched(identity: int | str) -> int | str:
    """Give the id of a message as the SDK matches it: " 7" is 7."""
    try:
        return int(identity)
    except ValueError:
        return identity


class _Incoming:
    """What the server sends."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    @property
    def last_context(self) -> Context | None:
        """That of whoever sent the last message, as the SDK's own streams have it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        if self._wire.closed.is_set():
            raise StopAsyncIteration
        try:
            item = await self._inner.__anext__()
            self._wire._received(item)
        except StopAsyncIteration:
            self._wire.close("has ended the connection")
            raise
        except BrokenError as error:
            self._wire.close(str(error))
            raise StopAsyncIteration from None
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Outgoing:
    """What the server gets."""

    def __init__(self, inner: WriteStream[SessionMessage], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    async def send(self, item: SessionMessage, /) -> None:
        self._wire._sent(item.message)
        method = getattr(item.message, "method", None)
        # Whoever has given a call up is not kept waiting by a server that does not read.
        patience = _COURTESY if method == "notifications/cancelled" else math.inf
        with anyio.move_on_after(patience):
            await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
