"""Real servers in processes of their own, hosts with the plugin, and waiting without sleeping."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import pytest
from dsh_prompt_mcp import MCP, McpPlugin

from dsh_prompt import SystemPrompt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dsh_prompt_mcp import Mcp

    from dsh_prompt import PromptAssembly

SERVERS = Path(__file__).parent / "servers"
#: Far longer than anything takes, on whatever machine.
PATIENCE = 60.0


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, unless a test says otherwise."""
    return "asyncio"


@attrs.define
class Bare:
    """A plan for the plain server, and the settings of a server that follows it."""

    file: Path

    def plan(self, **said: Any) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(said))
        new.replace(self.file)

    def settings(self, **more: Any) -> dict[str, Any]:
        args = ["-S", "-E", str(SERVERS / "bare.py"), str(self.file)]
        return {"command": sys.executable, "args": args, **more}

    @property
    def pids(self) -> list[int]:
        file = self.file.with_suffix(".pids")
        return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.fixture
def bare(tmp_path: Path) -> Callable[..., Bare]:
    """Give a function that makes a plain server of a name and a plan."""

    def make(name: str = "bare", **said: Any) -> Bare:
        server = Bare(tmp_path / f"{name}.json")
        server.plan(**said)
        return server

    return make


@attrs.define
class Loaded:
    """A host with the plugin in it."""

    prompt: SystemPrompt
    mcp: Mcp

    def assemble(self) -> PromptAssembly:
        return self.prompt.assemble()

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.assemble().tools]

    def state(self, name: str) -> str:
        return self.mcp.servers[name].state

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while not condition():
                await self.mcp.changed()


@asynccontextmanager
async def _loaded(servers: dict[str, Any], **settings: Any) -> AsyncIterator[Loaded]:
    prompt = SystemPrompt()
    config = {
        "servers": servers,
        "startup_timeout": PATIENCE,
        "retry_after": 0.01,
        "retry_longest": 0.1,
        **settings,
    }
    await prompt.load_async(McpPlugin, name="mcp", config=config)
    try:
        yield Loaded(prompt, prompt.require(MCP))
    finally:
        await prompt.dispose_async()


@pytest.fixture
def loaded() -> Any:
    """Give a function that loads the plugin with servers and settings: an async context manager."""
    return _loaded


def tool(name: str, description: str = "Does it.", **more: Any) -> dict[str, Any]:
    """Give a tool as a server lists it."""
    schema = {"type": "object", "properties": {"what": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


@pytest.fixture(name="tool")
def tool_fixture() -> Callable[..., dict[str, Any]]:
    """Give the function that makes tools."""
    return tool


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended, and that nobody has asked about, is still there by name.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or ") Z " not in status.read_text()


@pytest.fixture
def alive() -> Callable[[int], bool]:
    """Give a function that tells whether a process is there."""
    return _alive
