"""The plugin in a host: loaded, unloaded, loaded anew, in a scope, beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from dsh_prompt_mcp import MCP, McpPlugin

from dsh_prompt import AsyncProviderError, SystemPrompt
from dsh_prompt.testing import assert_deterministic, assert_tools, assert_unloads_clean

if TYPE_CHECKING:
    from collections.abc import Callable


def _config(server: Any, **settings: Any) -> dict[str, Any]:
    return {"servers": {"fs": server.settings()}, "startup_timeout": 60.0, **settings}


def test_unloads_clean(bare: Any, tool: Any, alive: Callable[[int], bool]) -> None:
    """Nothing of it stays in the process, and no process of its own stays either."""
    server = bare(tools=[tool("a")], instructions="Be kind.")
    assert_unloads_clean("mcp", config=_config(server))
    assert server.pids
    assert not any(alive(pid) for pid in server.pids)


def test_deterministic(bare: Any, tool: Any) -> None:
    """The same in every process, from a server that lists in another order each time."""
    server = bare(tools=[tool(f"t\u00e4{number}") for number in range(9)], shuffle=True)
    assert_deterministic("mcp", config=_config(server))


def test_without_servers() -> None:
    """Installed and not set up, it adds nothing."""
    prompt = SystemPrompt()
    before = prompt.assemble().fingerprint()
    assert not prompt.load_entry_points(only=["mcp"]).failed
    assembly = prompt.assemble()
    assert_tools(assembly)
    assert assembly.fingerprint() == before
    mcp = prompt.require(MCP)

    async def run() -> None:
        refused = await mcp.call("mcp__a__b", {})
        assert refused.text == 'no MCP server has a tool "mcp__a__b" now'

    anyio.run(run)
    prompt.unload("mcp")
    assert prompt.get(MCP) is None


def test_synchronous_load(bare: Any) -> None:
    """With a server it needs an event loop, says so, and leaves nothing behind."""
    server = bare()
    prompt = SystemPrompt()
    before = prompt.assemble().fingerprint()
    with pytest.raises(AsyncProviderError, match="load_async"):
        prompt.load(McpPlugin, name="mcp", config=_config(server))
    assert (prompt.plugins, prompt.get(MCP), server.pids) == ([], None, [])
    assert prompt.assemble().fingerprint() == before


@pytest.mark.anyio
async def test_scope(bare: Any, tool: Any) -> None:
    """Loaded into a scope, its tools and its calls are that scope's."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    await prompt.load_async("mcp", scope=scope, config=_config(bare(tools=[tool("a")])))
    assert_tools(prompt.assemble())
    assert prompt.get(MCP) is None
    assembly = prompt.assemble(scope=scope)
    assert_tools(assembly, "mcp__fs__a")
    assert not (await scope.require(MCP).call("mcp__fs__a", {}, assembly=assembly)).is_error
    await prompt.dispose_async()


@pytest.mark.anyio
async def test_reload(bare: Any, tool: Any, alive: Callable[[int], bool]) -> None:
    """Loaded anew, it gives the same prefix; the old processes are gone."""
    server = bare(tools=[tool("a")], instructions="Be kind.")
    prompt = SystemPrompt()
    await prompt.load_async("mcp", config=_config(server))
    before = prompt.assemble().fingerprint()
    await prompt.reload_async("mcp")
    assert prompt.assemble().fingerprint() == before
    assert [alive(pid) for pid in server.pids] == [False, True]
    await prompt.dispose_async()


@pytest.mark.anyio
async def test_other_loop(bare: Any, loaded: Any, tool: Any) -> None:
    """A call from another event loop is a mistake that is told."""

    async def call() -> None:
        await host.mcp.call("mcp__fs__a", {})

    async with loaded({"fs": bare(tools=[tool("a")]).settings()}) as host:
        with pytest.raises(RuntimeError, match="event loop"):
            await anyio.to_thread.run_sync(anyio.run, call)


def test_abandoned(bare: Any, tool: Any, alive: Callable[[int], bool]) -> None:
    """A loop that ends without a goodbye takes the processes with it, hanging ones too."""
    server = bare(tools=[tool("do")])

    async def run() -> None:
        prompt = SystemPrompt()
        await prompt.load_async(McpPlugin, name="mcp", config=_config(server))
        with anyio.move_on_after(0.2):
            await prompt.require(MCP).call("mcp__fs__do", {"what": "hang"})

    anyio.run(run)
    assert [alive(pid) for pid in server.pids] == [False]
