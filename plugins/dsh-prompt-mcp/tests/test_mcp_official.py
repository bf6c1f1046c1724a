"""The SDK's own server and the official one of npm, over both transports."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from dsh_prompt.testing import assert_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.anyio
_OFFICIAL = str(Path(__file__).parent / "servers" / "official.py")
_TOOLS = ("mcp__sdk__add", "mcp__sdk__grow", "mcp__sdk__pid")


@contextmanager
def _process(*command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | env
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


@contextmanager
def _serving(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run the SDK's server over HTTP, and give it and its port; it listens by then."""
    with _process(sys.executable, _OFFICIAL, str(port)) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())


async def _grows(host: Any) -> None:
    before = host.assemble()
    assert_tools(before, *_TOOLS)
    assert (await host.mcp.call("mcp__sdk__add", {"a": 2, "b": 3}, assembly=before)).text == "5"
    wrong = await host.mcp.call("mcp__sdk__add", {"a": "x"}, assembly=before)
    assert wrong.is_error
    assert not wrong.refused
    await host.mcp.call("mcp__sdk__grow", {}, assembly=before)
    await host.until(lambda: "mcp__sdk__grown" in host.tools)
    assert (await host.mcp.call("mcp__sdk__grown", {}, assembly=host.assemble())).text == "new"


async def test_stdio(loaded: Any, alive: Callable[[int], bool]) -> None:
    """The SDK's server as a process: listed, called, changed, ended."""
    async with loaded({"sdk": {"command": sys.executable, "args": [_OFFICIAL]}}) as host:
        assert "Add with care." in host.assemble().sections[-1].text
        await _grows(host)
        pid = int((await host.mcp.call("mcp__sdk__pid")).text)
        assert alive(pid)
    assert not alive(pid)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal stops a process here")
async def test_http(loaded: Any) -> None:
    """The SDK's server over HTTP: listed, called, changed, paused, killed, and there again."""
    with _serving() as (process, port):
        settings = {"sdk": {"url": f"http://127.0.0.1:{port}/mcp", "connect_timeout": 5.0}}
        async with loaded(settings, ping_interval=0.1, ping_timeout=3.0) as host:
            await _grows(host)
            before = host.assemble()
            for wrong in (signal.SIGSTOP, signal.SIGKILL):
                process.send_signal(wrong)
                await host.until(lambda: host.state("sdk") == "down")
                during = host.assemble()
                assert set(during.denied) == {*_TOOLS, "mcp__sdk__grown"}
                assert during.fingerprint().prefix == before.fingerprint().prefix
                if wrong == signal.SIGSTOP:
                    process.send_signal(signal.SIGCONT)
                    await host.until(lambda: host.state("sdk") == "up")
                    assert host.assemble().fingerprint() == before.fingerprint()
            with _serving(port):
                await host.until(lambda: host.state("sdk") == "up")
                assert_tools(host.assemble(), *_TOOLS)
                assert (await host.mcp.call("mcp__sdk__add", {"a": 1, "b": 1})).text == "2"
                await host.prompt.unload_async("mcp")


@pytest.fixture(scope="session")
def everything(request: pytest.FixtureRequest) -> str:
    """Give the script of npm's server, installed once for all runs that share a cache."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs node and npm")
    assert request.config.cache is not None
    folder = request.config.cache.mkdir("server-everything")
    package = "@modelcontextprotocol/server-everything"
    script = folder / "node_modules" / package / "dist" / "index.js"
    if not script.exists():
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder))
        try:
            subprocess.run(
                [npm, "install", *options, package], capture_output=True, check=True, timeout=90
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            # Without its registry, npm tries for many minutes.
            pytest.skip(f"npm cannot install the server: {error}")
    return str(script)


async def test_everything(
    loaded: Any, everything: str, alive: Callable[[int], bool], unused_port: int
) -> None:
    """Npm's server, which speaks the older protocol, as a process and over HTTP at once."""
    with _process("node", everything, "streamableHttp", PORT=str(unused_port)) as process:
        assert process.stdout is not None
        while "listening" not in await anyio.to_thread.run_sync(process.stdout.readline):
            assert process.poll() is None
        servers = {
            "stdio": {"command": "node", "args": [everything, "stdio"], "deny": ["*sampling*"]},
            "http": {"url": f"http://127.0.0.1:{unused_port}/mcp"},
        }
        async with loaded(servers, ping_interval=0.1) as host:
            assembly = host.assemble()
            assert {status.state for status in host.mcp.servers.values()} == {"up"}
            for name in ("stdio", "http"):
                answer = await host.mcp.call(
                    f"mcp__{name}__echo", {"message": name}, assembly=assembly
                )
                assert answer.text == f"Echo: {name}"
            image = await host.mcp.call("mcp__http__get-tiny-image", {}, assembly=assembly)
            assert "[image image/png," in image.text
            process.kill()
            await host.until(lambda: host.state("http") == "down")
            denied = set(host.assemble().denied)
            assert denied == {name for name in host.tools if name.startswith("mcp__http__")}
            answer = await host.mcp.call("mcp__stdio__echo", {"message": "on"})
            assert json.dumps(answer.text) == '"Echo: on"'


@pytest.fixture
def unused_port() -> int:
    """Give a port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
