"""Two ways in: with and without an event loop, side by side, in threads, within time."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import pytest
import trio.testing

from dsh_prompt import (
    AssembleContext,
    AssembledSection,
    AssemblyCancelledError,
    AsyncProviderError,
    Config,
    PromptAssembly,
    ProviderError,
    RuntimeState,
    SystemPrompt,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

    from dsh_prompt import AsyncCallNext, DisposableContext, Registration

every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])

#: What registers a provider of each kind.
REGISTER: dict[str, Callable[[DisposableContext, Any], Registration]] = {
    "section": lambda ctx, text: ctx.section(name="x", order=1, text=text),
    "context": lambda ctx, text: ctx.context(name="x", order=1, text=text),
    "variable": lambda ctx, value: ctx.variable("x", value),
    "tool provider": lambda ctx, tools: ctx.tools(tools),
    "when of section": lambda ctx, when: ctx.section(name="x", order=1, text="", when=when),
    "when of context": lambda ctx, when: ctx.context(name="x", order=1, text="", when=when),
}
every_kind = pytest.mark.parametrize("kind", REGISTER)


def run(main: Callable[[], Coroutine[Any, Any, Any]], backend: str) -> Any:
    """Run *main*, and fail rather than wait forever."""

    async def limited() -> Any:
        with anyio.fail_after(10):
            return await main()

    return anyio.run(limited, backend=backend)


@contextmanager
def all_awaited() -> Iterator[None]:
    """Fail where a coroutine is thrown away, neither awaited nor closed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect(1)
    assert [str(warning.message) for warning in caught] == []


async def give(value: Any) -> Any:
    """Give *value*, at the next turn of the loop."""
    await anyio.lowlevel.checkpoint()
    return value


def add_two(prompt: SystemPrompt, one: Callable[[], Any], two: Callable[[], Any]) -> None:
    """Register two sections, *one* before *two*."""
    prompt.section(name="one", order=1, text=one)
    prompt.section(name="two", order=2, text=two)


# The same either way


class Everything:
    """A plugin that contributes and changes something of every kind."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.section(name="rules", order=10, text=self.rules, title="Rules")
        ctx.section(name="hidden", order=11, text="hidden", when=lambda context: context.scope)
        ctx.context(name="state", order=1, text="in {{cwd}}", requires_tools=["read"])
        ctx.variable("cwd", lambda context: context.state.workdir)
        ctx.tools(lambda: [{"name": "read"}, {"name": "write"}])

    def rules(self) -> str:
        return "Stay in {{cwd}}."

    @hookimpl(trylast=True)
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        assembly.deny("write", "read-only")
        assembly.sections.append(AssembledSection("late", "Late."))


@every_backend
def test_both_ways_give_the_same_assembly(backend: str) -> None:
    """One pipeline: an assembly does not depend on how it was asked for."""
    prompt = SystemPrompt()
    prompt.load(Everything())
    state = RuntimeState(workdir="/srv")
    one = prompt.assemble(state=state)
    two = anyio.run(partial(prompt.assemble_async, state=state), backend=backend)
    assert one == two
    assert one.to_dict() == two.to_dict()
    assert one.fingerprint() == two.fingerprint()


@every_backend
def test_an_assembly_may_be_synchronous_inside_an_event_loop(backend: str) -> None:
    """assemble() needs no loop, and does not mind one."""
    prompt = SystemPrompt()

    async def main() -> bool:
        return prompt.assemble() == await prompt.assemble_async()

    assert run(main, backend)


@pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])
def test_a_context_and_its_parts_are_not_given_together(way: str) -> None:
    """Either a context, or scope and state: both is a TypeError, either way."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    options: list[dict[str, Any]] = [{"scope": scope}, {"state": RuntimeState()}]
    for option in options:
        in_loop = partial(prompt.assemble_async, AssembleContext(), **option)
        call: Callable[[], Any] = partial(anyio.run, in_loop, backend=way)
        if way == "sync":
            call = partial(prompt.assemble, AssembleContext(), **option)
        with pytest.raises(TypeError, match="not both"):
            call()


# Without an event loop


@every_kind
@pytest.mark.parametrize("style", ["async def", "def", "callable", "partial"])
def test_an_async_provider_is_refused_when_it_is_reached(kind: str, style: str) -> None:
    """assemble() names kind, name and plugin; a ``def`` that gives an awaitable counts too."""

    class Callable_:  # noqa: N801 - the name of a class is not the point
        async def __call__(self) -> Any:
            return await give(())

    styles: dict[str, object] = {
        "async def": Callable_().__call__,
        "def": lambda: give(()),
        "callable": Callable_(),
        "partial": partial(give, ()),
    }

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            REGISTER[kind](ctx, styles[style])

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="async")
    match = rf'^{kind} ".+" of plugin "async" is async; use assemble_async\(\)$'
    with all_awaited(), pytest.raises(AsyncProviderError, match=match):
        prompt.assemble()


def test_an_awaitable_that_is_no_coroutine_counts_as_async() -> None:
    """Futures and other objects with ``__await__`` as well."""

    class Later:
        def __await__(self) -> Iterator[Any]:
            return iter(())

    prompt = SystemPrompt()
    prompt.variable("x", Later)
    with pytest.raises(AsyncProviderError, match='variable "x"'):
        prompt.assemble()


def test_an_async_provider_that_is_not_reached_is_no_error() -> None:
    """Shadowed, suppressed, left out by ``when``, or behind an earlier failure."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.section(name="shadowed", order=1, text=lambda: give(""))
    scope.section(name="shadowed", order=1, text="near")
    scope.section(name="left out", order=2, text=lambda: give(""), when=lambda: False)
    scope.context(name="suppressed", order=1, text=lambda: give(""), when=lambda: give(True))
    scope.suppress_runtime_context()
    assert render_prompt(prompt.assemble(scope=scope)).endswith("near")
    scope.section(name="broken", order=3, text=lambda: str(1 / 0))
    scope.section(name="after", order=4, text=lambda: give(""))
    with pytest.raises(ProviderError, match='"broken"'):
        prompt.assemble(scope=scope)


# Side by side


@every_kind
@every_backend
def test_every_kind_of_provider_may_be_async(kind: str, backend: str) -> None:
    """Under assemble_async it is awaited, and its result is checked as any other."""
    prompt = SystemPrompt()
    REGISTER[kind](prompt, lambda: give(() if kind == "tool provider" else "text"))
    anyio.run(prompt.assemble_async, backend=backend)


@every_backend
def test_async_providers_of_a_step_run_side_by_side(backend: str) -> None:
    """Each can wait for the other, and the results keep the order of the sections."""

    async def main() -> list[str]:
        prompt, first, second = SystemPrompt(), anyio.Event(), anyio.Event()

        async def one() -> str:
            first.set()
            await second.wait()
            return "one"

        async def two() -> str:
            await first.wait()
            second.set()
            return "two"

        add_two(prompt, one, two)
        prompt.section(name="between", order=1.5, text=lambda: "between")
        return [section.text for section in (await prompt.assemble_async()).sections[2:]]

    assert run(main, backend) == ["one", "between", "two"]


@every_backend
def test_tool_and_variable_providers_run_side_by_side(backend: str) -> None:
    """Those of one step, whichever layer they belong to."""

    async def main() -> PromptAssembly:
        prompt, first, second = SystemPrompt(), anyio.Event(), anyio.Event()
        scope = prompt.create_scope("agent")

        async def waits(mine: anyio.Event, other: anyio.Event, value: Any) -> Any:
            mine.set()
            await other.wait()
            return value

        prompt.variable("a", lambda: waits(first, second, "a"))
        scope.variable("b", lambda: waits(second, first, "b"))
        third, fourth = anyio.Event(), anyio.Event()
        prompt.tools(lambda: waits(third, fourth, [{"name": "a"}]))
        scope.tools(lambda: waits(fourth, third, [{"name": "b"}]))
        return await prompt.assemble_async(scope=scope)

    assembly: PromptAssembly = run(main, backend)
    assert assembly.variables == {"a": "a", "b": "b"}
    assert [tool.name for tool in assembly.tools] == ["a", "b"]


@every_backend
def test_the_whens_of_sections_and_contexts_run_side_by_side(backend: str) -> None:
    """They are one step."""

    async def main() -> None:
        prompt, asked = SystemPrompt(), anyio.Event()

        async def section_when() -> bool:
            await asked.wait()
            return True

        async def context_when() -> bool:
            asked.set()
            return True

        prompt.section(name="x", order=1, text="", when=section_when)
        prompt.context(name="x", order=1, text="", when=context_when)
        with anyio.move_on_after(0.1) as scope:
            await prompt.assemble_async()
        assert not scope.cancelled_caught

    run(main, backend)


@every_backend
def test_a_step_ends_before_the_next_begins(backend: str) -> None:
    """A section's provider sees what all variables' providers have done."""
    done: list[str] = []

    async def variable() -> str:
        await anyio.lowlevel.checkpoint()
        done.append("variable")
        return ""

    async def section() -> str:
        done.append("section")
        return ""

    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=section)
    prompt.variable("x", variable)
    anyio.run(prompt.assemble_async, backend=backend)
    assert done == ["variable", "section"]


@every_backend
def test_a_failure_cancels_what_comes_after_it_only(backend: str) -> None:
    """Those before it finish, those after it are cancelled, and no coroutine is left over."""
    events: list[str] = []

    async def main() -> None:
        prompt, failed = SystemPrompt(), anyio.Event()

        async def before() -> str:
            await failed.wait()
            await anyio.lowlevel.checkpoint()
            events.append("before finished")
            return ""

        async def fails() -> str:
            await anyio.lowlevel.checkpoint()
            failed.set()
            raise ValueError("broken")

        async def after() -> str:
            try:
                await anyio.sleep_forever()
            finally:
                events.append("after cancelled")
            return ""

        add_two(prompt, before, fails)
        prompt.section(name="three", order=3, text=after)
        await prompt.assemble_async()

    with all_awaited(), pytest.raises(ProviderError, match='section "two"'):
        run(main, backend)
    assert sorted(events) == ["after cancelled", "before finished"]


@every_backend
def test_the_first_failure_in_order_is_reported_whenever_it_happens(backend: str) -> None:
    """A later section that fails earlier does not get in front."""

    async def main() -> None:
        prompt, failed = SystemPrompt(), anyio.Event()

        async def late() -> str:
            await failed.wait()
            raise ValueError("late")

        async def early() -> str:
            failed.set()
            raise ValueError("early")

        add_two(prompt, late, early)
        await prompt.assemble_async()

    with pytest.raises(ProviderError, match='section "one" of the host raised ValueError: late'):
        run(main, backend)


@every_backend
@pytest.mark.parametrize("first", ["async def", "def"])
def test_a_plain_failure_lets_async_ones_before_it_finish(first: str, backend: str) -> None:
    """Should one of them fail too, it comes first; otherwise the plain failure is reported."""
    finished: list[str] = []

    async def finishes() -> str:
        await anyio.lowlevel.checkpoint()
        finished.append("yes")
        return ""

    prompt = SystemPrompt()
    one: Any = finishes if first == "async def" else lambda: finishes()  # noqa: PLW0108
    add_two(prompt, one, lambda: 1 / 0)
    prompt.section(name="three", order=3, text=lambda: give(""))
    with all_awaited(), pytest.raises(ProviderError, match='section "two"'):
        anyio.run(prompt.assemble_async, backend=backend)
    assert finished == ["yes"]


@every_backend
def test_providers_that_never_began_are_not_left_unawaited(backend: str) -> None:
    """Coroutines that were made before the first one failed are closed."""
    prompt = SystemPrompt()

    async def fails() -> str:
        raise ValueError("broken")

    add_two(prompt, lambda: fails(), lambda: give(""))  # noqa: PLW0108 - no coroutine function
    prompt.section(name="three", order=3, text=lambda: "", blocking=True)
    with all_awaited(), pytest.raises(ProviderError, match='section "one"'):
        anyio.run(prompt.assemble_async, backend=backend)


def test_a_provider_that_waits_for_something_cancelled_fails() -> None:
    """A future that somebody else cancelled does not cancel the assembly, nor pass unnoticed."""

    async def waits() -> str:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        return str(await future)

    prompt = SystemPrompt()
    add_two(prompt, waits, lambda: give("two"))
    with pytest.raises(ProviderError, match='section "one" of the host'):
        anyio.run(prompt.assemble_async, backend="asyncio")


def test_who_waits_for_something_cancelled_is_the_one_named() -> None:
    """Those before it in order finish, as with any other failure."""
    finished: list[str] = []

    async def innocent() -> str:
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        finished.append("yes")
        return ""

    async def waits() -> str:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        return str(await future)

    prompt = SystemPrompt()
    add_two(prompt, innocent, waits)
    with pytest.raises(ProviderError, match='section "two" of the host'):
        anyio.run(prompt.assemble_async, backend="asyncio")
    assert finished == ["yes"]


@every_backend
def test_assemblies_may_run_side_by_side(backend: str) -> None:
    """Several assemblies of one host in several tasks do not disturb each other."""
    results: list[str] = []

    async def main() -> None:
        prompt = SystemPrompt()
        prompt.variable("who", lambda context: give(context.state.task))
        prompt.section(name="x", order=1, text="{{who}}")

        async def one(task: str) -> None:
            assembly = await prompt.assemble_async(state=RuntimeState(task=task))
            results.append(render_prompt(assembly)[-1])

        async with anyio.create_task_group() as group:
            for task in "abc":
                group.start_soon(one, task)

    run(main, backend)
    assert sorted(results) == ["a", "b", "c"]


# Threads


@every_backend
@pytest.mark.parametrize("kind", ["section", "context", "variable", "tools"])
def test_a_blocking_provider_runs_in_a_worker_thread(kind: str, backend: str) -> None:
    """Under assemble_async; assemble() calls it where it is."""
    threads: list[int] = []

    def provider() -> Any:
        threads.append(threading.get_ident())
        return () if kind == "tools" else ""

    prompt = SystemPrompt()
    if kind in {"section", "context"}:
        getattr(prompt, kind)(name="x", order=1, text=provider, blocking=True)
    else:
        arguments = ("x", provider) if kind == "variable" else (provider,)
        getattr(prompt, kind)(*arguments, blocking=True)
    anyio.run(prompt.assemble_async, backend=backend)
    prompt.assemble()
    assert threads[0] != threading.get_ident()
    assert threads[1] == threading.get_ident()


@every_backend
def test_blocking_providers_run_side_by_side(backend: str) -> None:
    """Each in a thread of its own."""
    barrier = threading.Barrier(2, timeout=10)

    def blocks() -> str:
        barrier.wait()
        return "met"

    prompt = SystemPrompt()
    prompt.section(name="one", order=1, text=blocks, blocking=True)
    prompt.section(name="two", order=2, text=blocks, blocking=True)
    assembly = anyio.run(prompt.assemble_async, backend=backend)
    assert [section.text for section in assembly.sections[2:]] == ["met", "met"]


@every_backend
def test_an_async_provider_that_is_called_blocking_stays_in_the_loop(backend: str) -> None:
    """An ``async def`` needs no thread."""
    threads: list[int] = []

    async def provider() -> str:
        threads.append(threading.get_ident())
        return ""

    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=provider, blocking=True)
    anyio.run(prompt.assemble_async, backend=backend)
    assert threads == [threading.get_ident()]


@every_backend
def test_a_blocking_def_that_returns_an_awaitable_counts_as_async(backend: str) -> None:
    """What a worker thread brings back is awaited, if it can be."""
    made: list[Any] = []

    def provider() -> Any:
        made.append(give("text"))
        return made[0]

    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=provider, blocking=True)
    try:
        assembly = anyio.run(prompt.assemble_async, backend=backend)
        assert assembly.sections[-1].text == "text"
    finally:
        made[0].close()


# Cancelling


@every_backend
def test_a_cancelled_task_cancels_its_assembly_and_nothing_else(backend: str) -> None:
    """The providers under way are cancelled; what is registered stays, and works."""
    cancelled: list[str] = []

    async def main() -> PromptAssembly:
        prompt, started = SystemPrompt(), anyio.Event()

        async def waits() -> str:
            if started.is_set():
                return "text"
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.append("yes")
            return ""

        prompt.section(name="x", order=1, text=waits)
        async with anyio.create_task_group() as group:
            group.start_soon(prompt.assemble_async)
            await started.wait()
            group.cancel_scope.cancel()
        return await prompt.assemble_async()

    assert run(main, backend).sections[-1].text == "text"
    assert cancelled == ["yes"]


@every_backend
def test_a_task_that_is_cancelled_beforehand_leaves_nothing_unawaited(backend: str) -> None:
    """Providers that never ran are closed."""

    async def main() -> None:
        prompt = SystemPrompt()
        add_two(prompt, lambda: give(""), lambda: give(""))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await prompt.assemble_async()

    with all_awaited():
        run(main, backend)


@every_backend
def test_a_cancelled_task_leaves_the_listener_it_is_in(backend: str) -> None:
    """Async listeners are cancelled as providers are, wrappers around them closed."""
    events: list[str] = []

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Any:
            try:
                return (yield)
            finally:
                events.append("wrapper")

    async def main() -> None:
        prompt, started = SystemPrompt(), anyio.Event()

        async def waits() -> None:
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                events.append("listener")

        prompt.load(Wrapper())
        prompt.on_assemble(waits)
        async with anyio.create_task_group() as group:
            group.start_soon(prompt.assemble_async)
            await started.wait()
            group.cancel_scope.cancel()

    run(main, backend)
    assert events == ["listener", "wrapper"]


@every_backend
def test_the_cancel_event_is_checked_among_async_providers(backend: str) -> None:
    """One that is set while they are called keeps the later ones from being called."""
    called: list[str] = []
    cancel = threading.Event()

    async def first() -> str:
        called.append("first")
        return ""

    def second() -> str:
        cancel.set()
        return ""

    prompt = SystemPrompt()
    add_two(prompt, first, second)
    third: Any = partial(called.append, "third")
    prompt.section(name="three", order=3, text=third)
    assemble = partial(prompt.assemble_async, AssembleContext(cancel=cancel))
    with all_awaited(), pytest.raises(AssemblyCancelledError):
        anyio.run(assemble, backend=backend)
    assert "third" not in called


@every_backend
def test_a_cancel_event_set_by_an_awaitable_leaves_nothing_unawaited(backend: str) -> None:
    """A coroutine that was handed out just before the event is closed."""
    cancel = threading.Event()

    def hands_out() -> Awaitable[str]:
        cancel.set()
        return give("")

    prompt = SystemPrompt()
    add_two(prompt, hands_out, lambda: give(""))
    assemble = partial(prompt.assemble_async, AssembleContext(cancel=cancel))
    with all_awaited(), pytest.raises(AssemblyCancelledError):
        anyio.run(assemble, backend=backend)


# hook_timeout


def timed(seconds: float) -> SystemPrompt:
    """Make a host whose hooks have *seconds*."""
    return SystemPrompt(Config(hook_timeout=seconds))


@every_kind
@every_backend
def test_hook_timeout_bounds_async_providers(kind: str, backend: str) -> None:
    """Past it, a ProviderError names the provider, the plugin and the setting."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            REGISTER[kind](ctx, anyio.sleep_forever)

    prompt = timed(0.01)
    prompt.load(Plugin(), name="slow")
    match = rf'^{kind} ".+" of plugin "slow" took longer than hook_timeout \(0.01 s\)'
    with pytest.raises(ProviderError, match=match) as caught:
        anyio.run(prompt.assemble_async, backend=backend)
    assert (caught.value.kind, caught.value.plugin) == (kind, "slow")


@every_backend
def test_hook_timeout_bounds_a_def_that_returns_an_awaitable(backend: str) -> None:
    """It counts as async here too."""
    prompt = timed(0.01)
    prompt.variable("x", lambda: anyio.sleep_forever())  # noqa: PLW0108 - no coroutine function
    with pytest.raises(ProviderError, match=r'variable "x" of the host took longer than hook_tim'):
        anyio.run(prompt.assemble_async, backend=backend)


@every_backend
def test_hook_timeout_bounds_blocking_providers(backend: str) -> None:
    """The assembly goes on without the thread, which nobody can stop."""
    prompt, release = timed(0.01), threading.Event()

    def blocks() -> str:
        release.wait(10)
        return ""

    async def main() -> None:
        try:
            await prompt.assemble_async()
        finally:
            release.set()

    prompt.section(name="x", order=1, text=blocks, blocking=True)
    with pytest.raises(ProviderError, match=r'section "x" of the host took longer than hook_time'):
        run(main, backend)


@every_backend
@pytest.mark.parametrize("style", ["plain", "around", "def"])
def test_hook_timeout_bounds_async_listeners(style: str, backend: str) -> None:
    """Past it, a ProviderError names the implementation and its plugin."""

    async def plain(assembly: PromptAssembly) -> None:
        await anyio.sleep_forever()

    async def around(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        result = await call_next()
        await anyio.sleep_forever()
        return result

    def hands_on(assembly: PromptAssembly) -> Awaitable[None]:
        return plain(assembly)

    styles: dict[str, Callable[..., Any]] = {"plain": plain, "around": around, "def": hands_on}

    class Plugin:
        system_prompt_assemble = staticmethod(hookimpl(styles[style]))

    prompt = timed(0.01)
    prompt.load(Plugin(), name="slow")
    match = r'of plugin "slow" .*took longer than hook_timeout \(0.01 s\)'
    with pytest.raises(ProviderError, match=match) as caught:
        anyio.run(prompt.assemble_async, backend=backend)
    assert caught.value.plugin == "slow"


def in_virtual_time(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run *main* in trio, whose clock here jumps whenever all tasks sleep."""
    clock = trio.testing.MockClock(autojump_threshold=0)
    return anyio.run(main, backend="trio", backend_options={"clock": clock})


async def slow_middleware(before: float, after: float, call_next: AsyncCallNext) -> PromptAssembly:
    """Take some time before, and some after the rest."""
    await anyio.sleep(before)
    result = await call_next()
    await anyio.sleep(after)
    return result


def test_hook_timeout_does_not_count_the_time_of_the_rest() -> None:
    """Middleware may wait for others as long as they take; each of them has its own time."""
    prompt = timed(10)

    async def outer(call_next: AsyncCallNext) -> PromptAssembly:
        return await slow_middleware(4, 4, call_next)

    async def inner(assembly: PromptAssembly) -> None:
        await anyio.sleep(9)

    prompt.on_assemble(outer)
    prompt.on_assemble(outer)
    prompt.on_assemble(inner)
    prompt.on_assemble(inner)
    in_virtual_time(prompt.assemble_async)


@pytest.mark.parametrize(("before", "after"), [(11, 0), (0, 11), (6, 6)])
def test_hook_timeout_counts_the_time_on_both_sides_of_the_rest(before: int, after: int) -> None:
    """What middleware itself takes, before and after the rest, is added up."""
    prompt = timed(10)

    async def middleware(call_next: AsyncCallNext) -> PromptAssembly:
        return await slow_middleware(before, after, call_next)

    prompt.on_assemble(middleware)
    with pytest.raises(ProviderError, match=r"middleware of the host .*hook_timeout \(10 s\)"):
        in_virtual_time(prompt.assemble_async)


def test_hook_timeout_counts_the_time_after_a_rest_that_failed() -> None:
    """The clock runs again when call_next raises."""
    prompt = timed(10)

    async def middleware(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        try:
            return await call_next()
        except ProviderError:
            await anyio.sleep(11)
            return assembly

    prompt.on_assemble(middleware)
    prompt.on_assemble(lambda: 1 / 0)
    with pytest.raises(ProviderError, match=r"middleware of the host .*hook_timeout \(10 s\)"):
        in_virtual_time(prompt.assemble_async)


def test_hook_timeout_lets_middleware_catch_a_slow_rest() -> None:
    """An implementation that took too long is an error of the rest, not of its middleware."""
    prompt = timed(10)

    async def careful(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        try:
            return await call_next()
        except ProviderError as error:
            assembly.variables["error"] = error.kind
            return assembly

    prompt.on_assemble(careful)
    prompt.on_assemble(anyio.sleep_forever)
    assert in_virtual_time(prompt.assemble_async).variables == {"error": "listener"}


def test_hook_timeout_leaves_who_keeps_it_alone() -> None:
    """Each provider and each listener has the whole time for itself."""
    prompt = timed(10)

    async def takes_nine() -> Any:
        await anyio.sleep(9)

    prompt.variable("x", takes_nine)
    prompt.variable("y", takes_nine)
    prompt.section(name="x", order=1, text="", when=takes_nine)
    prompt.on_assemble(takes_nine)
    prompt.on_assemble(takes_nine)
    in_virtual_time(prompt.assemble_async)


def test_hook_timeout_means_nothing_to_a_synchronous_assembly() -> None:
    """There is no way to stop a plain function."""
    prompt, clock = timed(1e-9), threading.Event()
    prompt.section(name="x", order=1, text=lambda: str(clock.wait(0.001)), blocking=True)
    assert prompt.assemble().sections[-1].text == "False"
