"""A host with many tools, and the modules of the tests beside them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_tool_search import ToolSearchPlugin

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import SystemPrompt

# The corpus and the measuring are a program too, so they are modules of their own.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def bare_host(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host without the plugin: six tools, sections and contexts about some of them."""
    prompt = dsh_prompt_host
    for name in ("fetch", "mcp__hub__merge", "mcp__hub__open", "mcp__hub__close", "read", "write"):
        prompt.tool({"name": name, "description": f"This is {name}."})
    prompt.section(name="rules", order=10, text="Be precise.")
    prompt.section(name="late", order=900, text="That is all.")
    prompt.section(name="merging", order=110, text="Merge.", requires_tools=["mcp__hub__merge"])
    prompt.context(name="open", order=10, text="Two are open.", requires_tools=["mcp__hub__open"])
    return prompt


@pytest.fixture
def host(bare_host: SystemPrompt) -> Callable[..., SystemPrompt]:
    """Give a function that loads the plugin into the host, under the given settings."""

    def load(**settings: Any) -> SystemPrompt:
        given = {"threshold": 3, "always": ["read", "write"], **settings}
        bare_host.load(ToolSearchPlugin, name="tool-search", config=given)
        return bare_host

    return load
