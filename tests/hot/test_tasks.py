"""Tasks that a context owns: they run until they end, or until it is disposed."""

from __future__ import annotations

import logging
import threading
from typing import Any

import anyio
import anyio.to_thread
import pytest

from dsh_prompt import (
    AsyncProviderError,
    DisposableContext,
    DisposedError,
    InvalidContributionError,
    PluginLoadError,
    SystemPrompt,
    hookimpl,
)

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Worker:
    """Runs until it is cancelled, and takes its time to clean up."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.started = anyio.Event()

    async def __call__(self, name: str = "worker") -> None:
        self.log.append(f"+{name}")
        self.started.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                self.log.append(f"-{name}")


@BACKENDS
def test_a_task_runs_until_its_context_is_disposed(backend: str) -> None:
    """The disposal waits for its end."""

    async def main() -> None:
        prompt, worker = SystemPrompt(), Worker()
        scope = prompt.create_scope("agent")
        scope.start_task(worker, "one")
        await worker.started.wait()
        await scope.dispose_async()
        assert worker.log == ["+one", "-one"]

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_plugin_starts_tasks_while_it_is_activated(backend: str) -> None:
    """They are cancelled in turn with the other cleanups, after ``deactivate``."""

    async def main() -> None:
        prompt, worker = SystemPrompt(), Worker()

        class Plugin:
            @hookimpl
            async def activate(self, ctx: DisposableContext) -> None:
                ctx.callback(worker.log.append, "first")
                ctx.start_task(worker)
                ctx.callback(worker.log.append, "last")
                await worker.started.wait()

            @hookimpl
            def deactivate(self) -> None:
                worker.log.append("deactivate")

        await prompt.load_async(Plugin)
        with pytest.raises(AsyncProviderError, match=r"use unload_async\(\)"):
            prompt.unload("Plugin")
        await prompt.unload_async("Plugin")
        assert worker.log == ["+worker", "deactivate", "last", "-worker", "first"]

    anyio.run(main, backend=backend)


@pytest.mark.anyio
async def test_a_load_that_fails_ends_its_tasks() -> None:
    prompt, worker = SystemPrompt(), Worker()

    class Broken:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.start_task(worker)
            await worker.started.wait()
            raise ValueError("no")

    with pytest.raises(PluginLoadError, match="ValueError: no"):
        await prompt.load_async(Broken)
    assert worker.log == ["+worker", "-worker"]


@pytest.mark.anyio
async def test_a_reload_starts_the_new_task_before_it_ends_the_old_one() -> None:
    prompt, log = SystemPrompt(), list[str]()

    class Plugin:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            worker = Worker()
            worker.log = log
            ctx.start_task(worker)
            await worker.started.wait()

    await prompt.load_async(Plugin)
    await prompt.reload_async("Plugin")
    assert log == ["+worker", "+worker", "-worker"]
    await prompt.dispose_async()
    assert log[3:] == ["-worker"]


@pytest.mark.anyio
async def test_a_task_that_ended_by_itself_holds_up_nobody() -> None:
    prompt = SystemPrompt()
    ended = anyio.Event()

    async def work() -> None:
        ended.set()

    prompt.start_task(work)
    await ended.wait()
    await anyio.wait_all_tasks_blocked()
    prompt.dispose()


@pytest.mark.anyio
async def test_a_task_that_fails_is_logged_with_its_owner(
    caplog: pytest.LogCaptureFixture,
) -> None:
    prompt = SystemPrompt()

    async def fail() -> None:
        raise ValueError("boo")

    class Plugin:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.start_task(fail)

    with caplog.at_level(logging.ERROR, "dsh_prompt"):
        await prompt.load_async(Plugin)
        await anyio.wait_all_tasks_blocked()
    assert 'a task of plugin "Plugin" failed' in caplog.text
    assert "boo" in caplog.text
    assert prompt.plugins[0].state == "loaded"
    await prompt.unload_async("Plugin")


@pytest.mark.anyio
async def test_it_may_be_ended_from_another_thread_and_loop() -> None:
    prompt, worker = SystemPrompt(), Worker()
    prompt.start_task(worker)
    await worker.started.wait()
    await anyio.to_thread.run_sync(anyio.run, prompt.dispose_async)
    assert worker.log == ["+worker", "-worker"]


@BACKENDS
def test_it_ends_with_its_loop(backend: str) -> None:
    prompt, worker = SystemPrompt(), Worker()

    async def main() -> None:
        prompt.start_task(worker)
        await worker.started.wait()

    anyio.run(main, backend=backend)
    assert worker.log[0] == "+worker"
    anyio.run(prompt.dispose_async, backend=backend)
    assert prompt.is_gone


@pytest.mark.anyio
async def test_a_task_may_dispose_its_own_context() -> None:
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    done = anyio.Event()

    async def give_up() -> None:
        try:
            await scope.dispose_async()
        finally:
            done.set()

    scope.start_task(give_up)
    with anyio.fail_after(10):
        await done.wait()
    assert scope.is_gone


def test_without_a_loop_no_task_is_started() -> None:
    prompt = SystemPrompt()
    with pytest.raises(AsyncProviderError, match="no event loop is running here"):
        prompt.start_task(Worker())
    prompt.dispose()


@pytest.mark.anyio
async def test_a_synchronous_load_starts_no_task() -> None:
    """It could not end it again if the load failed."""
    prompt = SystemPrompt()

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.start_task(Worker())

    with pytest.raises((AsyncProviderError, PluginLoadError), match=r"use load_async\(\)"):
        prompt.load(Plugin)
    assert prompt.plugins == []
    await prompt.load_async(Plugin)
    await prompt.unload_async("Plugin")


@pytest.mark.parametrize("function", [print, 3, lambda: None])
def test_only_an_async_function_is_a_task(function: Any) -> None:
    with pytest.raises(InvalidContributionError, match="takes an async function"):
        SystemPrompt().start_task(function)


def test_a_disposed_context_starts_nothing() -> None:
    prompt = SystemPrompt()
    prompt.dispose()
    with pytest.raises(DisposedError):
        prompt.start_task(Worker())


def test_a_callback_stops_a_thread_of_a_plugin() -> None:
    """Threads are the plugin's own; it ties them to its context by a callback."""
    prompt = SystemPrompt()
    stop = threading.Event()
    threads: list[threading.Thread] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            thread = threading.Thread(target=stop.wait)
            thread.start()
            threads.append(thread)
            ctx.callback(thread.join)
            ctx.callback(stop.set)

    prompt.load(Plugin)
    assert threads[0].is_alive()
    prompt.unload("Plugin")
    assert not threads[0].is_alive()
