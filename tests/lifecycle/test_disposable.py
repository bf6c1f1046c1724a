"""Disposable contexts: what hosts, scopes and plugins share beside their contributions."""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import pytest

from dsh_prompt import (
    DisposableContext,
    DisposedError,
    InvalidContributionError,
    Scope,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

#: Everything that can be registered or owned, to be refused by a context that is gone.
WAYS: dict[str, Callable[[DisposableContext], object]] = {
    "section": lambda ctx: ctx.section(name="x", order=1, text="text"),
    "context": lambda ctx: ctx.context(name="x", order=1, text="text"),
    "tools": lambda ctx: ctx.tools(list),
    "tool": lambda ctx: ctx.tool({"name": "x"}),
    "variable": lambda ctx: ctx.variable("x", "value"),
    "suppress_runtime_context": lambda ctx: ctx.suppress_runtime_context(),
    "on_assemble": lambda ctx: ctx.on_assemble(lambda assembly: None),
    "on_change": lambda ctx: ctx.on_change(print),
    "callback": lambda ctx: ctx.callback(print),
    "enter_context": lambda ctx: ctx.enter_context(ExitStack()),
    "create_scope": lambda ctx: ctx.create_scope("x"),
}

every_way = pytest.mark.parametrize("register", WAYS.values(), ids=WAYS)


def plugin_context(prompt: SystemPrompt, scope: Scope | None = None) -> DisposableContext:
    """Load a plugin and give its context."""
    contexts: list[DisposableContext] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            contexts.append(ctx)

    prompt.load(Plugin(), name="plugin", scope=scope)
    return contexts[0]


#: The three that share the registering interface, each of a host of its own.
CONTEXTS: dict[str, Callable[[], DisposableContext]] = {
    "host": SystemPrompt,
    "scope": lambda: SystemPrompt().create_scope("agent"),
    "plugin": lambda: plugin_context(SystemPrompt()),
}

every_context = pytest.mark.parametrize("make", CONTEXTS.values(), ids=CONTEXTS)


@every_context
def test_hosts_scopes_and_plugins_share_the_interface(
    make: Callable[[], DisposableContext],
) -> None:
    """Each is a `DisposableContext`, through which everything can be registered."""
    ctx = make()
    assert isinstance(ctx, DisposableContext)
    for register in WAYS.values():
        register(ctx)


def test_a_context_knows_its_host_and_scope() -> None:
    """The global level has no scope; a plugin's is the one that it was loaded into."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    assert (prompt.host, prompt.scope) == (prompt, None)
    assert (scope.host, scope.scope) == (prompt, scope)
    plugin = plugin_context(prompt)
    assert (plugin.host, plugin.scope) == (prompt, None)
    scoped = plugin_context(prompt, scope)
    assert (scoped.host, scoped.scope) == (prompt, scope)


def test_a_host_and_a_scope_are_no_plugins_and_have_no_plugin_config() -> None:
    """`plugin` and `config` of a context are for plugins; a host has its own config."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    assert (prompt.plugin, scope.plugin, dict(scope.config)) == (None, None, {})


@every_context
@every_way
def test_a_disposed_context_takes_nothing_any_more(
    make: Callable[[], DisposableContext], register: Callable[[DisposableContext], object]
) -> None:
    """Registering, owning and creating all raise `DisposedError`, which says who is gone."""
    ctx = make()
    ctx.dispose()
    with pytest.raises(DisposedError, match="disposed"):
        register(ctx)


@every_context
@every_way
def test_a_context_takes_nothing_while_it_is_being_disposed(
    make: Callable[[], DisposableContext], register: Callable[[DisposableContext], object]
) -> None:
    """A cleanup that registers gets the error too."""
    ctx = make()
    seen: list[type] = []

    def cleanup() -> None:
        with pytest.raises(DisposedError) as caught:
            register(ctx)
        seen.append(caught.type)

    ctx.callback(cleanup)
    ctx.dispose()
    assert seen == [DisposedError]


@pytest.mark.parametrize("name", ["host", "scope"])
def test_nothing_is_loaded_into_a_disposed_context(name: str) -> None:
    """Loading is registering: it raises `DisposedError`, and no plugin is left."""
    ctx = CONTEXTS[name]()
    prompt = ctx.host
    ctx.dispose()
    with pytest.raises(DisposedError):
        plugin_context(prompt, ctx.scope)
    assert prompt.plugins == []


@every_context
def test_a_context_manager_is_never_entered_by_a_disposed_context(
    make: Callable[[], DisposableContext],
) -> None:
    """It is refused before it begins, so that there is nothing to leave."""
    ctx = make()
    log: list[str] = []

    @contextmanager
    def manager() -> Iterator[None]:
        log.append("entered")
        yield

    ctx.dispose()
    with pytest.raises(DisposedError):
        ctx.enter_context(manager())
    assert log == []


def test_a_manager_whose_context_is_disposed_while_it_enters_is_left_again() -> None:
    """The error tells that it was not kept."""
    scope = SystemPrompt().create_scope("agent")
    log: list[str] = []

    @contextmanager
    def manager() -> Iterator[None]:
        scope.dispose()
        try:
            yield
        finally:
            log.append("left")

    with pytest.raises(DisposedError):
        scope.enter_context(manager())
    assert log == ["left"]


# Cleanups


def fail_with_cleanup(ctx: DisposableContext, calls: list[int]) -> None:
    """Register a cleanup that notes its call, then fail."""
    ctx.callback(calls.append, 2)
    raise ValueError("mine")


def test_a_callback_is_called_with_its_arguments_at_disposal() -> None:
    """`callback` gives the function back, as an exit stack does."""
    prompt = SystemPrompt()
    calls: list[tuple[object, ...]] = []

    def cleanup(*args: object, **kwargs: object) -> None:
        calls.append((*args, kwargs))

    assert prompt.callback(cleanup, 1, two=2) is cleanup
    assert calls == []
    prompt.dispose()
    assert calls == [(1, {"two": 2})]


def test_a_callback_works_as_a_decorator() -> None:
    """Since it gives the function back, the name stays bound to it."""
    prompt = SystemPrompt()
    calls: list[str] = []

    @prompt.callback
    def cleanup() -> None:
        calls.append("cleanup")

    prompt.dispose()
    cleanup()
    assert calls == ["cleanup", "cleanup"]


async def _async() -> None: ...


@pytest.mark.parametrize("function", [None, 5, _async])
def test_a_callback_that_cannot_be_called_is_refused(function: Any) -> None:
    """An async function too, with the way to clean up asynchronously."""
    with pytest.raises(InvalidContributionError, match="enter_async_context"):
        SystemPrompt().callback(function)


@pytest.mark.parametrize("listener", [None, 5, _async])
def test_a_change_listener_is_a_plain_function(listener: Any) -> None:
    """Anything else is refused where it is registered."""
    with pytest.raises(InvalidContributionError, match="plain function"):
        SystemPrompt().on_change(listener)


def test_a_context_manager_is_entered_at_once_and_left_at_disposal() -> None:
    """`enter_context` gives what the manager gives."""
    prompt = SystemPrompt()
    log: list[str] = []

    @contextmanager
    def manager() -> Iterator[str]:
        log.append("entered")
        yield "value"
        log.append("left")

    assert prompt.enter_context(manager()) == "value"
    assert log == ["entered"]
    prompt.dispose()
    assert log == ["entered", "left"]


def test_a_manager_that_fails_to_enter_is_not_left() -> None:
    """Its own error comes out, and disposal knows nothing of it."""
    prompt = SystemPrompt()

    @contextmanager
    def manager() -> Iterator[None]:
        fail_with_cleanup(prompt, [])
        yield

    with pytest.raises(ValueError, match="mine"):
        prompt.enter_context(manager())
    prompt.dispose()


def test_cleanups_run_in_reverse_order_of_registration() -> None:
    """Callbacks, context managers and scopes are one stack."""
    prompt = SystemPrompt()
    log: list[str] = []
    prompt.callback(log.append, "first")
    scope = prompt.create_scope("agent")
    scope.callback(log.append, "scope first")
    prompt.enter_context(ExitStack()).callback(log.append, "manager")
    scope.callback(log.append, "scope last")
    prompt.callback(log.append, "last")
    prompt.dispose()
    assert log == ["last", "manager", "scope last", "scope first", "first"]


# The two ways to end


@every_context
def test_disposing_twice_is_harmless(make: Callable[[], DisposableContext]) -> None:
    """The second call finds nothing to do."""
    ctx = make()
    calls: list[int] = []
    ctx.callback(calls.append, 1)
    ctx.dispose()
    ctx.dispose()
    assert calls == [1]


@pytest.mark.anyio
@every_context
async def test_disposing_twice_is_harmless_in_either_way(
    make: Callable[[], DisposableContext],
) -> None:
    """`dispose` and `dispose_async` may follow each other."""
    ctx = make()
    calls: list[int] = []
    ctx.callback(calls.append, 1)
    await ctx.dispose_async()
    ctx.dispose()
    await ctx.dispose_async()
    assert calls == [1]


@every_context
def test_a_cleanup_may_dispose_its_own_context(make: Callable[[], DisposableContext]) -> None:
    """It is being disposed already, so nothing happens twice."""
    ctx = make()
    calls: list[int] = []
    ctx.callback(calls.append, 1)
    ctx.callback(ctx.dispose)
    ctx.dispose()
    assert calls == [1]


@every_context
def test_a_context_is_a_context_manager(make: Callable[[], DisposableContext]) -> None:
    """Leaving it disposes it, also with an error, which passes."""
    calls: list[int] = []
    with make() as ctx:
        ctx.callback(calls.append, 1)
    with pytest.raises(ValueError, match="mine"), make() as ctx:
        fail_with_cleanup(ctx, calls)
    assert calls == [1, 2]


@pytest.mark.anyio
@every_context
async def test_a_context_is_an_async_context_manager(make: Callable[[], DisposableContext]) -> None:
    """Leaving it disposes it with what is async."""
    log: list[str] = []

    @asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        yield
        log.append("left")

    async with make() as ctx:
        await ctx.enter_async_context(manager())
    assert log == ["left"]
    with pytest.raises(DisposedError):
        ctx.variable("x", "value")


@pytest.mark.anyio
async def test_an_async_manager_is_refused_by_a_disposed_context() -> None:
    """It is never entered."""
    scope = SystemPrompt().create_scope("agent")
    log: list[str] = []

    @asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        log.append("entered")
        yield

    scope.dispose()
    with pytest.raises(DisposedError):
        await scope.enter_async_context(manager())
    assert log == []


@pytest.mark.anyio
async def test_an_async_manager_whose_context_is_disposed_meanwhile_is_left_again() -> None:
    """The error tells that it was not kept."""
    scope = SystemPrompt().create_scope("agent")
    log: list[str] = []

    @asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        await anyio.lowlevel.checkpoint()
        scope.dispose()
        yield
        log.append("left")

    with pytest.raises(DisposedError):
        await scope.enter_async_context(manager())
    assert log == ["left"]


def test_a_disposed_host_is_spent() -> None:
    """Its plugins are unloaded, and it assembles nothing any more."""
    prompt = SystemPrompt()
    plugin_context(prompt)
    prompt.dispose()
    assert prompt.plugins == []
    with pytest.raises(DisposedError):
        prompt.assemble()


def test_the_error_of_a_disposed_context_names_its_owner() -> None:
    """Whoever reads it knows which plugin went on registering."""
    ctx = plugin_context(SystemPrompt())
    ctx.dispose()
    with pytest.raises(DisposedError, match='plugin "plugin"'):
        ctx.variable("x", "value")


@every_context
def test_the_repr_of_a_context_says_what_it_is(make: Callable[[], DisposableContext]) -> None:
    """Short, and without a dump of what it holds."""
    ctx = make()
    ctx.section(name="a", order=1, text="SECRET")
    assert type(ctx).__name__ in repr(ctx)
    assert "SECRET" not in repr(ctx)
