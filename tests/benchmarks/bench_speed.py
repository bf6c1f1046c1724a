"""The same work under pytest-benchmark, for us alone: ``pytest tests/benchmarks/bench_speed.py``.

Its name keeps it out of the ordinary suite.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.benchmarks.peers.ours import Ours
from tests.benchmarks.scenarios import (
    add_scope,
    host_that_waits,
    host_with_scopes,
    host_with_sections,
    load,
    register,
)
from tests.benchmarks.workloads import SIZES, Turns, work_of

pytest.importorskip("pytest_benchmark")


@pytest.mark.parametrize("turns", ["unchanged", "changing"])
@pytest.mark.parametrize("size", SIZES)
def test_work(benchmark: Any, size: str, turns: Turns) -> None:
    benchmark(Ours(work_of(SIZES[size], turns)).run)


@pytest.mark.parametrize("count", [1, 1000, 100_000])
def test_assemble_one_of_many_scopes(benchmark: Any, count: int) -> None:
    prompt, [scope, *_] = host_with_scopes(count)
    benchmark(prompt.assemble, scope=scope)


def test_create_and_dispose_a_scope(benchmark: Any) -> None:
    prompt, _ = host_with_scopes(1000)
    benchmark(lambda: add_scope(prompt).dispose())


@pytest.mark.parametrize("count", [10, 10_000])
def test_register_and_dispose_one_among_many(benchmark: Any, count: int) -> None:
    prompt = host_with_sections(count)
    benchmark(lambda: register(prompt).dispose())


@pytest.mark.parametrize("count", [10, 10_000])
def test_unload_a_plugin_of_1000_contributions(benchmark: Any, count: int) -> None:
    prompt = host_with_sections(count)
    benchmark.pedantic(
        lambda unload: unload(), setup=lambda: ((load(prompt, 1000),), {}), rounds=20
    )


@pytest.mark.parametrize("size", SIZES)
def test_assemble_async(benchmark: Any, size: str) -> None:
    prompt = Ours(work_of(SIZES[size])).prompt
    with asyncio.Runner() as runner:
        benchmark(lambda: runner.run(prompt.assemble_async()))


def test_20_providers_that_wait(benchmark: Any) -> None:
    prompt = host_that_waits(20)
    with asyncio.Runner() as runner:
        benchmark(lambda: runner.run(prompt.assemble_async()))
