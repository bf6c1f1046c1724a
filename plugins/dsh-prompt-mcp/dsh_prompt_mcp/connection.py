"""One connection to a server: opened, listened to, and told when it is over."""

from __future__ import annotations

import math
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp import Client, MCPError, types
from mcp.client.stdio import get_default_environment
from mcp.client.subscriptions import SubscriptionLost

from dsh_prompt_mcp.broken import BrokenError
from dsh_prompt_mcp.http import http
from dsh_prompt_mcp.reasons import reason
from dsh_prompt_mcp.stdio import Launch, stdio
from dsh_prompt_mcp.variables import headers, passed, secrets, variables
from dsh_prompt_mcp.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.client._transport import TransportStreams

    from dsh_prompt_mcp.config import Config, Server
    from dsh_prompt_mcp.offer import Offer
    from dsh_prompt_mcp.reading import OfferReader

#: Seconds between two lists, for a server that says all the time that it has changed.
_PAUSE: Final = 0.2
_CLIENT: Final = types.Implementation(name="dsh-prompt-mcp", version="0.1.0")


class Connection:
    """A connection to *server*; *offered* gets what *reader* makes of each of its lists."""

    def __init__(
        self,
        server: Server,
        config: Config,
        reader: OfferReader,
        offered: Callable[[Offer], object],
    ) -> None:
        self._server = server
        self._config = config
        self._offered = offered
        self._reader = reader
        self._wire = Wire(config.max_tools)
        self._secrets: tuple[str, ...] = ()
        self._changed = anyio.Event()
        self._doubted = anyio.Event()
        #: The calls that are not answered yet, each set once it is over.
        self._calls: set[anyio.Event] = set()
        self._client: Client

    async def run(self) -> str:
        """Connect, and stay connected until the server breaks; gives the reason.

        The reason is empty where `close` was called.
        """
        try:
            self._wire.inner = self._transport()
            await self._live()
        except Exception as error:  # noqa: BLE001 - whatever a server does ends its connection alone
            # A transport may fail because of what the wire found.
            return self._wire.why or reason(error, self._secrets)
        return self._wire.why

    def close(self) -> None:
        """End the connection in good order."""
        self._wire.close("")

    def doubt(self) -> None:
        """Ask the server at once whether it lives."""
        self._doubted.set()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Call *tool*, by the server's own name; raises what the SDK raises."""
        over = anyio.Event()
        self._calls.add(over)
        try:
            return await self._client.call_tool(tool, dict(arguments))
        finally:
            self._calls.discard(over)
            over.set()

    def shown(self, error: Exception) -> str:
        """Say what *error*, which a call ended with, means."""
        return reason(error, self._secrets)

    def _transport(self) -> AbstractAsyncContextManager[TransportStreams]:
        server, longest = self._server, self._config.max_message_bytes
        if server.url is not None:
            self._secrets = secrets(server.headers)
            return http(server.url, headers(server.headers), self._wire, longest)
        env = passed(server.pass_env) | variables(server.env)
        self._secrets = (*secrets(server.env), *passed(server.pass_env).values())
        launch = Launch(
            server.command or "",
            server.args,
            get_default_environment() | env,
            None if server.cwd is None else os.path.expanduser(server.cwd),  # noqa: PTH111
            server.stderr == "discard",
        )
        return stdio(launch, self._wire, longest)

    async def _live(self) -> None:
        timeout = self._server.connect_timeout
        with anyio.move_on_after(timeout) as connecting:
            async with self._new_client() as client:
                self._client = client
                try:
                    self._wire.version = client.protocol_version
                    await self._list()
                    connecting.deadline = math.inf
                    await self._follow()
                except Exception as error:
                    # Before the client is left: a program that broke is not waited for.
                    self._wire.close(reason(error, self._secrets))
                    raise
        if connecting.cancelled_caught:
            stray = (
                f"; it sends lines that are no messages: {lines}"
                if (lines := self._wire.stray)
                else ""
            )
            raise BrokenError(f"does not answer within {timeout:g} s{stray}")

    def _new_client(self) -> Client:
        return Client(
            self._wire,
            mode="auto" if self._server.handshake == "auto" else "legacy",
            message_handler=self._heard,
            client_info=_CLIENT,
            cache=None,
        )

    async def _heard(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _follow(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._ping_all_the_time)
            group.start_soon(self._list_again)
            if self._client.session.discover_result is not None:
                group.start_soon(self._subscribe)
            await self._wire.closed.wait()
            group.cancel_scope.cancel()

    # What it offers

    async def _list(self) -> None:
        tools = await self._all_tools() if self._client.server_capabilities.tools else []
        read = partial(
            self._reader.read,
            tools,
            self._client.instructions,
            self._wire.taken_out(),
            anyio.from_thread.check_cancelled,
        )
        # Hundreds of schemas take their time.
        self._offered(await anyio.to_thread.run_sync(read))

    async def _all_tools(self) -> list[types.Tool]:
        most, longest = self._config.max_tools, self._config.max_message_bytes
        tools: list[types.Tool] = []
        size = 0
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen:
            seen.add(cursor)
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            if len(tools) > most or len(seen) > most:
                raise BrokenError(f"lists more than {most} tools")
            size += len(page.model_dump_json())
            if size > longest:
                raise BrokenError(f"lists tools of more than {longest} bytes")
            if not page.next_cursor:
                return tools
            cursor = page.next_cursor
        raise BrokenError("lists its tools in a circle")

    async def _list_again(self) -> None:
        timeout = self._server.connect_timeout
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            with anyio.move_on_after(timeout) as listing:
                await self._list()
            if listing.cancelled_caught:
                if await self._calls_are_over():
                    self._changed.set()
                    continue
                raise BrokenError(f"does not list its tools within {timeout:g} s")
            await anyio.sleep(_PAUSE)

    async def _subscribe(self) -> None:
        """Hear of changes as the newer protocol has it: by a request that stays open."""
        subscribed = False
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                subscribed = True
                # What changed before the subscription was there would not be told.
                self._changed.set()
                async for _ in events:
                    self._changed.set()
        except (MCPError, SubscriptionLost):
            if not subscribed:
                return  # it has no subscriptions, and that is its right
        raise BrokenError("has ended its subscription")

    # Whether it lives

    async def _ping_all_the_time(self) -> None:
        while True:
            with anyio.move_on_after(self._config.ping_interval):
                await self._doubted.wait()
            self._doubted = anyio.Event()
            if not await self._is_alive():
                raise BrokenError(f"does not answer within {self._config.ping_timeout:g} s")

    async def _is_alive(self) -> bool:
        """Ask it; one that works on calls may be too busy to answer until they are over."""
        while True:
            heard, busy = self._wire.heard, bool(self._calls)
            if await self._answers():
                return True
            if not await self._calls_are_over() and not busy:
                return False
            if self._wire.heard == heard:
                # Calls that were made meanwhile are no excuse: it has had its time, and was silent.
                return await self._answers()

    async def _calls_are_over(self) -> bool:
        """Wait for the calls of now, each as long as it may take; false where there are none."""
        calls = list(self._calls)
        for over in calls:
            await over.wait()
        return bool(calls)

    async def _answers(self) -> bool:
        with anyio.move_on_after(self._config.ping_timeout) as waiting:
            await self._ping()
        return not waiting.cancelled_caught

    async def _ping(self) -> None:
        session = self._client.session
        try:
            if session.discover_result is not None:
                await session.send_discover(self._client.protocol_version)
            else:
                await session.send_ping()
        except MCPError as error:
            if error.code != types.METHOD_NOT_FOUND:
                raise
