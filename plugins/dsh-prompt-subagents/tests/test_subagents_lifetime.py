"""How children end, and what is left of them."""

from __future__ import annotations

import gc
import sys
import weakref
from importlib import import_module
from typing import TYPE_CHECKING

import anyio
import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS, SubAgents

from dsh_prompt import (
    AsyncProviderError,
    DisposableContext,
    DisposedError,
    ScopeError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_subagents import Child

    from dsh_prompt import Scope


def assert_closed(*children: Child) -> None:
    for child in children:
        with pytest.raises(DisposedError, match=f'child agent "{child.name}" is closed'):
            _ = child.scope


def test_close(subagents: SubAgents, main: Scope, roster: Callable[..., list[str]]) -> None:
    """A closed child leaves the roster with its whole layer; closing twice is harmless."""
    child = subagents.spawn(main, name="one")
    scope = child.scope
    child.close()
    child.close()
    assert scope.is_gone
    assert not child.is_open
    assert subagents.children(main) == ()
    assert roster(main) == []
    assert_closed(child)
    assert repr(child) == "<Child 'one', closed>"


def test_close_closes_what_is_below(
    subagents: SubAgents, main: Scope, tools: Callable[..., list[str]]
) -> None:
    """The children of a child end first, so that none outlives a restriction above it."""
    child = subagents.spawn(main, name="one", restrict={"allow": ["read"]})
    inner = subagents.spawn(child.scope, name="inner")
    innermost = subagents.spawn(inner.scope, name="innermost")
    ends: list[tuple[str, list[str]]] = []

    def note(one: Child) -> None:
        ends.append((one.name, tools(one.parent)))

    for one in (child, inner, innermost):
        one.scope.callback(note, one)
    child.close()
    assert ends == [
        ("innermost", ["read"]),
        ("inner", ["read"]),
        ("one", ["delegate", "read", "write"]),
    ]
    assert_closed(child, inner, innermost)


def test_a_block(subagents: SubAgents, main: Scope) -> None:
    """A child is closed at the end of its block, also where that raises."""
    child = subagents.spawn(main)
    assert repr(child) == "<Child 'child-1', running>"
    with pytest.raises(RuntimeError), child:
        raise RuntimeError
    assert_closed(child)


def test_its_scope_is_disposed(
    subagents: SubAgents, main: Scope, roster: Callable[..., list[str]]
) -> None:
    """Whoever disposes the scope closes the child."""
    child = subagents.spawn(main, name="one")
    child.scope.dispose()
    assert_closed(child)
    assert roster(main) == []
    assert subagents.spawn(main, name="one").is_open


def test_its_parent_is_disposed(
    prompt: SystemPrompt, subagents: SubAgents, main: Scope, roster: Callable[..., list[str]]
) -> None:
    """A child whose parent went is not to be assembled for, and is closed with the next spawn."""
    child = subagents.spawn(main, name="one")
    inner = subagents.spawn(child.scope, name="inner")
    scopes = [child.scope, inner.scope]
    main.dispose()
    assert roster(main) == []
    assert_closed(child, inner)
    assert not any(scope.is_gone for scope in scopes)
    other = subagents.spawn()
    assert all(scope.is_gone for scope in scopes)
    assert other.is_open


class Connection:
    """An async context manager that tells when it is left."""

    def __init__(self, ends: list[str]) -> None:
        self.ends = ends

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        self.ends.append("left")


@pytest.mark.parametrize("close", [True, False])
def test_async_things_in_a_child(subagents: SubAgents, main: Scope, close: bool) -> None:
    """A child with something async is closed by the async twin; the other does nothing."""
    ends: list[str] = []

    async def run() -> None:
        async with subagents.spawn(main, name="one") as child:
            inner = subagents.spawn(child.scope, name="inner")
            await inner.scope.enter_async_context(Connection(ends))
            with pytest.raises(AsyncProviderError, match="dispose_async"):
                child.close()
            assert child.is_open
            assert inner.is_open
            if close:
                await child.close_async()
        assert_closed(child, inner)

    anyio.run(run)
    assert ends == ["left"]


def test_unload(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """With the plugin all children go, and the service says so to those who kept it."""
    child = subagents.spawn(main, name="one", persona="P", restrict={"allow": []})
    inner, scope = subagents.spawn(child.scope, name="inner"), child.scope
    prompt.unload("subagents")
    assert scope.is_gone
    assert_closed(child, inner)
    assert prompt.get(SUBAGENTS) is None
    assert subagents.children(main) == ()
    with pytest.raises(DisposedError, match="unloaded or switched off; ask the host"):
        subagents.spawn(main)
    child.report("done")
    child.close()


def test_reload(prompt: SystemPrompt, main: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a reload there is a new service without children; the old children have ended."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "dsh_prompt_subagents":
            monkeypatch.setitem(sys.modules, name, module)  # the other tests hold these
    child = prompt.require(SUBAGENTS).spawn(main, name="one")
    prompt.reload("subagents")
    assert_closed(child)
    subagents = prompt.require(import_module("dsh_prompt_subagents").SUBAGENTS)
    assert subagents.children(main) == ()
    assert subagents.spawn(main, name="one").is_open


def test_quarantine(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """Where the plugin is switched off, restrictions are too: no child is to be assembled for."""
    child = subagents.spawn(main, name="one", restrict={"allow": ["read"]})
    prompt.quarantine("subagents", "a test")
    assert_closed(child)
    with pytest.raises(DisposedError, match="switched off"):
        subagents.spawn(main)


def test_nothing_is_held(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """Who keeps the service and a child after the unload keeps neither host nor plugin."""
    child = subagents.spawn(main)
    child.close()
    reference = weakref.ref(child)
    del child
    gc.collect()
    assert reference() is None
    prompt.unload("subagents")
    assert not [one for one in gc.get_referents(subagents) if isinstance(one, DisposableContext)]


def test_in_a_scope(dsh_prompt_host: SystemPrompt) -> None:
    """Loaded into a scope, it serves the agents of that scope and of those below."""
    team = dsh_prompt_host.create_scope("team")
    outside = dsh_prompt_host.create_scope("outside")
    dsh_prompt_host.load(dsh_prompt_subagents, scope=team)
    subagents = team.require(SUBAGENTS)
    assert dsh_prompt_host.get(SUBAGENTS) is None
    child = subagents.spawn(name="one")
    assert child.parent is team
    assert subagents.spawn(child.scope).scope.parent is child.scope
    assert subagents.children() == subagents.children(team) == (child,)
    with pytest.raises(ScopeError, match="does not stand below <Scope 'team'>"):
        subagents.spawn(outside)
    team.dispose()
    assert_closed(child)


def test_for_other_plugins(dsh_prompt_host: SystemPrompt) -> None:
    """A plugin that requires it spawns while it is loaded, and closes what it spawned."""

    class Team:
        requires = ("subagents",)

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(ctx.require(SUBAGENTS).spawn(name="one", persona="P").close)

    dsh_prompt_host.load(dsh_prompt_subagents, name="subagents")
    dsh_prompt_host.load(Team, name="team")
    subagents = dsh_prompt_host.require(SUBAGENTS)
    assert [child.name for child in subagents.children()] == ["one"]
    dsh_prompt_host.unload("team")
    assert subagents.children() == ()
    dsh_prompt_host.load(Team, name="team")
    (child,) = subagents.children()
    dsh_prompt_host.unload("subagents")
    assert_closed(child)
    assert dsh_prompt_host.plugins == []
