"""Assemblies under way: counted, waited for, and never waited for by themselves."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from dsh_prompt import AssembleContext, DisposableContext, Key, SystemPrompt, hookimpl
from dsh_prompt.assembly.evaluation import Run
from dsh_prompt.assembly.running import RunningAssembly, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

WHICH = Key[int]("which")


async def blocked() -> None:
    """Wait until every other task waits, threads included, as far as that can be seen."""
    await anyio.wait_all_tasks_blocked()


def test_an_assembly_counts_while_it_runs() -> None:
    """It is gone from the set afterwards, also with an error."""
    assemblies: set[RunningAssembly] = set()
    with RunningAssembly(assemblies):
        assert len(assemblies) == 1
        with RunningAssembly(assemblies):
            assert len(assemblies) == 2
    with pytest.raises(ValueError, match="mine"), RunningAssembly(assemblies):
        raise ValueError("mine")
    assert assemblies == set()


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_a_host_counts_no_assembly_that_failed(error: BaseException) -> None:
    """Otherwise a later disposal would wait for it for ever."""
    prompt = SystemPrompt()

    def fail() -> str:
        raise error

    registration = prompt.variable("v", fail)
    with pytest.raises(Exception if isinstance(error, Exception) else type(error)):
        prompt.assemble()
    registration()
    assert prompt._layers.assemblies == set()


@pytest.mark.anyio
async def test_there_is_nothing_to_wait_for_where_nothing_runs() -> None:
    """Waiting returns at once."""
    with anyio.fail_after(1):
        await wait_for(set())


@pytest.mark.anyio
async def test_waiting_ends_when_every_assembly_begun_before_has_ended() -> None:
    """In whatever order they end."""
    assemblies: set[RunningAssembly] = set()
    gates = [anyio.Event() for _ in range(3)]
    log: list[str] = []

    async def run(number: int) -> None:
        with RunningAssembly(assemblies):
            await gates[number].wait()

    async def wait() -> None:
        await wait_for(assemblies)
        log.append("waited")

    async with anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(run, number)
        await blocked()
        tasks.start_soon(wait)
        for number in (1, 2, 0):
            await blocked()
            assert log == []
            gates[number].set()
    assert log == ["waited"]


@pytest.mark.anyio
async def test_nobody_waits_for_the_assembly_that_it_is_part_of() -> None:
    """Neither itself, nor in a task or a thread that it started."""
    assemblies: set[RunningAssembly] = set()
    with RunningAssembly(assemblies), anyio.fail_after(5):
        await wait_for(assemblies)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for, assemblies)
        await anyio.to_thread.run_sync(lambda: anyio.run(wait_for, assemblies))


@pytest.mark.anyio
async def test_a_synchronous_assembly_of_another_thread_is_waited_for() -> None:
    """Whichever way it was begun."""
    prompt = SystemPrompt()
    started, release = threading.Event(), threading.Event()
    log: list[str] = []

    def slow() -> str:
        started.set()
        release.wait(5)
        log.append("assembled")
        return ""

    scope = prompt.create_scope("agent")
    scope.callback(log.append, "cleaned up")
    registration = prompt.variable("v", slow)
    thread = threading.Thread(target=prompt.assemble)
    thread.start()
    await anyio.to_thread.run_sync(started.wait)
    registration()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scope.dispose_async)
        await blocked()
        assert log == []
        release.set()
    thread.join()
    assert log == ["assembled", "cleaned up"]


@pytest.mark.anyio
async def test_a_cancelled_assembly_is_waited_for_no_longer() -> None:
    """It has ended, if not well."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    log: list[str] = []
    started = anyio.Event()

    async def hang() -> str:
        started.set()
        await anyio.sleep_forever()
        return ""

    scope.callback(log.append, "cleaned up")
    prompt.variable("v", hang)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, anyio.create_task_group() as assembling:
            assembling.start_soon(prompt.assemble_async)
            await started.wait()
            tasks.start_soon(scope.dispose_async)
            await blocked()
            assembling.cancel_scope.cancel()
    assert log == ["cleaned up"]


# What may not be held up


def plugin(log: list[str] | None = None) -> SimpleNamespace:
    """Make a plugin with a callback."""

    def activate(ctx: DisposableContext) -> None:
        ctx.callback((log if log is not None else []).append, "cleaned up")

    return SimpleNamespace(activate=hookimpl(activate))


async def within(seconds: float, *functions: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run *functions* as tasks, and fail where they do not end in time."""
    with anyio.fail_after(seconds):
        async with anyio.create_task_group() as tasks:
            for function in functions:
                tasks.start_soon(function)


@pytest.mark.anyio
async def test_two_assemblies_that_unload_do_not_wait_for_each_other() -> None:
    """Neither could end; a hook that calls back into the host must not hang it."""
    prompt = SystemPrompt()
    begun = [anyio.Event(), anyio.Event()]

    async def unload(context: AssembleContext) -> str:
        which = context[WHICH]
        begun[which].set()
        await begun[1 - which].wait()
        await prompt.unload_async(str(which))
        return ""

    def assemble(which: int) -> Callable[[], Coroutine[Any, Any, object]]:
        context = AssembleContext()
        context[WHICH] = which
        return lambda: prompt.assemble_async(context)

    for which in (0, 1):
        prompt.load(plugin(), name=str(which))
    prompt.variable("v", unload)
    await within(0.3, assemble(0), assemble(1))


@pytest.mark.anyio
async def test_a_plugin_that_goes_by_itself_while_it_is_unloaded_hangs_nothing() -> None:
    """The unload waits for the assembly, so the assembly cannot wait for the unload."""
    prompt = SystemPrompt()
    started, go_on = anyio.Event(), anyio.Event()
    log: list[str] = []

    class OneShot:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            self.ctx = ctx
            ctx.callback(log.append, "cleaned up")

        @hookimpl
        async def system_prompt_assemble(self) -> None:
            started.set()
            await go_on.wait()
            await self.ctx.dispose_async()

    async def unload() -> None:
        await started.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt.unload_async, "OneShot")
            await blocked()
            go_on.set()

    prompt.load(OneShot())
    await within(0.3, prompt.assemble_async, unload)
    assert log == ["cleaned up"]


@pytest.mark.anyio
async def test_waiting_takes_no_thread_that_the_assembly_needs() -> None:
    """As many disposals as there are worker threads may wait for one blocking provider."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    tokens, limiter.total_tokens = limiter.total_tokens, 1
    prompt = SystemPrompt()
    started, release = anyio.Event(), anyio.Event()

    async def first() -> str:
        started.set()
        await release.wait()
        return ""

    async def unload() -> None:
        await started.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt.unload_async, "p")
            await blocked()
            release.set()

    prompt.load(plugin(), name="p")
    prompt.variable("v", first)
    prompt.section(name="s", order=1, text=lambda: "", blocking=True)
    try:
        await within(0.3, prompt.assemble_async, unload)
    finally:
        limiter.total_tokens = tokens


def test_an_assembly_counts_before_it_sees_what_it_will_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unload between the two would not wait, and its cleanups would run too early."""
    prompt = SystemPrompt()
    log: list[str] = []

    class Providing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", self.provide)
            ctx.callback(log.append, "cleaned up")

        def provide(self) -> str:
            log.append("provided")
            return ""

    class Late(Run):
        __slots__ = ()

        def __enter__(self) -> Any:
            if prompt.plugins:
                thread = threading.Thread(target=anyio.run, args=(prompt.unload_async, "Providing"))
                thread.start()
                thread.join()
            return super().__enter__()

    prompt.load(Providing())
    monkeypatch.setattr("dsh_prompt.system_prompt.Run", Late)
    prompt.assemble()
    assert log == ["cleaned up"]
