"""A restriction reaches what tool providers give, as MCP servers' tools are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS

from dsh_prompt import InvalidContributionError, InvariantError, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_subagents import SubAgents

    from dsh_prompt import Scope


@pytest.fixture
def prompt() -> Iterator[SystemPrompt]:
    """Give a host with two registered tools, and two of a provider, that has assembled once."""
    with SystemPrompt() as prompt:
        prompt.load(dsh_prompt_subagents, name="subagents", config={"tool_schema": False})
        prompt.tools([{"name": "read"}, {"name": "write"}])
        prompt.tools(lambda: [{"name": "mcp__a__get"}, {"name": "mcp__a__put"}])
        prompt.assemble()
        yield prompt


@pytest.fixture
def subagents(prompt: SystemPrompt) -> SubAgents:
    return prompt.require(SUBAGENTS)


def tools(prompt: SystemPrompt, scope: Scope) -> list[str]:
    return [tool.name for tool in prompt.assemble(scope=scope).tools]


@pytest.mark.parametrize(
    ("restrict", "left"),
    [
        ({"allow": ["read"]}, ["read"]),
        ({"allow": ["read", "mcp__a__get"]}, ["mcp__a__get", "read"]),
        ({"allow": ["mcp__a__get"]}, ["mcp__a__get"]),
        ({"allow": []}, []),
        ({"deny": ["mcp__a__put"]}, ["mcp__a__get", "read", "write"]),
        ({"deny": ["write", "mcp__a__put"]}, ["mcp__a__get", "read"]),
    ],
)
def test_a_child_has_what_it_is_left(
    prompt: SystemPrompt, subagents: SubAgents, restrict: Any, left: list[str]
) -> None:
    """Of a provider as of the registry; its parent has all."""
    with subagents.spawn(restrict=restrict) as child:
        assert tools(prompt, child.scope) == left
        assert prompt.assemble(scope=child.scope).authorize("mcp__a__put") == (
            None
            if "mcp__a__put" in left
            else 'tool "mcp__a__put" is not available in this assembly'
        )
    assert len(prompt.assemble().tools) == 4


def test_a_grandchild_has_no_more(prompt: SystemPrompt, subagents: SubAgents) -> None:
    with (
        subagents.spawn(restrict={"deny": ["mcp__a__put"]}) as child,
        subagents.spawn(child.scope, restrict={"allow": ["mcp__a__get", "read"]}) as grandchild,
    ):
        assert tools(prompt, grandchild.scope) == ["mcp__a__get", "read"]
        assert tools(prompt, child.scope) == ["mcp__a__get", "read", "write"]


def test_a_name_that_nobody_has_shown_is_refused(
    prompt: SystemPrompt, subagents: SubAgents
) -> None:
    """A typing error in what is denied would leave the tool to the child."""
    with pytest.raises(InvalidContributionError, match=r'unknown global tool.*"mcp__a__pot"'):
        subagents.spawn(restrict={"deny": ["mcp__a__pot"]})
    assert not subagents.children()


def test_a_name_may_move_into_the_registry(prompt: SystemPrompt, subagents: SubAgents) -> None:
    """What was a provider's is registered now, and restricted as such."""
    prompt.tool({"name": "mcp__a__put"})
    with subagents.spawn(restrict={"deny": ["mcp__a__put"]}) as child:
        found = prompt.assemble(scope=child.scope).tools
        assert sum(tool.name == "mcp__a__put" for tool in found) == 0


def test_a_long_line_of_children_is_closed_at_once(subagents: SubAgents) -> None:
    """However many stand below each other."""
    first = above = subagents.spawn()
    for _ in range(300):
        above = subagents.spawn(above.scope)
    first.close()
    assert not above.is_open
    assert not subagents.children()


def test_who_put_something_odd_among_the_tools_is_named() -> None:
    """The guard does that; the fence lets it pass."""
    prompt = SystemPrompt()

    def odd(assembly: Any) -> None:
        assembly.tools.append("no schema")

    prompt.on_assemble(odd)
    prompt.load(dsh_prompt_subagents, name="subagents")
    with (
        prompt.require(SUBAGENTS).spawn(restrict={"allow": []}) as child,
        pytest.raises(InvariantError, match="assembled tool of type str must be a ToolSchema"),
    ):
        prompt.assemble(scope=child.scope)
