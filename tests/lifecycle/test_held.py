"""Held context managers: entered and left in one task, from wherever it is asked for."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from dsh_prompt import AsyncProviderError, SystemPrompt
from dsh_prompt.lifecycle.held import HeldContext

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Manager:
    """Notes the tasks in which it is entered and left, and fails where it is told to."""

    def __init__(
        self, *, entering: BaseException | None = None, leaving: BaseException | None = None
    ) -> None:
        self.entering = entering
        self.leaving = leaving
        self.tasks: list[int] = []
        self.scope: anyio.CancelScope

    async def __aenter__(self) -> str:
        self.tasks.append(anyio.get_current_task().id)
        self.scope = anyio.CancelScope()
        self.scope.__enter__()
        await anyio.lowlevel.checkpoint()
        if self.entering is not None:
            self.scope.__exit__(None, None, None)
            raise self.entering
        return "value"

    async def __aexit__(self, *error: object) -> None:
        # A cancel scope refuses to be left by another task than the one that entered it.
        self.scope.__exit__(None, None, None)
        self.tasks.append(anyio.get_current_task().id)
        await anyio.lowlevel.checkpoint()
        if self.leaving is not None:
            raise self.leaving


@pytest.mark.anyio
async def test_a_manager_is_entered_and_left_in_one_task() -> None:
    """It is neither the task that enters it nor the one that disposes the context."""
    prompt = SystemPrompt()
    manager = Manager()
    tasks = [anyio.get_current_task().id]

    async def dispose() -> None:
        tasks.append(anyio.get_current_task().id)
        await prompt.dispose_async()

    assert await prompt.enter_async_context(manager) == "value"
    async with anyio.create_task_group() as group:
        group.start_soon(dispose)
    entered, left = manager.tasks
    assert entered == left
    assert entered not in tasks


@pytest.mark.anyio
async def test_it_may_be_entered_in_a_task_that_ends_before_it_is_left() -> None:
    """The task that holds it belongs to the context, not to whoever called."""
    prompt = SystemPrompt()
    manager = Manager()
    async with anyio.create_task_group() as group:
        group.start_soon(prompt.enter_async_context, manager)
    assert len(manager.tasks) == 1
    await prompt.dispose_async()
    assert len(manager.tasks) == 2


@pytest.mark.anyio
async def test_several_managers_are_left_in_reverse_order() -> None:
    """One after the other, each in its own task."""
    prompt = SystemPrompt()
    log: list[str] = []

    class Named(Manager):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        async def __aexit__(self, *error: object) -> None:
            await super().__aexit__(*error)
            log.append(self.name)

    for name in "abc":
        await prompt.enter_async_context(Named(name))
    await prompt.dispose_async()
    assert log == ["c", "b", "a"]


@pytest.mark.anyio
async def test_it_may_be_left_from_another_thread_and_loop() -> None:
    """The loop that entered it goes on meanwhile."""
    prompt = SystemPrompt()
    manager = Manager()
    await prompt.enter_async_context(manager)
    await anyio.to_thread.run_sync(lambda: anyio.run(prompt.dispose_async))
    assert len(set(manager.tasks)) == 1
    assert len(manager.tasks) == 2


@BACKENDS
def test_it_is_left_with_the_loop_that_it_was_entered_in(backend: str) -> None:
    """A disposal afterwards finds it left, and does not hang."""
    prompt = SystemPrompt()
    manager = Manager()
    anyio.run(prompt.enter_async_context, manager, backend=backend)
    assert len(manager.tasks) == 2
    anyio.run(prompt.dispose_async, backend=backend)
    assert len(manager.tasks) == 2


@pytest.mark.anyio
async def test_a_manager_that_fails_to_enter_raises_where_it_was_asked_for() -> None:
    """It is not held, so there is nothing to leave."""
    prompt = SystemPrompt()
    manager = Manager(entering=ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        await prompt.enter_async_context(manager)
    prompt.dispose()
    assert len(manager.tasks) == 1


@pytest.mark.anyio
async def test_a_manager_that_fails_to_leave_raises_at_disposal() -> None:
    """Once: a second disposal knows nothing of it."""
    prompt = SystemPrompt()
    await prompt.enter_async_context(Manager(leaving=ValueError("mine")))
    with pytest.raises(ValueError, match="mine"):
        await prompt.dispose_async()
    await prompt.dispose_async()


@pytest.mark.anyio
async def test_leaving_twice_is_harmless() -> None:
    """The manager is left once."""
    manager = Manager(leaving=ValueError("mine"))
    held = HeldContext(manager)
    assert await held.enter() == "value"
    with pytest.raises(ValueError, match="mine"):
        await held.leave()
    await held.leave()
    assert len(manager.tasks) == 2


@pytest.mark.anyio
async def test_a_cancelled_disposal_leaves_it_all_the_same() -> None:
    """A cleanup is not cancelled half way."""
    prompt = SystemPrompt()
    manager = Manager()
    await prompt.enter_async_context(manager)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await prompt.dispose_async()
    assert len(manager.tasks) == 2


@pytest.mark.anyio
async def test_a_cancelled_caller_does_not_cancel_what_is_held() -> None:
    """It was entered, so it is held until the context is disposed."""
    prompt = SystemPrompt()
    manager = Manager()
    with anyio.CancelScope() as scope:
        await prompt.enter_async_context(manager)
        scope.cancel()
        await anyio.lowlevel.checkpoint()
    assert len(manager.tasks) == 1
    with pytest.raises(AsyncProviderError):
        prompt.dispose()
    await prompt.dispose_async()


@pytest.mark.anyio
async def test_a_manager_whose_caller_is_cancelled_while_it_enters_is_left() -> None:
    """Nobody knows of it, so nobody else could leave it."""
    prompt = SystemPrompt()
    entering, go_on = anyio.Event(), anyio.Event()
    log: list[str] = []

    class Slow:
        async def __aenter__(self) -> None:
            entering.set()
            try:
                await go_on.wait()
            except BaseException:
                log.append("cancelled")
                raise
            log.append("entered")

        async def __aexit__(self, *error: object) -> None:
            log.append("left")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.enter_async_context, Slow())
        await entering.wait()
        tasks.cancel_scope.cancel()
    go_on.set()
    await anyio.wait_all_tasks_blocked()
    await prompt.dispose_async()
    assert log in (["cancelled"], ["entered", "left"])


async def _interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        await SystemPrompt().enter_async_context(Manager(entering=KeyboardInterrupt()))


def test_an_interrupt_while_entering_passes_through() -> None:
    """To whoever asked for the manager, and to nobody else."""
    anyio.run(_interrupted, backend="trio")


@pytest.mark.anyio
async def test_leaving_takes_no_worker_thread() -> None:
    """There may be none left, and the manager may need one."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    tokens, limiter.total_tokens = limiter.total_tokens, 1
    prompt = SystemPrompt()

    class Threaded(Manager):
        async def __aexit__(self, *error: object) -> None:
            await anyio.to_thread.run_sync(int)
            await super().__aexit__(*error)

    await prompt.enter_async_context(Threaded())
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt.dispose_async)
            await anyio.wait_all_tasks_blocked()
            waiting = limiter.statistics().tasks_waiting
            limiter.total_tokens = tokens
        assert waiting == 0
    finally:
        limiter.total_tokens = tokens
