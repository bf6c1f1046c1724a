"""Settings: what is refused, what a checkout cannot do, and what is never shown."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from dsh_prompt_mcp import MCP, Config, McpPlugin, Server

from dsh_prompt import Config as HostConfig
from dsh_prompt import PluginLoadError, SystemPrompt

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
_SECRET = "s3cret-value-of-a-token"


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({}, "a server has a command or a url, and not both"),
        ({"command": "a", "url": "http://b"}, "a server has a command or a url, and not both"),
        ({"command": " "}, "command must be a text that is not blank"),
        ({"command": "a", "headers": {"x": "y"}}, "headers are for a server with a url"),
        ({"url": "http://a", "env": {"x": "y"}}, "are for a server with a command"),
        ({"url": "ftp://a"}, "url must be an address"),
        ({"url": "http://[a"}, "url must be an address"),
        ({"url": f"http://me:{_SECRET}@a"}, "url must hold no user"),
        ({"command": "a", "env": {"X": 12345678}}, "env.X must be a string"),
        ({"command": "a", "env": {"X=Y": _SECRET}}, "holds an equals sign"),
        ({"command": "a", "env": {f"X={_SECRET}": 1}}, "holds an equals sign"),
        ({"command": "a", "env": {"X": f"{_SECRET}\0"}}, "env.X holds a control character"),
        ({"command": "a", "env": f"X={_SECRET}"}, "env must be a table"),
        ({"command": "a", "env": [["X", _SECRET]]}, "env must be a table"),
        ({"url": "http://a", "headers": _SECRET}, "headers must be a table"),
        ({"url": "http://a", "headers": {"X": f"{_SECRET}\n{_SECRET}"}}, "headers.X holds a line"),
        ({"url": "http://a", "headers": {"X": f"{_SECRET}\u00e9"}}, "headers.X holds what is not"),
        ({"url": "http://a", "headers": {f"X: {_SECRET}": "y"}}, "a name that no header can have"),
        ({"url": "http://a", "headers": {"X": [_SECRET]}}, "headers.X must be a string"),
        ({"command": "a", "pass_env": ["A B"]}, "pass_env[0] is not the name of a variable"),
        ({"command": "a", "allow": [""]}, "allow[0] is empty"),
        ({"command": "a", "args": ["\0"]}, "args[0] holds a NUL"),
        ({"command": "a", "timeout": 0}, "timeout must be seconds above 0"),
        ({"command": "a", "stderr": "file"}, 'stderr must be "discard" or "inherit"'),
        ({"command": "a", "enabled": 1}, "enabled"),
        ({"command": "a", "tokn": _SECRET}, "unknown key"),
    ],
)
async def test_refused(server: dict[str, Any], told: str) -> None:
    """A wrong setting fails the load with its name, and without its value where that is secret."""
    with pytest.raises(PluginLoadError) as caught:
        await SystemPrompt().load_async(McpPlugin, config={"servers": {"x": server}})
    assert told in str(caught.value)
    assert _SECRET not in str(caught.value)
    assert "12345678" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "  ", "a\u202eb", "a\nb", "x" * 201])
async def test_server_names(name: str) -> None:
    """The name of a server can be read."""
    with pytest.raises(PluginLoadError, match="servers has a name that is blank"):
        await SystemPrompt().load_async(McpPlugin, config={"servers": {name: {"command": "a"}}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("startup_timeout", 0), ("max_tools", 0), ("retry_after", -1), ("order", float("nan"))],
)
def test_limits(field: str, value: Any) -> None:
    """Limits have limits."""
    with pytest.raises(ValueError, match=field):
        Config(**{field: value})


def test_repr() -> None:
    """Nothing that may be a secret is in the repr of settings."""
    server = Server(command="a", args=(_SECRET,), env={"X": _SECRET})
    assert _SECRET not in repr(Config(servers={"a": server}))
    url = f"http://a/?key={_SECRET}"
    assert _SECRET not in repr(Server(url=url, headers={"Authorization": _SECRET}))


def _toml(bare: Any, name: str) -> str:
    settings = bare.settings()
    return (
        f"[plugins.config.mcp.servers.{name}]\n"
        f"command = {json.dumps(settings['command'])}\nargs = {json.dumps(settings['args'])}\n"
    )


async def test_checkout(
    bare: Any, tool: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server in a project's settings is not started until they are trusted."""
    hostile = bare("hostile", tools=[tool("a")])
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(_toml(hostile, "evil") + "[plugins.config.mcp]\nmax_tools = 7\n")
    for trusted in (False, True):
        config = HostConfig.load(file, trusted=trusted)
        prompt = SystemPrompt(config)
        info = await prompt.load_async(McpPlugin, name="mcp")
        mcp = prompt.require(MCP)
        try:
            assert list(mcp.servers) == (["evil"] if trusted else [])
            assert bool(info.ignored) != trusted
            with anyio.fail_after(60):
                while trusted and mcp.servers["evil"].state != "up":
                    await mcp.changed()
        finally:
            await prompt.dispose_async()
        assert len(hostile.pids) == trusted


async def test_environment(
    bare: Any,
    loaded: Any,
    tool: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A process gets the variables that it was given, and no others; none of them is shown."""
    caplog.set_level(logging.DEBUG)
    names = ["TOKEN", "PASSED", "OTHER", "PATH"]
    for name in ("REAL_TOKEN", "PASSED", "OTHER"):
        monkeypatch.setenv(name, f"{_SECRET}-{name}")
    server = bare(tools=[tool("a")], tell_env=names)
    settings = server.settings(env={"TOKEN": "Bearer ${REAL_TOKEN}"}, pass_env=["PASSED", "UNSET"])
    async with loaded({"fs": settings}) as host:
        env = json.loads((await host.mcp.call("mcp__fs__a")).text)["env"]
        assert env.pop("PATH")
        assert env == {
            "TOKEN": f"Bearer {_SECRET}-REAL_TOKEN",
            "PASSED": f"{_SECRET}-PASSED",
            "OTHER": None,
        }
        assert _SECRET not in f"{host.mcp.servers} {host.mcp.report} {host.prompt.plugins}"
    ours = [message for message in caplog.messages if "called" not in message]
    assert _SECRET not in "\n".join(ours)


async def test_unset(bare: Any, loaded: Any, tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a variable that it needs, a server is not started; it is once the variable is set."""
    monkeypatch.delenv("REAL_TOKEN", raising=False)
    server = bare(tools=[tool("a")])
    async with loaded({"fs": server.settings(env={"TOKEN": "${REAL_TOKEN}"})}) as host:
        assert host.mcp.servers["fs"].error == "the environment variable REAL_TOKEN is not set"
        assert server.pids == []
        monkeypatch.setenv("REAL_TOKEN", _SECRET)
        await host.until(lambda: host.state("fs") == "up")
