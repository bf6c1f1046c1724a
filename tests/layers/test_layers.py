"""Layers: a group of entries comes or goes whole, in one generation, and nobody else notices."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from dsh_prompt import (
    DisposableContext,
    DuplicateContributionError,
    SystemPrompt,
    ToolSchema,
    hookimpl,
)
from dsh_prompt.layers.entry import Entry
from dsh_prompt.layers.layers import Layer, Layers
from dsh_prompt.lifecycle.lifecycle import Lifetime
from dsh_prompt.model.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import PromptSection, Registration


def entry(layer: Layer, name: str, kind: str = "variable") -> Entry:
    """Give an entry for *layer* that the host owns."""
    return Entry(Lifetime(Layers(), layer, Source(), owner=None), kind, name, "value")


def names(layer: Layer) -> list[str]:
    """Name what *layer* holds, in registration order."""
    return [entry.name for entry in layer.holds("variable")]


def test_entries_come_and_go_in_one_generation() -> None:
    """However many they are."""
    layers = Layers()
    entries = [entry(layers.root, name) for name in "abc"]
    assert layers.insert(entries) == 1
    assert names(layers.root) == ["a", "b", "c"]
    gone, generation = layers.withdraw(entries[:2])
    assert (gone, generation, names(layers.root)) == (entries[:2], 2, ["c"])


def test_entries_are_inserted_all_or_none() -> None:
    """A name that is taken, or given twice, refuses the whole group."""
    layers = Layers()
    layers.insert([entry(layers.root, "a")])
    for group in ("ba", "bb"):
        with pytest.raises(DuplicateContributionError):
            layers.insert([entry(layers.root, name) for name in group])
    assert (names(layers.root), layers.generation) == (["a"], 1)


def test_withdrawing_what_is_not_there_changes_nothing() -> None:
    """No generation begins, and an entry of the same name stays."""
    layers = Layers()
    layers.insert([entry(layers.root, "a")])
    assert layers.withdraw([entry(layers.root, "a")]) == ([], 1)
    assert names(layers.root) == ["a"]


def test_reserved_entries_take_names_but_are_not_held() -> None:
    """Until they are published, in one generation."""
    layers = Layers()
    reserved = [entry(layers.root, "a"), entry(layers.root, "b")]
    layers.insert(reserved, reserved=True)
    assert (names(layers.root), layers.generation) == ([], 0)
    with pytest.raises(DuplicateContributionError):
        layers.insert([entry(layers.root, "a")])
    assert layers.exchange((), reserved)[2] == 1
    assert names(layers.root) == ["a", "b"]


def test_reserved_entries_go_without_a_trace() -> None:
    """Nobody has seen them, so no generation begins, and the names are free."""
    layers = Layers()
    reserved = [entry(layers.root, "a")]
    layers.insert(reserved, reserved=True)
    assert layers.withdraw(reserved) == ([], 0)
    assert layers.insert([entry(layers.root, "a")]) == 1


def test_what_was_withdrawn_before_it_was_published_stays_away() -> None:
    """A load may take back a part of what it registered."""
    layers = Layers()
    reserved = [entry(layers.root, "a"), entry(layers.root, "b")]
    layers.insert(reserved, reserved=True)
    layers.withdraw(reserved[:1])
    layers.exchange((), reserved)[2]
    assert names(layers.root) == ["b"]


def test_a_chain_begins_with_the_global_layer() -> None:
    """Then the farthest ancestor, and the layer itself last."""
    layers = Layers()
    parent = Layer()
    child = Layer(parent=parent)
    assert layers.chain(child) == [layers.root, parent, child]
    assert layers.chain(layers.root) == [layers.root]


def test_layers_of_a_name_are_apart() -> None:
    """One name may be held by every layer."""
    layers = Layers()
    other = Layer()
    layers.insert([entry(layers.root, "a"), entry(other, "a")])
    assert (names(layers.root), names(other)) == (["a"], ["a"])


# Seen through a host


def test_a_change_is_seen_by_the_next_assembly_of_every_scope_below() -> None:
    """Plans that were made before hold nothing that is gone."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    views = (None, parent, child)
    for register in (prompt.variable, parent.variable):
        undo: Registration = register("v", "value")
        before = [dict(prompt.assemble(scope=view).variables) for view in views]
        undo()
        after = [dict(prompt.assemble(scope=view).variables) for view in views]
        assert before[-1] == {"v": "value"}
        assert after == [{}, {}, {}]


def test_a_change_in_one_scope_leaves_the_plans_of_others_alone() -> None:
    """So that agents that come and go cost the others nothing."""
    prompt = SystemPrompt()
    scope, other = prompt.create_scope("agent"), prompt.create_scope("other")
    prompt.assemble(scope=other)
    plan = other.layer.plan
    scope.variable("v", "value")
    prompt.assemble(scope=scope)
    scope.dispose()
    prompt.assemble(scope=other)
    assert other.layer.plan is plan
    assert plan is not None


def test_an_assembly_carries_the_generation_of_its_plan() -> None:
    """It says which state of the host is shown."""
    prompt = SystemPrompt()
    first = prompt.assemble().generation
    prompt.variable("v", "value")
    second = prompt.assemble().generation
    assert first is not None
    assert second == first + 1
    assert prompt.assemble().generation == second


def in_thread(work: Callable[[], object]) -> bool:
    """Run *work* in a thread and tell whether it ended in time."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(5)
    return not thread.is_alive()


def test_an_assembly_whose_plan_is_current_takes_no_lock() -> None:
    """It goes on while somebody else holds up every change."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    scope.section(name="a", order=1, text="{{v}}")
    scope.variable("v", lambda: "value")
    scope.tools([ToolSchema("read", "", {})])
    scope.on_assemble(lambda assembly, call_next: call_next())
    prompt.assemble(scope=scope)
    with prompt._layers.lock:
        assert in_thread(lambda: prompt.assemble(scope=scope).fingerprint())


@pytest.mark.parametrize("hook", ["provider", "listener", "change"])
def test_contributed_code_runs_without_the_lock(hook: str) -> None:
    """It may wait for a thread that registers."""
    prompt = SystemPrompt()
    done: list[bool] = []
    once = threading.Semaphore()

    def code(*_: object) -> None:
        if once.acquire(blocking=False):
            done.append(in_thread(lambda: prompt.create_scope("x").variable("x", "value")))

    if hook == "provider":
        prompt.variable("v", code)
    elif hook == "listener":
        prompt.on_assemble(lambda assembly: code())
    else:
        prompt.on_change(code)
        prompt.variable("v", "value")
    prompt.assemble()
    assert done == [True]


@pytest.mark.parametrize("step", ["activate", "contribute_sections", "deactivate", "callback"])
def test_a_plugin_runs_without_the_lock(step: str) -> None:
    """At load and at unload, it may wait for a thread that registers."""
    prompt = SystemPrompt()
    done: list[bool] = []

    def code(wanted: str) -> None:
        if wanted == step:
            done.append(in_thread(lambda: prompt.variable("x", "value").dispose()))

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(code, "callback")
            code("activate")

        @hookimpl
        def contribute_sections(self) -> list[PromptSection]:
            code("contribute_sections")
            return []

        @hookimpl
        def deactivate(self) -> None:
            code("deactivate")

    prompt.load(Plugin())
    prompt.unload("Plugin")
    assert done == [True]


@pytest.mark.anyio
async def test_an_assembly_shows_no_part_of_a_load_under_way() -> None:
    """Its names are taken, its contributions are not there yet."""
    prompt = SystemPrompt()
    entered, release = anyio.Event(), anyio.Event()

    class Slow:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")
            entered.set()
            await release.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.load_async, Slow())
        await entered.wait()
        assert (prompt.assemble().variables, prompt.plugins) == ({}, [])
        with pytest.raises(DuplicateContributionError, match='plugin "Slow"'):
            prompt.variable("v", "mine")
        release.set()
    assert prompt.assemble().variables == {"v": "value"}
