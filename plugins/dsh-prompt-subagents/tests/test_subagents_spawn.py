"""Spawning: what a child has, and what a failure leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    PERSONA_SECTION,
    ChangeEvent,
    DisposedError,
    InvalidContributionError,
    ScopeError,
    SystemPrompt,
    render_prompt,
)
from dsh_prompt.testing import assert_section

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_subagents import SubAgents

    from dsh_prompt import Scope


def test_a_child_inherits(
    prompt: SystemPrompt,
    subagents: SubAgents,
    main: Scope,
    tools: Callable[..., list[str]],
) -> None:
    """A child that is given nothing has what its parent has, and adds to it by name."""
    main.section(name="rules", order=10, text="Be kind to {{who}}.")
    main.variable("who", "all")
    main.tool({"name": "ask"})
    child = subagents.spawn(main)
    assert child.scope.parent is main
    assert tools(child.scope) == ["ask", "delegate", "read", "write"]
    child.scope.variable("who", "the parser")
    assert render_prompt(prompt.assemble(scope=child.scope)).find("Be kind to the parser.") > 0
    assert render_prompt(prompt.assemble(scope=main)).find("Be kind to all.") > 0


def test_the_global_agent_can_be_the_parent(
    subagents: SubAgents, roster: Callable[..., list[str]]
) -> None:
    """Without a scope, the child is the global agent's."""
    child = subagents.spawn(name="one")
    assert child.parent is None
    assert child.scope.parent is None
    assert roster() == ["- one (running)"]
    assert roster(child.scope) == []


def test_persona(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """A persona replaces the one above it, braces and all; its owner is the plugin."""
    main.section(name=PERSONA_SECTION, order=0, text="You are the main agent.")
    persona = "You write {{templates}}.\r\nCarefully."
    child = subagents.spawn(main, name="writer", persona=persona)
    assembly = prompt.assemble(scope=child.scope)
    text = "You write {{templates}}.\nCarefully."
    section = assert_section(assembly, PERSONA_SECTION, text, plugin="subagents")
    assert section.cacheable
    heir = prompt.assemble(scope=subagents.spawn(child.scope).scope)
    assert_section(heir, PERSONA_SECTION, text)
    plain = prompt.assemble(scope=subagents.spawn(main).scope)
    assert_section(plain, PERSONA_SECTION, "You are the main agent.")


def test_an_empty_persona_is_one(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """An empty persona hides the parent's."""
    main.section(name=PERSONA_SECTION, order=0, text="You are the main agent.")
    child = subagents.spawn(main, persona="")
    assert "main agent" not in render_prompt(prompt.assemble(scope=child.scope))


@pytest.mark.parametrize(
    ("restrict", "names"),
    [
        (None, ["delegate", "read", "write"]),
        ({"allow": ["read"]}, ["read"]),
        ({"allow": ()}, []),
        ({"deny": {"delegate"}}, ["read", "write"]),
        ({"allow": ["read", "write"], "deny": ["write"]}, ["read"]),
        ({"allow": None, "deny": iter(["read"])}, ["delegate", "write"]),
    ],
)
def test_restrict(
    subagents: SubAgents,
    main: Scope,
    tools: Callable[..., list[str]],
    restrict: Any,
    names: list[str],
) -> None:
    """A restriction hides tools from the child, and from nobody else."""
    child = subagents.spawn(main, restrict=restrict)
    assert tools(child.scope) == names
    assert tools(main) == ["delegate", "read", "write"]


def test_no_child_has_more_than_its_parent(
    subagents: SubAgents, main: Scope, tools: Callable[..., list[str]]
) -> None:
    """What is hidden from a parent stays hidden from its children."""
    parent = subagents.spawn(main, restrict={"allow": ["read", "delegate"]})
    child = subagents.spawn(parent.scope, restrict={"allow": ["read", "write"]})
    assert tools(child.scope) == ["read"]


def test_names_by_number(subagents: SubAgents, main: Scope) -> None:
    """Children without names are numbered, for each parent by itself, free numbers first."""
    first = subagents.spawn(main)
    subagents.spawn(main, name="child-2")
    assert [subagents.spawn(main).name, subagents.spawn().name] == ["child-3", "child-1"]
    first.close()
    assert subagents.spawn(main).name == "child-1"


def test_names_are_unique(subagents: SubAgents, main: Scope) -> None:
    """Two open children of one parent never have one name."""
    first = subagents.spawn(main, name="one")
    with pytest.raises(InvalidContributionError, match='there is a child agent "one" already'):
        subagents.spawn(main, name="one")
    subagents.spawn(name="one")
    subagents.spawn(first.scope, name="one")
    first.close()
    assert subagents.spawn(main, name="one").is_open


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"restrict": {"allow": ["raed"]}}, InvalidContributionError, "raed"),
        ({"restrict": {}}, InvalidContributionError, "no-op"),
        ({"restrict": {"allow": "read"}}, InvalidContributionError, "allow"),
        (
            {"restrict": {"alow": ["read"]}},
            InvalidContributionError,
            "unknown key .alow.; it takes",
        ),
        ({"restrict": ["read"]}, InvalidContributionError, "restrict must be a mapping"),
        (
            {"persona": 3},
            InvalidContributionError,
            'the persona of child agent "one" must be a str, not int',
        ),
        ({"persona": "x" * 100_001}, InvalidContributionError, "more than 100000"),
        ({"description": None}, InvalidContributionError, "description of .* must be a str"),
        ({"name": ""}, InvalidContributionError, "the name of a child agent must be one line"),
        ({"name": " one"}, InvalidContributionError, "one line"),
        ({"name": "o\nne"}, InvalidContributionError, "one line"),
        ({"name": "o\u200bne"}, InvalidContributionError, "visible"),
        ({"name": "\ud800"}, InvalidContributionError, "visible"),
        ({"name": "</memory>"}, InvalidContributionError, "visible"),
        ({"name": "x" * 101}, InvalidContributionError, "up to 100"),
        ({"name": "x" * 10**6}, InvalidContributionError, "not 'xxx"),
        ({"name": 5}, InvalidContributionError, "not 5"),
        ({"scope": "main"}, ScopeError, "must be a scope of this host or None, not 'main'"),
    ],
)
def test_a_failure_leaves_nothing(
    prompt: SystemPrompt,
    subagents: SubAgents,
    main: Scope,
    arguments: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """What is wrong is named, shortly, and no scope, name or roster line stays."""
    [before] = [one.contributions for one in prompt.plugins]
    arguments = {"scope": main, "name": "one", **arguments}
    with pytest.raises(error, match=message) as caught:
        subagents.spawn(**arguments)
    assert len(str(caught.value)) < 500
    assert subagents.children(main) == ()
    assert [one.contributions for one in prompt.plugins] == [before]
    assert subagents.spawn(main, name="one").name == "one"


def test_a_listener_that_refuses(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """Where a change listener refuses the persona, there is no child."""

    def refuse(event: ChangeEvent) -> None:
        if event.added and event.added[0][:2] == ("section", PERSONA_SECTION):
            raise RuntimeError("no personas here")

    listening = prompt.on_change(refuse)
    with pytest.raises(RuntimeError, match="no personas here"):
        subagents.spawn(main, name="one", persona="P", restrict={"allow": []})
    listening.dispose()
    assert subagents.children(main) == ()
    assert subagents.spawn(main, name="one", persona="P").is_open


@pytest.mark.parametrize("what", ["parent", "plugin", "child"])
def test_what_goes_meanwhile(
    prompt: SystemPrompt, subagents: SubAgents, main: Scope, what: str
) -> None:
    """Where parent, plugin or child go while it is spawned, there is no child."""
    scopes: list[Scope] = []

    def end(event: ChangeEvent) -> None:
        if event.kind == "registered" and event.scope is not None:
            scopes.append(event.scope)
            if what == "plugin":
                prompt.unload("subagents")
            else:
                (main if what == "parent" else event.scope).dispose()

    prompt.on_change(end)
    with pytest.raises(DisposedError, match='child agent "one", or the plugin, is gone'):
        subagents.spawn(main, name="one", persona="P")
    assert [scope.is_gone for scope in scopes] == [True]
    assert subagents.children(main) == ()


def test_nobody_sees_a_child_before_its_restriction(
    prompt: SystemPrompt, subagents: SubAgents, main: Scope
) -> None:
    """When the first event tells of a child's scope, the child is restricted already."""
    seen: list[list[str]] = []

    def look(event: ChangeEvent) -> None:
        seen.append([tool.name for tool in prompt.registry.schemas(event.scope)])

    prompt.on_change(look)
    subagents.spawn(main, persona="P", restrict={"allow": ["read"]})
    assert seen == [["read"], ["read"]]


def test_the_scope_of_another_host(subagents: SubAgents) -> None:
    """A parent must be of this host."""
    with pytest.raises(ScopeError, match="no scope of this host"):
        subagents.spawn(SystemPrompt().create_scope("main"))


def test_a_parent_that_is_gone(subagents: SubAgents, main: Scope) -> None:
    """Below a disposed scope nobody is spawned: its restrictions are gone."""
    child = subagents.spawn(main)
    below = child.scope
    child.close()
    with pytest.raises(DisposedError, match="<Scope 'child-1' disposed> is gone"):
        subagents.spawn(below)
