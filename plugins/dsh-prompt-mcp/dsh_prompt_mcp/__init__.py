"""A dsh_prompt plugin that gives a model the tools of MCP servers, and keeps their connections.

The class `McpPlugin` is the plugin: `await SystemPrompt().load_async(McpPlugin, name="mcp")`, or
installed, by its entry point `mcp`. An agent's loop calls the tools through the service `MCP`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptSection, hookimpl
from dsh_prompt_mcp.config import Config, Server
from dsh_prompt_mcp.naming import tool_name
from dsh_prompt_mcp.report import Finding
from dsh_prompt_mcp.results import CallResult
from dsh_prompt_mcp.service import MCP, Mcp
from dsh_prompt_mcp.supervisor import ServerStatus

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from dsh_prompt import DisposableContext, PromptAssembly

__all__ = [
    "INSTRUCTIONS",
    "MCP",
    "CallResult",
    "Config",
    "Finding",
    "Mcp",
    "McpPlugin",
    "Server",
    "ServerStatus",
    "tool_name",
]

#: Name of the section with the servers' instructions.
INSTRUCTIONS = "mcp:instructions"


class McpPlugin:
    """The plugin; a class, since each load has servers of its own."""

    Config = Config

    def __init__(self) -> None:
        self._mcp: Mcp | None = None

    @hookimpl
    def activate(self, ctx: DisposableContext) -> Coroutine[Any, Any, None] | None:
        """Connect to the servers, and wait for them as long as the settings say.

        That takes an event loop, so it is async; without a server there is nothing to wait for.
        """
        if any(server.enabled for server in ctx.config.servers.values()):
            return self._connect(ctx)
        self._offer(ctx)
        return None

    async def _connect(self, ctx: DisposableContext) -> None:
        mcp = self._offer(ctx)
        await ctx.enter_async_context(mcp.running())
        await mcp.started()

    def _offer(self, ctx: DisposableContext) -> Mcp:
        mcp = self._mcp = Mcp(ctx.config, ctx.host.config.tool_order or ())
        ctx.tools(mcp.tools)
        ctx.section(
            PromptSection(
                name=INSTRUCTIONS,
                order=ctx.config.order,
                text=mcp.instructions,
                literal=True,
                # The text changes with a server alone, and outlives its failures.
                cacheable=True,
            )
        )
        ctx.provide(MCP, mcp)
        return mcp

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        """Deny the tools of servers that are down; they stay listed, so that the prefix holds."""
        for name, why in self._mcp.denied() if self._mcp is not None else ():
            # Who denied it before had a reason of its own.
            if name not in assembly.denied:
                assembly.deny(name, why)
