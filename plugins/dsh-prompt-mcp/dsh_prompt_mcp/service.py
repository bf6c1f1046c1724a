"""What an agent's loop and its host get: the servers' tools to call, and how the servers are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
import attrs

from dsh_prompt import Key, ToolProviderResult
from dsh_prompt_mcp.instructions import instructions_text
from dsh_prompt_mcp.naming import name_prefix
from dsh_prompt_mcp.results import CallResult, failed
from dsh_prompt_mcp.supervisor import ServerStatus, Supervisor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from dsh_prompt import PromptAssembly, ToolSchema
    from dsh_prompt_mcp.config import Config
    from dsh_prompt_mcp.report import Finding

#: Seconds for all servers to end once the plugin is unloaded; then they are not asked any more.
_ENDING: Final = 5.0


@attrs.frozen
class Published:
    """What every assembly takes from: all of it, or nothing, of what has changed."""

    tools: ToolProviderResult
    routes: Mapping[str, tuple[Supervisor, str]]
    denied: tuple[tuple[str, str], ...]
    instructions: str


class Mcp:
    """The servers, and calls of their tools.

    `call`, `changed` and `started` are for the event loop that the plugin was loaded in; the rest
    may be asked from any thread.
    """

    def __init__(self, config: Config, ordered: Iterable[str] = ()) -> None:
        self._config = config
        self._change = anyio.Event()
        self._loop: object = None
        self._supervisors = [
            Supervisor(name, server, config, self._publish)
            for name, server in sorted(config.servers.items())
            if server.enabled
        ]
        prefixes = tuple(name_prefix(one.name) for one in self._supervisors)
        # Listed in `tool_order` before its server is there, a tool is no mistake.
        self._expected = [name for name in ordered if prefixes and name.startswith(prefixes)]
        self._now = self._compiled()

    @property
    def servers(self) -> Mapping[str, ServerStatus]:
        """How each enabled server is, by name."""
        return {one.name: one.status for one in self._supervisors}

    @property
    def report(self) -> tuple[Finding, ...]:
        """What is odd about what the servers sent: hidden characters, tools left out, cut texts."""
        return tuple(finding for one in self._supervisors for finding in one.offer.findings)

    def tools(self) -> ToolProviderResult:
        """Give the tools for an assembly, all that were listed last."""
        return self._now.tools

    def instructions(self) -> str:
        """Give the text of the section."""
        return self._now.instructions

    def denied(self) -> tuple[tuple[str, str], ...]:
        """Give the names of the tools that cannot be called now, each with the reason."""
        return self._now.denied

    async def changed(self) -> None:
        """Wait for the next change of `servers`, `report` or the tools."""
        await self._change.wait()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        assembly: PromptAssembly | None = None,
    ) -> CallResult:
        """Call the tool that the model knows as *name*.

        With the *assembly* that the model was given, what that denies is refused, whoever denied
        it; without, what this plugin denies. Whatever goes wrong with the server is in the result.
        Raises `TypeError` for arguments that are no mapping with strings as keys, `RuntimeError` in
        another event loop than the one that the plugin was loaded in.
        """
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
            raise TypeError(f"arguments must be a mapping with strings as keys, not {arguments!r}")
        refusal = assembly.authorize(name) if assembly is not None else None
        if name not in self._now.routes:
            refusal = self._absent(name) or refusal or f'no MCP server has a tool "{name}" now'
        if refusal:
            return failed(refusal, refused=True)
        if self._loop is not None and anyio.lowlevel.current_token() != self._loop:
            raise RuntimeError("call() belongs into the event loop that the plugin was loaded in")
        supervisor, own_name = self._now.routes[name]
        return await supervisor.call(own_name, arguments)

    def _absent(self, name: str) -> str | None:
        """Say why there is no tool *name* where its server is not up; None where that is not it."""
        for one in self._supervisors:
            if one.refusal and name.startswith(name_prefix(one.name)):
                return f'there is no tool "{name}" now: {one.refusal}'
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look after the servers; in the end their processes and connections are closed."""
        self._loop = anyio.lowlevel.current_token()
        async with anyio.create_task_group() as group:
            for supervisor in self._supervisors:
                group.start_soon(supervisor.run)
            try:
                yield
            finally:
                for supervisor in self._supervisors:
                    supervisor.stop()
                group.cancel_scope.deadline = anyio.current_time() + _ENDING

    async def started(self) -> None:
        """Wait until each server is up or has failed once, as long as the settings say."""
        with anyio.move_on_after(self._config.startup_timeout):
            while any(one.state == "starting" for one in self._supervisors):
                await self.changed()

    def _publish(self) -> None:
        self._now = self._compiled()
        change, self._change = self._change, anyio.Event()
        change.set()

    def _compiled(self) -> Published:
        routes: dict[str, tuple[Supervisor, str]] = {}
        schemas: dict[str, ToolSchema] = {}
        for one in self._supervisors:
            for schema, own_name in zip(one.offer.tools, one.offer.names, strict=True):
                routes[schema.name] = (one, own_name)
                schemas[schema.name] = schema
        names = sorted(schemas)
        return Published(
            ToolProviderResult([schemas[name] for name in names], [*names, *self._expected]),
            routes,
            tuple((name, why) for name in names if (why := routes[name][0].refusal)),
            instructions_text((one.name, one.offer.instructions) for one in self._supervisors),
        )


#: The service: `prompt.require(MCP)` gives the `Mcp` of a loaded plugin.
MCP: Final = Key[Mcp]("mcp")
