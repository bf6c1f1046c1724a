"""Keeps one server connected: tries again, later and later, for as long as the plugin is loaded."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import anyio
import anyio.to_thread
import attrs

from dsh_prompt_mcp.mending import sendable
from dsh_prompt_mcp.offer import Offer
from dsh_prompt_mcp.report import one_line
from dsh_prompt_mcp.results import CallResult, call_result, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dsh_prompt_mcp.config import Config, Server
    from dsh_prompt_mcp.connection import Connection
    from dsh_prompt_mcp.reading import OfferReader
    from dsh_prompt_mcp.report import Finding

_LOG: Final = logging.getLogger("dsh_prompt_mcp")
State: TypeAlias = Literal["starting", "up", "down", "stopped"]


@attrs.frozen
class ServerStatus:
    """How a server is, for a host to show.

    *state*: `starting` until the first connection was made or failed; `up`; `down` while it is
    tried again; `stopped` once the plugin is unloaded. *error*: why it is down. *tools*: the names
    of its tools for a model, as last listed. *retries*: how often it was tried again since it was
    last up. *findings*: what is odd about what it sent.
    """

    name: str
    state: State
    error: str
    tools: tuple[str, ...]
    retries: int
    findings: tuple[Finding, ...]


class Supervisor:
    """Looks after the server *name*; *changed* is called after each change of what is told here."""

    def __init__(
        self, name: str, server: Server, config: Config, changed: Callable[[], object]
    ) -> None:
        self.name = name
        self.offer = Offer()
        self.state: State = "starting"
        self.error = ""
        self._server = server
        self._config = config
        self._changed = changed
        self._retries = 0
        self._since = 0.0
        self._connection: Connection | None = None
        self._reader: OfferReader | None = None
        self._stopping = False
        self._scope = anyio.CancelScope()

    @property
    def status(self) -> ServerStatus:
        """How the server is now."""
        tools = tuple(schema.name for schema in self.offer.tools)
        findings = self.offer.findings
        return ServerStatus(self.name, self.state, self.error, tools, self._retries, findings)

    @property
    def refusal(self) -> str | None:
        """Why its tools cannot be called now; None where they can."""
        if self.state == "up":
            return None
        why = f": {self.error}" if self.error else ""
        return f'the MCP server "{self.name}" is {self.state}{why}'

    async def run(self) -> None:
        """Connect and connect again, until `stop`."""
        delay = self._config.retry_after
        try:
            with self._scope:
                while not self._stopping:
                    if await self._connect() >= self._config.retry_longest:
                        delay = self._config.retry_after
                    if not self._stopping:
                        await anyio.sleep(delay)
                        delay = min(2 * delay, self._config.retry_longest)
                        self._retries += 1
        finally:
            self._set("stopped")

    def stop(self) -> None:
        """End the connection in good order, or give up trying to make one."""
        self._stopping = True
        if self.state == "up" and self._connection is not None:
            self._connection.close()
        else:
            self._scope.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallResult:
        """Call *tool*, by the server's own name; nothing that the server does raises."""
        connection, timeout = self._connection, self._server.timeout
        if self.refusal is not None or connection is None:
            return failed(self.refusal or "", refused=True)
        try:
            arguments = sendable(arguments)
        except ValueError as error:
            return failed(f"the arguments cannot be sent: {one_line(str(error))}", refused=True)
        answer = None
        try:
            with anyio.move_on_after(timeout):
                answer = await connection.call(tool, arguments)
        except Exception as error:  # noqa: BLE001 - the model is told, whatever it was
            connection.doubt()
            return failed(f'MCP server "{self.name}" {connection.shown(error)}')
        if answer is None:
            connection.doubt()
            return failed(f'MCP server "{self.name}" does not answer within {timeout:g} s')
        return call_result(answer, self._config.max_result_chars)

    async def _connect(self) -> float:
        """Stay connected for as long as it goes; gives the seconds that it was up."""
        connection, reader = await anyio.to_thread.run_sync(_parts)
        # One for all connections: what is there again after a failure is the same object.
        self._reader = self._reader or reader(self.name, self._server, self._config)
        self._connection = connection(self._server, self._config, self._reader, self._offered)
        try:
            error = await self._connection.run()
        finally:
            self._connection = None
        was_up = anyio.current_time() - self._since if self.state == "up" else 0.0
        if not self._stopping:
            if error != self.error:
                _LOG.warning('MCP server "%s" is down: it %s', self.name, error)
            self._set("down", error)
        return was_up

    def _offered(self, offer: Offer) -> None:
        for finding in offer.findings:
            if finding not in self.offer.findings:
                _LOG.warning("%s", finding)
        came_up = self.state != "up"
        if came_up:
            self._since = anyio.current_time()
            self._retries = 0
            _LOG.info('MCP server "%s" is up, with %d tools', self.name, len(offer.tools))
        if came_up or not offer.is_same(self.offer):
            self.offer = offer
            self._set("up")

    def _set(self, state: State, error: str = "") -> None:
        self.state, self.error = state, error
        self._changed()


def _parts() -> tuple[type[Connection], type[OfferReader]]:
    # The SDK takes its time to import: in a thread, and only where there is a server.
    from dsh_prompt_mcp.connection import Connection  # noqa: PLC0415
    from dsh_prompt_mcp.reading import OfferReader  # noqa: PLC0415

    return Connection, OfferReader
