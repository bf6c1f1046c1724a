"""Fifty steps, while plugins, tools, modes and memories come and go: the prefix stays."""

from __future__ import annotations

import pytest
from dsh_prompt_plan_mode.config import REASON

from tests.conversation.steps import BLOCK, EVERY, PAGE, Step, fifty_steps, table
from tests.conversation.world import CALLS, COUNT, EVENTS

PINS = [number for number, event in EVENTS.items() if event.pins]


@pytest.fixture(scope="module")
def both() -> tuple[list[Step], list[Step]]:
    """Give the steps of a pinned conversation, and of one that is not."""
    return fifty_steps()


@pytest.fixture
def steps(both: tuple[list[Step], list[Step]]) -> dict[int, Step]:
    """Give the steps of the pinned conversation, by their numbers."""
    return dict(enumerate(both[0], 1))


def test_the_prefix_is_another_one_only_after_a_new_pin(steps: dict[int, Step]) -> None:
    """Between two pins, tools and system prompt are the same bytes in all requests."""
    changes = [n for n in range(2, COUNT + 1) if steps[n].prefix != steps[n - 1].prefix]
    assert changes == PINS


def test_each_request_goes_on_where_the_last_one_ended(steps: dict[int, Step]) -> None:
    """All that was sent is cached, except by a new pin."""
    for number in {*range(2, COUNT + 1)} - {*PINS}:
        assert steps[number].cached == len(steps[number - 1].text)


@pytest.mark.parametrize("number", [n for n in EVENTS if n not in PINS])
def test_the_model_is_told_of_every_change(number: int, steps: dict[int, Step]) -> None:
    """In the snapshot of the next step; nothing is told twice."""
    event, snapshot = EVENTS[number], steps[number].snapshot
    assert snapshot
    assert (event.told in snapshot) is not event.ends
    assert not steps[number + 1].snapshot if number < COUNT else True


def test_where_nothing_changes_nothing_is_told(steps: dict[int, Step]) -> None:
    """Except of what was there in the beginning."""
    assert {n for n in steps if steps[n].snapshot} <= {*EVENTS}


def test_a_new_pin_takes_in_what_was_told(steps: dict[int, Step]) -> None:
    """The upgraded text, and the discovered tool; without the unloaded plugins."""
    before, after, last = (b"".join(steps[n].prefix).decode() for n in (24, 25, 45))
    assert ("deploy: does" in before, "deploy: does" in after) == (False, True)
    assert ("full sentences" in before, "short sentences" in after) == (True, True)
    assert ("Use fetch" in after, "Use fetch" in last) == (True, False)
    assert ("Use note" in after, "Use note" in last) == (True, False)
    assert not any(name in steps[45].snapshot for name in ("note", "fetch", "deploy"))


def test_what_is_denied_gone_or_not_there_yet_is_refused(steps: dict[int, Step]) -> None:
    """And what is there may be called, also where it was refused before."""
    assert {number: steps[number].call.refusal for number in CALLS} == {
        6: REASON,
        9: None,
        11: 'tool "deploy" is not available in this assembly',
        26: None,
        36: 'the tool "note" of plugin "notes" went away',
        46: 'tool "fetch" is not available in this assembly',
    }


def test_the_page_has_the_table(both: tuple[list[Step], list[Step]]) -> None:
    """If this fails, run ``python -m tests.conversation.steps``."""
    [block] = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert block == table(*both)


def test_the_table_has_every_fifth_step() -> None:
    """Most of what happens, happens there."""
    assert len([number for number in EVENTS if number % EVERY == 0]) == COUNT // EVERY
