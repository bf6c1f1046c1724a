"""The stream of change events: ``async for``, bounded, across threads."""

from __future__ import annotations

import gc
import threading
import weakref
from itertools import pairwise

import anyio
import anyio.to_thread
import pytest

from dsh_prompt import ChangeEvent, SystemPrompt

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


@BACKENDS
def test_events_come_in_the_order_of_the_changes(backend: str) -> None:
    async def main() -> None:
        prompt = SystemPrompt()
        changes = prompt.changes()
        prompt.variable("a", "value").dispose()
        prompt.variable("b", "value")
        prompt.dispose()
        kinds = [event.kind async for event in changes]
        assert kinds == ["registered", "disposed", "registered", "disposed"]
        assert changes.dropped == 0

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_reader_that_waits_is_woken_from_any_thread(backend: str) -> None:
    async def main() -> None:
        prompt = SystemPrompt()
        seen: list[ChangeEvent] = []

        async def read() -> None:
            seen.extend([event async for event in prompt.changes()])

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            for name in "abc":
                await anyio.to_thread.run_sync(prompt.variable, name, "value")
            await anyio.to_thread.run_sync(prompt.dispose)
        assert [event.added[0][1] for event in seen[:3]] == ["a", "b", "c"]
        assert len(seen) == 4

    anyio.run(main, backend=backend)


@pytest.mark.anyio
async def test_a_slow_reader_loses_the_oldest_and_is_told_how_many() -> None:
    prompt = SystemPrompt()
    changes = prompt.changes(limit=2)
    for name in "abcde":
        prompt.variable(name, "value")
    changes.close()
    names = [event.added[0][1] async for event in changes]
    assert (names, changes.dropped) == (["d", "e"], 3)


@pytest.mark.anyio
async def test_a_stream_begins_when_it_is_asked_for() -> None:
    prompt = SystemPrompt()
    prompt.variable("before", "value")
    changes = prompt.changes()
    prompt.variable("after", "value")
    assert (await anext(changes)).added[0][1] == "after"


@pytest.mark.anyio
async def test_streams_are_independent() -> None:
    prompt = SystemPrompt()
    first, second = prompt.changes(), prompt.changes()
    prompt.variable("a", "value")
    assert (await anext(first)) == (await anext(second))


@pytest.mark.anyio
async def test_a_closed_stream_ends_and_hears_nothing_more() -> None:
    prompt = SystemPrompt()
    async with prompt.changes() as changes:
        prompt.variable("a", "value")
    prompt.variable("b", "value")
    changes.close()
    assert [event.added[0][1] async for event in changes] == ["a"]


@pytest.mark.anyio
async def test_closing_wakes_a_reader_that_waits() -> None:
    prompt = SystemPrompt()
    changes = prompt.changes()

    async def read() -> None:
        async for _ in changes:
            pytest.fail("there is no event")

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        await anyio.to_thread.run_sync(changes.close)


@pytest.mark.anyio
async def test_a_cancelled_reader_leaves_the_stream_usable() -> None:
    prompt = SystemPrompt()
    changes = prompt.changes()
    with anyio.move_on_after(0.01):
        await anext(changes)
    prompt.variable("a", "value")
    assert (await anext(changes)).added[0][1] == "a"


def test_a_stream_that_nobody_holds_is_forgotten() -> None:
    prompt = SystemPrompt()
    changes = prompt.changes()
    reference = weakref.ref(changes)
    del changes
    gc.collect()
    assert reference() is None
    prompt.variable("a", "value")
    prompt.variable("b", "value")


def test_a_reader_whose_loop_is_closed_disturbs_nobody() -> None:
    prompt = SystemPrompt()
    changes = prompt.changes()

    async def main() -> None:
        with anyio.move_on_after(0.01):
            await anext(changes)

    anyio.run(main)
    prompt.variable("a", "value")

    async def read() -> str:
        return (await anext(changes)).added[0][1]

    assert anyio.run(read) == "a"


@pytest.mark.anyio
async def test_nothing_is_lost_or_doubled_between_threads() -> None:
    """Each event arrives once; those of one thread in their order."""
    prompt = SystemPrompt()
    changes = prompt.changes(limit=10_000)

    def register(letter: str) -> None:
        for number in range(200):
            prompt.variable(f"{letter}{number}", "value")

    threads = [threading.Thread(target=register, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    seen: list[str] = []
    while len(seen) < 800:
        event = await anext(changes)
        seen += [name for _, name, _ in event.added]
    for thread in threads:
        thread.join()
    for letter in "abcd":
        numbers = [int(name[1:]) for name in seen if name[0] == letter]
        assert numbers[0] == 0
        assert all(after == before + 1 for before, after in pairwise(numbers))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_stream_holds_at_least_one_event(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SystemPrompt().changes(limit=limit)
