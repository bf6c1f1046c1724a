"""A host with the plugin and some tools, and the ways to read what is said in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS, SubAgents

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import Scope, SystemPrompt


@pytest.fixture
def prompt(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host with two tools and the plugin."""
    dsh_prompt_host.tools([{"name": "read"}, {"name": "write"}])
    dsh_prompt_host.load(dsh_prompt_subagents, name="subagents")
    return dsh_prompt_host


@pytest.fixture
def subagents(prompt: SystemPrompt) -> SubAgents:
    """Give the service of that host."""
    return prompt.require(SUBAGENTS)


@pytest.fixture
def main(prompt: SystemPrompt) -> Scope:
    """Give the scope of a parent."""
    return prompt.create_scope("main")


@pytest.fixture
def roster(prompt: SystemPrompt) -> Callable[..., list[str]]:
    """Give a function that reads the lines of the roster that the agent of a scope sees."""

    def read(scope: Scope | None = None) -> list[str]:
        texts = [one.text for one in prompt.assemble(scope=scope).contexts]
        return texts[0].splitlines() if texts else []

    return read


@pytest.fixture
def tools(prompt: SystemPrompt) -> Callable[..., list[str]]:
    """Give a function that reads the names of the tools that the agent of a scope has."""

    def read(scope: Scope | None = None) -> list[str]:
        return [tool.name for tool in prompt.assemble(scope=scope).tools]

    return read
