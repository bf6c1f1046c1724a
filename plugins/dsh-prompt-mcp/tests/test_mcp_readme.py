"""The README is true."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from dsh_prompt_mcp import Config, Server, tool_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_README = Path(__file__).parents[1] / "README.md"
_NOTES = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")
notes = []


@server.tool()
def add(text: str) -> str:
    notes.append(text)
    return f"{len(notes)} note"


server.run()
"""

pytestmark = pytest.mark.skipif(not _README.exists(), reason="the tests stand alone")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _README.read_text(), re.DOTALL)


def test_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example prints what the README says."""
    monkeypatch.chdir(tmp_path)
    Path("notes_server.py").write_text(_NOTES)
    (code,) = _blocks("python")
    code = code.replace('"command": "python"', f'"command": {sys.executable!r}')
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == _blocks("text")[0]


def test_hashed_name() -> None:
    """The name that is shown with a hash is right."""
    assert f"`{tool_name('notes', 'add note')}`" in _README.read_text()


def test_settings() -> None:
    """Each setting is shown, those with a default that anybody wants with it."""
    (text,) = _blocks("toml")
    table = tomllib.loads(text)["plugins"]["config"]["mcp"]
    servers = table.pop("servers")
    assert Config(**table) == Config()
    assert {"servers", *table} == set(_names(Config))
    for server in servers.values():
        Server(**server)
    assert {name for server in servers.values() for name in server} == set(_names(Server))


def _names(kind: type[attrs.AttrsInstance]) -> Iterator[str]:
    return (field.name for field in attrs.fields(kind))
