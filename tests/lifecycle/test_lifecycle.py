"""Lifecycle: what is registered has an owner and an undo, and is taken back whole."""

from __future__ import annotations

import enum
import gc
import weakref
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import pytest

from dsh_prompt import (
    AsyncProviderError,
    Config,
    SystemPrompt,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from dsh_prompt import ChangeEvent, DisposableContext, Registration, Scope
    from dsh_prompt.layers.layers import Layer


def fail(error: BaseException) -> None:
    """Raise *error*."""
    raise error


@asynccontextmanager
async def silent() -> AsyncIterator[None]:
    """Do nothing, asynchronously."""
    yield


# Errors


def test_disposal_finishes_and_then_raises_what_a_cleanup_raised() -> None:
    """The others run, the contributions are gone, the one error comes out as it is."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    log: list[str] = []
    scope.section(name="a", order=1, text="gone")
    scope.callback(log.append, "first")
    scope.callback(fail, ValueError("mine"))
    scope.callback(log.append, "last")
    with pytest.raises(ValueError, match="mine"):
        scope.dispose()
    assert log == ["last", "first"]
    assert "gone" not in render_prompt(prompt.assemble(scope=scope))


def test_several_errors_are_raised_together() -> None:
    """An exception group holds them in the order in which they were raised."""
    prompt = SystemPrompt()
    first, second, third = ValueError("1"), TypeError("2"), KeyError("3")
    prompt.callback(fail, third)
    scope = prompt.create_scope("agent")
    scope.callback(fail, second)
    prompt.callback(fail, first)
    with pytest.raises(ExceptionGroup) as caught:
        prompt.dispose()
    assert caught.value.exceptions == (first, second, third)


def test_errors_of_cleanups_and_of_change_listeners_are_raised_together() -> None:
    """The listener is told when the cleanups have run, so its error comes last."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    scope.variable("a", "value")
    first, second = ValueError("1"), TypeError("2")
    scope.callback(fail, first)
    prompt.on_change(lambda event: fail(second))
    with pytest.raises(ExceptionGroup) as caught:
        scope.dispose()
    assert caught.value.exceptions == (first, second)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_in_a_cleanup_passes_through_with_the_state_whole(
    error: BaseException,
) -> None:
    """The other cleanups run, and the context is disposed."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    log: list[str] = []
    scope.variable("a", "value")
    scope.callback(log.append, "ran")
    scope.callback(fail, error)
    with pytest.raises(type(error)):
        scope.dispose()
    assert (log, prompt.assemble(scope=scope).variables) == (["ran"], {})


def test_an_interrupt_among_errors_is_in_the_group() -> None:
    """No error hides another."""
    prompt = SystemPrompt()
    prompt.callback(fail, ValueError("1"))
    prompt.callback(fail, KeyboardInterrupt())
    with pytest.raises(BaseExceptionGroup) as caught:
        prompt.dispose()
    assert [type(error) for error in caught.value.exceptions] == [KeyboardInterrupt, ValueError]


@pytest.mark.anyio
async def test_an_async_disposal_collects_errors_too() -> None:
    """What an async manager raises on leaving stands beside what a callback raises."""
    prompt = SystemPrompt()

    @asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        yield
        raise TypeError("2")

    prompt.callback(fail, ValueError("1"))
    await prompt.enter_async_context(manager())
    with pytest.raises(ExceptionGroup) as caught:
        await prompt.dispose_async()
    assert [type(error) for error in caught.value.exceptions] == [TypeError, ValueError]


# What is async


@pytest.mark.anyio
async def test_a_synchronous_disposal_refuses_what_is_async_before_changing_anything() -> None:
    """The error names the way, and everything stays as it was, for that way to work."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    log: list[str] = []
    events: list[ChangeEvent] = []
    scope.section(name="a", order=1, text="stays")
    scope.callback(log.append, "callback")
    await scope.enter_async_context(silent())
    prompt.on_change(events.append)
    with pytest.raises(AsyncProviderError, match=r"dispose_async\(\)"):
        scope.dispose()
    assert (log, events) == ([], [])
    assert "stays" in render_prompt(prompt.assemble(scope=scope))
    scope.variable("still", "active")
    await scope.dispose_async()
    assert log == ["callback"]


@pytest.mark.anyio
async def test_an_async_manager_of_a_scope_holds_up_the_owner_too() -> None:
    """Disposing a host synchronously is refused for what one of its scopes holds."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    await scope.enter_async_context(silent())
    with pytest.raises(AsyncProviderError, match=r"dispose_async\(\)"):
        prompt.dispose()
    assert len(prompt.assemble().sections) == 2
    await prompt.dispose_async()


@pytest.mark.parametrize("which", ["host", "scope"])
def test_the_error_names_the_twin_of_what_was_called(which: str) -> None:
    """Who disposes a scope or a host is sent to `dispose_async`, whatever is async in it."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")

    class Plugin:
        @hookimpl
        async def deactivate(self) -> None: ...

    prompt.load(Plugin(), scope=scope)
    with pytest.raises(AsyncProviderError, match=r"dispose_async\(\)"):
        (prompt if which == "host" else scope).dispose()


@pytest.mark.anyio
async def test_async_and_plain_cleanups_are_one_stack() -> None:
    """They run in reverse order of registration, each when the one before it is over."""
    prompt = SystemPrompt()
    log: list[str] = []

    @asynccontextmanager
    async def manager(name: str) -> AsyncIterator[None]:
        yield
        await anyio.lowlevel.checkpoint()
        log.append(name)

    prompt.callback(log.append, "first")
    await prompt.enter_async_context(manager("second"))
    prompt.callback(log.append, "third")
    await prompt.enter_async_context(manager("fourth"))
    await prompt.dispose_async()
    assert log == ["fourth", "third", "second", "first"]


# Waiting for assemblies


class Suspended:
    """A host whose assemblies wait in a variable until they are released."""

    def __init__(self) -> None:
        self.prompt = SystemPrompt()
        self.started = anyio.Event()
        self.release = anyio.Event()
        self.log: list[str] = []
        self.prompt.variable("slow", self.variable)

    async def variable(self) -> str:
        self.started.set()
        await self.release.wait()
        self.log.append("assembled")
        return ""

    def agent(self) -> Scope:
        scope = self.prompt.create_scope("agent")
        scope.tool({"name": "held"})
        scope.callback(self.log.append, "cleaned up")
        return scope


@pytest.mark.anyio
async def test_an_async_disposal_waits_for_the_assemblies_begun_before() -> None:
    """The contributions go at once, the cleanups run when those assemblies have ended."""
    world = Suspended()
    scope = world.agent()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.prompt.assemble_async)
        await world.started.wait()
        tasks.start_soon(scope.dispose_async)
        await anyio.wait_all_tasks_blocked()
        assert world.prompt.registry.schemas(scope) == []
        assert world.log == []
        world.release.set()
    assert world.log == ["assembled", "cleaned up"]


@pytest.mark.anyio
async def test_a_synchronous_disposal_does_not_wait() -> None:
    """Its cleanups run while the assembly is still under way."""
    world = Suspended()
    scope = world.agent()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.prompt.assemble_async)
        await world.started.wait()
        scope.dispose()
        assert world.log == ["cleaned up"]
        world.release.set()
    assert world.log == ["cleaned up", "assembled"]


@pytest.mark.anyio
async def test_an_async_disposal_does_not_wait_for_assemblies_begun_after_it() -> None:
    """They cannot see what is being disposed."""
    world, later = Suspended(), Suspended()
    scope, other = world.agent(), world.prompt.create_scope("other")
    other.variable("slow", later.variable)
    with anyio.fail_after(5):
        await _dispose_between(world, later, scope, other)
    assert (world.log, later.log) == (["assembled", "cleaned up"], ["assembled"])


async def _dispose_between(world: Suspended, later: Suspended, scope: Scope, other: Scope) -> None:
    """Dispose *scope* between an assembly and one for *other*, which waits for the cleanups."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.prompt.assemble_async)
        await world.started.wait()
        scope.callback(later.release.set)
        tasks.start_soon(scope.dispose_async)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(lambda: world.prompt.assemble_async(scope=other))
        await later.started.wait()
        world.release.set()


@pytest.mark.anyio
async def test_an_async_disposal_inside_an_assembly_does_not_wait_for_it() -> None:
    """It would wait for ever: the assembly waits for the provider that disposes."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    log: list[str] = []
    scope.callback(log.append, "cleaned up")

    async def variable() -> str:
        await scope.dispose_async()
        return ""

    prompt.variable("v", variable)
    with anyio.fail_after(5):
        await prompt.assemble_async(scope=scope)
    assert log == ["cleaned up"]


@pytest.mark.anyio
async def test_a_cancelled_disposal_is_not_left_half_done() -> None:
    """Whoever does not want to wait any longer has the cleanups run at once."""
    world = Suspended()
    scope = world.agent()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.prompt.assemble_async)
        await world.started.wait()
        with anyio.CancelScope() as cancelled:
            async with anyio.create_task_group() as inner:
                inner.start_soon(scope.dispose_async)
                await anyio.wait_all_tasks_blocked()
                cancelled.cancel()
        assert world.log == ["cleaned up"]
        world.release.set()


@pytest.mark.anyio
async def test_a_second_async_disposal_waits_for_the_first() -> None:
    """When either call has returned, the cleanups have run."""
    world = Suspended()
    scope = world.agent()

    async def dispose_and_note() -> None:
        await scope.dispose_async()
        world.log.append("returned")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.prompt.assemble_async)
        await world.started.wait()
        tasks.start_soon(dispose_and_note)
        tasks.start_soon(dispose_and_note)
        await anyio.wait_all_tasks_blocked()
        world.release.set()
    assert world.log == ["assembled", "cleaned up", "returned", "returned"]


# Nothing is left


def test_a_disposed_scope_is_garbage() -> None:
    """The host keeps no reference to it, though it was assembled for."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    scope.section(name="a", order=1, text="{{v}}")
    scope.variable("v", lambda: "value")
    prompt.assemble(scope=scope)
    scope.dispose()
    reference = weakref.ref(scope)
    del scope
    gc.collect()
    assert reference() is None


def test_a_disposed_scope_that_was_rebound_is_garbage() -> None:
    """Neither its present nor its former parent keeps a reference to it."""
    prompt = SystemPrompt()
    old, new = prompt.create_scope("old"), prompt.create_scope("new")
    scope = prompt.create_scope("agent", parent=old)
    prompt.assemble(scope=scope)
    scope.rebind(new)
    scope.dispose()
    reference = weakref.ref(scope)
    del scope
    gc.collect()
    assert reference() is None


def test_a_disposed_scope_below_one_that_was_rebound_is_garbage() -> None:
    """Also where its plan was outdated before: no former ancestor keeps a reference to it."""
    prompt = SystemPrompt()
    old, middle = prompt.create_scope("old"), prompt.create_scope("middle")
    middle.rebind(old)
    scope = prompt.create_scope("agent", parent=middle)
    prompt.assemble(scope=scope)
    middle.variable("v", "outdates the plan")
    middle.rebind(None)
    scope.dispose()
    reference = weakref.ref(scope)
    del scope
    gc.collect()
    assert reference() is None


@contextmanager
def no_garbage_collector() -> Iterator[None]:
    """Switch it off, as some processes do."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def register_provider(owner: DisposableContext) -> tuple[Registration, weakref.ref[Any]]:
    """Register a section with a provider that nobody else holds."""

    def provider() -> str:
        return ""

    return owner.section(name="a", order=1, text=provider), weakref.ref(provider)


def test_the_next_assembly_lets_go_of_what_was_withdrawn() -> None:
    """It does not take the garbage collector."""
    prompt = SystemPrompt()
    registration, provider = register_provider(prompt)
    prompt.assemble()
    with no_garbage_collector():
        registration.dispose()
        prompt.assemble()
        assert provider() is None


def test_a_disposed_host_lets_go_of_what_was_contributed() -> None:
    """At once, since no assembly comes after that."""
    prompt = SystemPrompt()
    _, provider = register_provider(prompt)
    prompt.assemble()
    with no_garbage_collector():
        prompt.dispose()
        assert provider() is None


def test_nothing_of_a_name_stays() -> None:
    """A name may be the member of a plugin's enum."""

    class Name(enum.StrEnum):
        BRANCH = "branch"

    prompt = SystemPrompt()
    prompt.variable(Name.BRANCH, "main")
    prompt.assemble()
    prompt.dispose()
    reference = weakref.ref(Name)
    del Name
    gc.collect()
    assert reference() is None


def test_what_a_finalizer_disposes_of_while_a_plan_is_made_is_left_out() -> None:
    """The garbage collector may run anywhere; an order that compares stands for it here."""

    class Order(float):
        def __lt__(self, other: object) -> bool:
            going.dispose()
            return float(self) < other  # type: ignore[operator]

    prompt = SystemPrompt(Config(include_harness_identity=False))
    going = prompt.section(name="going", order=1, text="going")
    prompt.section(name="b", order=Order(2), text="b")
    prompt.section(name="c", order=Order(3), text="c")
    assembly = prompt.assemble()
    assert [section.text for section in assembly.sections if section.text] == ["b", "c"]
    assert assembly.generation == prompt.assemble().generation


def test_a_change_while_a_plan_is_put_in_place_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever the garbage collector runs: a step on the way there stands for it."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    registration = prompt.section(name="going", order=1, text="going")
    layers, keep = prompt._layers, prompt._layers.keep_plan

    def keep_after_disposing(layer: Layer, plan: Any) -> bool:
        registration.dispose()
        return keep(layer, plan)

    monkeypatch.setattr(layers, "keep_plan", keep_after_disposing)
    assert render_prompt(prompt.assemble()) == ""
    monkeypatch.undo()
    assert render_prompt(prompt.assemble()) == ""


def test_a_scope_is_rebound_while_finalizers_dispose_of_others() -> None:
    """The garbage collector may run anywhere."""
    prompt = SystemPrompt()
    team, other = prompt.create_scope("team"), prompt.create_scope("other")
    mover = prompt.create_scope("mover", team)

    class Agent:
        def __init__(self) -> None:
            self.cycle = self
            self.scope = prompt.create_scope("agent", team)
            prompt.assemble(scope=self.scope)

        def __del__(self) -> None:
            self.scope.dispose()

    thresholds = gc.get_threshold()
    try:
        for number in range(240):
            gc.disable()
            for _ in range(6):
                Agent()
            prompt.assemble(scope=mover)
            gc.set_threshold(gc.get_count()[0] + 1 + number % 60, 1000, 1000)
            gc.enable()
            mover.rebind(other)
            assert mover.parent is other
            gc.disable()
            mover.rebind(None)
            mover.rebind(team)
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()


def test_disposing_a_scope_lets_go_of_what_was_withdrawn_before() -> None:
    """Its outdated plan goes with it, though no other will take its place."""
    scope = SystemPrompt().create_scope("agent")
    registration, provider = register_provider(scope)
    scope.host.assemble(scope=scope)
    with no_garbage_collector():
        registration.dispose()
        scope.dispose()
        assert provider() is None


def test_a_withdrawn_registration_holds_nothing() -> None:
    """Whoever keeps the undo does not keep the provider alive."""
    prompt = SystemPrompt()

    class Provider:
        def __call__(self) -> str:
            return ""

    provider = Provider()
    registration = prompt.section(name="a", order=1, text=provider)
    prompt.assemble()
    registration()
    reference = weakref.ref(provider)
    del provider
    gc.collect()
    assert reference() is None
    assert repr(registration)


def test_a_registration_of_a_disposed_owner_is_harmless() -> None:
    """The owner took it back already."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    registration = scope.variable("a", "value")
    scope.dispose()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    registration()
    assert events == []


def test_a_registration_says_what_it_registered() -> None:
    """Its repr names kind and name."""
    registration = SystemPrompt().section(name="rules", order=1, text="SECRET")
    assert "section 'rules'" in repr(registration)
    assert "SECRET" not in repr(registration)
