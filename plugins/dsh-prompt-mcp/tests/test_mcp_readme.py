"""The README is true."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from dsh_prompt_mcp import INSTRUCTIONS, Config, Server, tool_name

from dsh_prompt import PromptSection, SystemPrompt, render_prompt
from dsh_prompt.testing import assert_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

_README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not _README.exists(), reason="the tests stand alone")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _README.read_text(), re.DOTALL)


def test_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example prints what the README says."""
    monkeypatch.chdir(tmp_path)
    server, code, _ = _blocks("python")
    Path("notes_server.py").write_text(server)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == _blocks("text")[0]


def test_fence() -> None:
    """A restriction does not reach the tools; the listener does, and the section can go too."""
    prompt = SystemPrompt()
    child = prompt.create_scope("child")
    prompt.tools(lambda: [{"name": "mcp__a__b"}])
    prompt.tool({"name": "other"})
    prompt.section(PromptSection(name=INSTRUCTIONS, order=100, text="Mind."))
    child.restrict(allow=["other"])
    assert_tools(prompt.assemble(scope=child), "mcp__a__b", "other")
    exec(compile(_blocks("python")[2], "README.md", "exec"), {"child": child})
    child.section(PromptSection(name="mcp:instructions", order=100, text=""))
    assembly = prompt.assemble(scope=child)
    assert_tools(assembly, "other")
    assert assembly.authorize("mcp__a__b")
    assert "Mind." not in render_prompt(assembly)
    assert_tools(prompt.assemble(), "mcp__a__b", "other")


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
