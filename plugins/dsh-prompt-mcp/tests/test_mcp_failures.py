"""Servers that die, hang and flood: named, denied and tried again, while the others go on."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from dsh_prompt_mcp import INSTRUCTIONS

from dsh_prompt.testing import assert_section, assert_tools

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio
_AT_ONCE = 'ended with code 3 at once; with stderr = "inherit" it can say why'


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_killed(
    bare: Any, loaded: Any, tool: Any, alive: Callable[[int], bool], backend: str
) -> None:
    """The tools of a killed server stay, denied, until it is back; the prefix is the same."""

    async def run() -> None:
        server = bare(tools=[tool("a")], instructions="Mind the gap.")
        well = bare("well", tools=[tool("b")])
        servers = {"bad": server.settings(), "well": well.settings()}
        async with loaded(servers, retry_after=3600.0, retry_longest=3600.0) as host:
            before = host.assemble()
            assert_tools(before, "mcp__bad__a", "mcp__well__b")
            os.kill(server.pids[0], signal.SIGKILL)
            await host.until(lambda: host.state("bad") == "down")
            during = host.assemble()
            assert_tools(during, "mcp__bad__a", "mcp__well__b", denied=["mcp__bad__a"])
            assert_section(during, INSTRUCTIONS, contains="Mind the gap.")
            assert during.fingerprint().prefix == before.fingerprint().prefix
            why = 'the MCP server "bad" is down: was ended by signal 9'
            assert during.authorize("mcp__bad__a") == why
            refused = await host.mcp.call("mcp__bad__a", {})
            assert (refused.text, refused.refused, refused.is_error) == (why, True, True)
            assert not (await host.mcp.call("mcp__well__b", {}, assembly=during)).is_error
            assert [alive(pid) for pid in server.pids] == [False]

    anyio.run(run, backend=backend)


async def test_back_again(bare: Any, loaded: Any, tool: Any) -> None:
    """A server that comes back with other tools gets these, and answers again."""
    server = bare(tools=[tool("a"), tool("old")])
    async with loaded({"fs": server.settings()}) as host:
        assert host.tools == ["mcp__fs__a", "mcp__fs__old"]
        server.plan(tools=[tool("new"), tool("a", "Upgraded.")], at={"initialize": "die"})
        os.kill(server.pids[0], signal.SIGTERM)
        await host.until(lambda: host.mcp.servers["fs"].retries >= 2)
        assert host.tools == ["mcp__fs__a", "mcp__fs__old"]
        assert host.mcp.servers["fs"].error == _AT_ONCE
        server.plan(tools=[tool("new"), tool("a", "Upgraded.")])
        await host.until(lambda: host.state("fs") == "up")
        assembly = host.assemble()
        assert_tools(assembly, "mcp__fs__a", "mcp__fs__new")
        assert assembly.tools[0].description == "Upgraded."
        assert host.mcp.servers["fs"].retries == 0
        assert not (await host.mcp.call("mcp__fs__new", {}, assembly=assembly)).is_error
        gone = await host.mcp.call("mcp__fs__old", {}, assembly=assembly)
        assert gone.text == 'tool "mcp__fs__old" is not available in this assembly'


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal stops a process here")
async def test_paused(bare: Any, loaded: Any, tool: Any, alive: Callable[[int], bool]) -> None:
    """A paused server is found out by a ping, ended, and started again."""
    server = bare(tools=[tool("a")])
    settings = {"ping_interval": 0.1, "ping_timeout": 1.0}
    async with loaded({"fs": server.settings()}, **settings) as host:
        os.kill(server.pids[0], signal.SIGSTOP)
        await host.until(lambda: host.state("fs") == "down")
        assert_tools(host.assemble(), "mcp__fs__a", denied=["mcp__fs__a"])
        assert host.mcp.servers["fs"].error == "does not answer within 1 s"
        await host.until(lambda: host.state("fs") == "up")
        assert len(server.pids) >= 2
        assert not alive(server.pids[0])


@pytest.mark.parametrize(
    ("misdeed", "told"),
    [
        ("flood", "sends more than 500 messages in a second"),
        ("gush", "sends a message of more than 1048576 bytes"),
        ("babble", "sends more than 100 lines that are no messages in a second"),
        ("die", "ended with code 3"),
    ],
)
async def test_misdeeds(
    bare: Any,
    loaded: Any,
    tool: Any,
    alive: Callable[[int], bool],
    caplog: pytest.LogCaptureFixture,
    misdeed: str,
    told: str,
) -> None:
    """A server that floods or dies in a call is ended, named, and there again afterwards."""
    server = bare(tools=[tool("do")])
    well = bare("well", tools=[tool("b")])
    servers = {"bad": server.settings(), "well": well.settings()}
    async with loaded(servers, max_message_bytes=2**20, retry_after=0.05) as host:
        prints = set()

        async def assemble_all_the_time() -> None:
            while True:
                prints.add((await host.prompt.assemble_async()).fingerprint())
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(assemble_all_the_time)
            broken = await host.mcp.call("mcp__bad__do", {"what": misdeed})
            assert broken.is_error
            await host.until(lambda: len(server.pids) >= 2 and host.state("bad") == "up")
            group.cancel_scope.cancel()
        assert prints == {host.assemble().fingerprint()}
        assert f'MCP server "bad" is down: it {told}' in caplog.messages
        assert not alive(server.pids[0])
        assert len(well.pids) == 1
        assert not (await host.mcp.call("mcp__bad__do", {"what": "change"})).is_error


async def test_hanging_call(bare: Any, loaded: Any, tool: Any) -> None:
    """A call that takes too long is given up; the server is asked whether it lives."""
    server = bare(tools=[tool("do")])
    settings = server.settings(timeout=0.2)
    async with loaded({"fs": settings}, ping_timeout=0.5) as host:
        answer = await host.mcp.call("mcp__fs__do", {"what": "hang"})
        assert answer.text == 'MCP server "fs" does not answer within 0.2 s'
        assert (answer.is_error, answer.refused) == (True, False)
        await host.until(lambda: len(server.pids) >= 2 and host.state("fs") == "up")


async def test_busy(bare: Any, loaded: Any, tool: Any) -> None:
    """A server that works on a call need not answer pings, nor list its tools, until it has."""
    server = bare(tools=[tool("do")])
    settings = server.settings(connect_timeout=60.0)
    async with loaded({"fs": settings}, ping_interval=0.05, ping_timeout=0.1) as host:
        for _ in range(2):
            assert not (await host.mcp.call("mcp__fs__do", {"what": "think"})).is_error
        assert (len(server.pids), host.state("fs")) == (1, "up")


async def test_deaf(bare: Any, loaded: Any, tool: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A server that does not read holds a caller up no longer than the timeout."""
    server = bare(tools=[tool("a")], deaf_after="tools/list")
    settings = server.settings(timeout=0.2)
    async with loaded({"fs": settings}, ping_timeout=0.2, retry_after=3600.0) as host:
        answer = await host.mcp.call("mcp__fs__a", {"what": "x" * 2**20})
        assert answer.text == 'MCP server "fs" does not answer within 0.2 s'
        await host.until(lambda: host.state("fs") == "down")
    assert "gave up" not in caplog.text


async def test_hanging_start(bare: Any, loaded: Any, tool: Any) -> None:
    """Loading waits for a server that hangs no longer than the timeout; the others are there."""
    server = bare(tools=[tool("a")], at={"initialize": "hang"})
    well = bare("well", tools=[tool("b")])
    servers = {"bad": server.settings(), "well": well.settings()}
    async with loaded(servers, startup_timeout=0.1) as host:
        assert host.state("bad") == "starting"
        await host.until(lambda: host.state("well") == "up")
        assert_tools(host.assemble(), "mcp__well__b")
        assembly = host.assemble()
        refused = await host.mcp.call("mcp__bad__a", {}, assembly=assembly)
        told = 'there is no tool "mcp__bad__a" now: the MCP server "bad" is starting'
        assert (refused.text, refused.refused) == (told, True)
        assembly.deny("mcp__well__b", "plan mode")
        assert (await host.mcp.call("mcp__well__b", assembly=assembly)).text == "plan mode"


async def test_hanging_list(bare: Any, loaded: Any, tool: Any) -> None:
    """A server that never ends its list is given up after its own timeout."""
    server = bare(tools=[tool("a")], at={"tools/list": "hang"})
    settings = server.settings(connect_timeout=1.0)
    async with loaded({"fs": settings}, retry_after=3600.0, retry_longest=3600.0) as host:
        assert host.mcp.servers["fs"].error == "does not answer within 1 s"
        assert host.tools == []


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"circle": True, "page": 2}, "lists its tools in a circle"),
        ({"page": 3}, "lists more than 5 tools"),
        ({"page": 3, "page_says": {"nextCursor": 7}}, "answers with what is not MCP: nextCursor: "),
        ({"at": {"initialize": "die"}}, _AT_ONCE),
    ],
)
async def test_broken_list(bare: Any, loaded: Any, tool: Any, plan: Any, told: str) -> None:
    """A list that has no end, or too much in it, is no list."""
    server = bare(tools=[tool(f"t{number}") for number in range(9)], **plan)
    async with loaded({"fs": server.settings()}, max_tools=5, retry_after=3600.0) as host:
        assert host.mcp.servers["fs"].error.startswith(told)
        assert host.tools == []


async def test_list_changed(bare: Any, loaded: Any, tool: Any) -> None:
    """A list that has changed is fetched whole, then swapped; no assembly sees a part of it."""
    old = [tool("do"), *[tool(f"old{number}") for number in range(20)]]
    new = [tool("do"), *[tool(f"new{number}") for number in range(20)]]
    server = bare(tools=old, page=3)
    async with loaded({"fs": server.settings()}) as host:
        seen = {tuple(host.tools)}
        server.plan(tools=new, page=3)
        async with anyio.create_task_group() as group:
            group.start_soon(host.mcp.call, "mcp__fs__do", {"what": "change"})
            with anyio.fail_after(60):
                while "mcp__fs__new0" not in host.tools:
                    seen.add(tuple(host.tools))
                    await anyio.lowlevel.checkpoint()
        seen.add(tuple(host.tools))
        assert seen == {
            tuple(sorted(f"mcp__fs__{one['name']}" for one in tools)) for tools in (old, new)
        }
        assert len(server.pids) == 1


async def test_same_objects(bare: Any, loaded: Any, tool: Any) -> None:
    """A list that says it has changed, and has not, changes nothing."""
    server = bare(tools=[tool("do"), tool("b")])
    async with loaded({"fs": server.settings()}) as host:
        before = host.mcp.tools()
        await host.mcp.call("mcp__fs__do", {"what": "change"})
        server.plan(tools=[tool("do"), tool("c")])
        await host.mcp.call("mcp__fs__do", {"what": "change"})
        await host.until(lambda: "mcp__fs__c" in host.tools)
        assert host.mcp.tools().schemas[1] is before.schemas[1]


async def test_unload(bare: Any, loaded: Any, tool: Any, alive: Callable[[int], bool]) -> None:
    """Unloading ends all processes, also those of servers that hang or are tried again."""
    servers = {
        "well": bare("well", tools=[tool("a")]),
        "hanging": bare("hanging", tools=[tool("do")]),
        "starting": bare("starting", at={"initialize": "hang"}),
        "dying": bare("dying", at={"initialize": "die"}),
    }
    settings = {name: server.settings() for name, server in servers.items()}
    async with loaded(settings, startup_timeout=1.0) as host:
        await host.until(lambda: host.state("well") == host.state("hanging") == "up")
        async with anyio.create_task_group() as group:
            group.start_soon(host.mcp.call, "mcp__hanging__do", {"what": "hang"})
            await anyio.lowlevel.checkpoint()
            await host.prompt.unload_async("mcp")
        assert [alive(pid) for one in servers.values() for pid in one.pids if alive(pid)] == []
        assert {status.state for status in host.mcp.servers.values()} == {"stopped"}
        assert host.tools == []
        assert (await host.mcp.call("mcp__well__a", {})).refused


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a shell and named pipes")
async def test_children(loaded: Any, tmp_path: Any, alive: Callable[[int], bool]) -> None:
    """What a server has started ends with it."""
    note = tmp_path / "child"
    os.mkfifo(note)
    script = f"sleep 600 & echo $! > {note}; cat > /dev/null"
    settings = {"command": "/bin/sh", "args": ["-c", script], "connect_timeout": 3600.0}
    async with loaded({"sh": settings}, startup_timeout=0.1):
        with anyio.fail_after(60):
            child = int(await anyio.to_thread.run_sync(note.read_text, abandon_on_cancel=True))
        assert alive(child)
    assert not alive(child)


async def test_calls(bare: Any, loaded: Any, tool: Any) -> None:
    """What another plugin denies is refused with its reason; what is no mapping is a mistake."""
    server = bare(tools=[tool("a")])
    async with loaded({"fs": server.settings()}) as host:
        assembly = host.assemble()
        assembly.deny("mcp__fs__a", "plan mode")
        refused = await host.mcp.call("mcp__fs__a", {}, assembly=assembly)
        assert (refused.text, refused.refused) == ("plan mode", True)
        with pytest.raises(TypeError, match="arguments must be a mapping"):
            await host.mcp.call("mcp__fs__a", ["what"])
        answer = await host.mcp.call("mcp__fs__a", {"what": "\u00e4"}, assembly=host.assemble())
        assert json.loads(answer.text)["with"] == {"what": "\u00e4"}
        assert answer.content[0]["type"] == "text"
        many = await anyio.to_thread.run_sync(host.assemble)
        assert many.fingerprint() == host.assemble().fingerprint()
