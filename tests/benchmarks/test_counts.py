"""An assembly does no more than it did: counts, which no busy machine can change."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.counts import WORKS, calls_of, counts_of, recorded
from tests.benchmarks.scenarios import (
    add_scope,
    host_with_scopes,
    host_with_sections,
    load,
    register,
)

if TYPE_CHECKING:
    from dsh_prompt import SystemPrompt

MORE = 1.2
HINT = (
    "an assembly costs over 20 % more than recorded; find out why, and if it is worth that, run "
    "python -m tests.benchmarks.counts --record with each version of Python"
)


@pytest.mark.parametrize("work", WORKS)
def test_an_assembly_makes_hardly_more_calls_and_objects_than_recorded(work: str) -> None:
    before, now = recorded()[work], counts_of(work)
    dearer = {what: (before[what], now[what]) for what in now if now[what] > MORE * before[what]}
    assert not dearer, HINT


def test_registering_and_disposing_among_10_000_makes_as_many_calls_as_among_10() -> None:
    few, many = host_with_sections(10), host_with_sections(10_000)

    def calls(prompt: SystemPrompt) -> tuple[int, int]:
        kept = []
        prompt.assemble()
        registered = calls_of(lambda: kept.append(register(prompt)))
        prompt.assemble()
        return registered, calls_of(kept[0].dispose)

    assert calls(many) == calls(few)


def test_a_change_right_after_an_assembly_frees_as_little_among_10_000_as_among_10() -> None:
    few, many = host_with_sections(10), host_with_sections(10_000)

    def freed(prompt: SystemPrompt) -> int:
        """Give how many blocks of memory less there are."""
        registration = register(prompt)
        prompt.assemble()
        before = sys.getallocatedblocks()
        registration.dispose()
        return before - sys.getallocatedblocks()

    gc.disable()
    try:
        assert freed(many) <= freed(few) + 10
    finally:
        gc.enable()


def test_the_only_scope_is_assembled_with_as_many_calls_as_one_of_1000() -> None:
    (one, [scope]), (many, [*_, last]) = host_with_scopes(1), host_with_scopes(1000)
    one.assemble(scope=scope)
    many.assemble(scope=last)

    alone = calls_of(lambda: one.assemble(scope=scope))
    assert calls_of(lambda: many.assemble(scope=last)) == alone


def test_a_scope_is_created_in_few_calls_and_leaves_few_objects_to_the_garbage_collector() -> None:
    prompt, _ = host_with_scopes(1)
    assert calls_of(lambda: add_scope(prompt)) <= MORE * 35

    gc.collect()
    before = len(gc.get_objects())
    kept = [add_scope(prompt) for _ in range(100)]
    gc.collect()
    # The scope, its layer with a dict, and four entries.
    assert len(gc.get_objects()) - before <= MORE * 7 * len(kept)


def test_disposing_a_scope_makes_no_more_calls_where_there_are_others() -> None:
    (_, [scope]), (_, [first, *_]) = host_with_scopes(1), host_with_scopes(1000)

    assert calls_of(first.dispose) == calls_of(scope.dispose)


def test_disposing_a_scope_costs_the_next_assembly_of_another_nothing() -> None:
    prompt, [first, second] = host_with_scopes(2)
    prompt.assemble(scope=second)
    before = calls_of(lambda: prompt.assemble(scope=second))

    first.dispose()

    assert calls_of(lambda: prompt.assemble(scope=second)) == before


def test_unloading_makes_calls_in_proportion_to_what_the_plugin_contributed() -> None:
    def calls(others: int, contributions: int) -> int:
        return calls_of(load(host_with_sections(others), contributions))

    assert calls(5000, 100) == calls(10, 100)
    assert calls(10, 1000) <= MORE * 10 * calls(10, 100)
