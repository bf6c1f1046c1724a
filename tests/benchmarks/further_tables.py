"""The further measurements: scopes, changes, async, import and start."""

from __future__ import annotations

import asyncio
import gc
import sys
import tracemalloc
from time import perf_counter
from typing import TYPE_CHECKING

from tests.benchmarks import scenarios, starting
from tests.benchmarks.measuring import Spread, alternate, ratio, spread
from tests.benchmarks.peers.ours import host
from tests.benchmarks.report import Row, at_most, durations
from tests.benchmarks.workloads import SIZES, work_of

if TYPE_CHECKING:
    from dsh_prompt import SystemPrompt
    from tests.benchmarks.measuring import Effort

MICRO = 1e6
SAME = 1.2


def scopes(effort: Effort) -> list[Row]:
    """Measure among many live scopes."""
    count = effort.scopes
    rows = _creating_scopes(count, 11)
    (one, [only]), (many, all_of_many) = (
        scenarios.host_with_scopes(1),
        scenarios.host_with_scopes(count),
    )
    middle = all_of_many[count // 2]
    values = alternate(
        {"one": scenarios.assembling(one, only), "many": scenarios.assembling(many, middle)},
        effort,
    )
    rows += [
        Row("assemble the only scope", *durations(spread(values["one"]))),
        Row(f"assemble one of {count:,} scopes", *durations(spread(values["many"]))),
        at_most("one of many / the only one", ratio(values["many"], values["one"]), SAME),
    ]
    values = alternate(
        {"one": scenarios.disposing_scopes(one), "many": scenarios.disposing_scopes(many)}, effort
    )
    disposed = ratio(values["many"], values["one"])
    return [
        *rows,
        Row(f"dispose one of {count:,} scopes", *durations(spread(values["many"]))),
        at_most("dispose one of many / the only one", disposed, SAME),
    ]


def _creating_scopes(count: int, rounds: int) -> list[Row]:
    with_gc = [_created_in(count) for _ in range(rounds)]
    gc.disable()
    try:
        without_gc = [_created_in(count) for _ in range(rounds)]
    finally:
        gc.enable()
    size = Spread(*[_scope_size(min(count, 10_000))] * 3)
    return [
        at_most(f"create one of {count:,} scopes", spread(with_gc), 35, " µs"),
        at_most("the same without cyclic garbage collection", spread(without_gc), 15, " µs"),
        at_most("memory of a scope with its contributions", size, 3, " KiB"),
    ]


def _created_in(count: int) -> float:
    """Give the microseconds for each of *count* scopes of a new host."""
    prompt, _ = scenarios.host_with_scopes(0)
    gc.collect()
    gc.freeze()  # what other libraries have made is not for these scopes to pay
    try:
        start = perf_counter()
        kept = [scenarios.add_scope(prompt) for _ in range(count)]
        return (perf_counter() - start) * MICRO / len(kept)
    finally:
        gc.unfreeze()


def _scope_size(count: int) -> float:
    """Give the KiB that each of *count* scopes holds."""
    prompt, _ = scenarios.host_with_scopes(1)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = [scenarios.add_scope(prompt) for _ in range(count)]
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / 1024 / len(kept)
    finally:
        tracemalloc.stop()


def changes(effort: Effort) -> list[Row]:
    """Measure registrations, disposals and unloads among few and many contributions."""
    few, many, other = map(scenarios.host_with_sections, (10, 10_000, 10_000))
    rows = []
    for what, measuring in (
        ("register", scenarios.registering),
        ("dispose", scenarios.disposing),
    ):
        for when, after in (("", None), (" right after an assembly", other)):
            values = alternate(
                {"few": measuring(few, after), "many": measuring(many, after)}, effort
            )
            figures = ratio(values["many"], values["few"])
            rows += [
                Row(f"{what} one among 10,000{when}", *durations(spread(values["many"]))),
                at_most(f"among 10,000 / among 10, {what}{when}", figures, SAME),
            ]
    return [*rows, *_unloading(few, many, effort)]


def _unloading(few: SystemPrompt, many: SystemPrompt, effort: Effort) -> list[Row]:
    values = alternate(
        {
            "1000 among few": scenarios.unloading(few, 1000),
            "1000 among many": scenarios.unloading(many, 1000),
            "100 among few": scenarios.unloading(few, 100),
        },
        effort,
    )
    among, larger = (
        ratio(values["1000 among many"], values["1000 among few"]),
        ratio(values["1000 among few"], values["100 among few"]),
    )
    each = durations(spread(values["1000 among few"]))
    return [
        Row("unload a plugin with 1,000 contributions, each", *each),
        at_most("the same among 10,000 / among 10", among, SAME),
        at_most("1,000 contributions / 100, each", larger, SAME),
    ]


def asynchronous(effort: Effort) -> list[Row]:
    """Measure ``assemble_async``."""
    rows = []
    with asyncio.Runner() as runner:
        for size in ("S", "M", "L"):
            prompt = host(work_of(SIZES[size]))
            values = alternate(
                {
                    "sync": scenarios.assembling(prompt),
                    "async": scenarios.assembling_async(prompt, runner),
                },
                effort,
            )
            figures = ratio(values["async"], values["sync"])
            rows.append(at_most(f"assemble_async / assemble, {size}", figures, SAME))
        waiting = scenarios.assembling_async(scenarios.host_that_waits(20), runner)
        values = alternate({"waiting": waiting}, effort._replace(seconds=0))
    milliseconds = spread([value * 1e3 for value in values["waiting"]])
    return [*rows, at_most("20 providers that wait 20 ms each", milliseconds, 60, " ms")]


def start(effort: Effort) -> list[Row]:
    """Measure imports and the command, in fresh processes."""
    fresh = effort._replace(seconds=0)
    values = alternate(
        {
            "ours": starting.running("import dsh_prompt"),
            "host": starting.running("from dsh_prompt import SystemPrompt; SystemPrompt()"),
            "others": starting.running("import pluggy, attrs"),
            "--version": starting.starting(*starting.version_command()),
            "pass": starting.starting(sys.executable, "-c", "pass"),
        },
        fresh,
    )
    imported, started = (
        ratio(values["ours"], values["others"]),
        ratio(values["--version"], values["pass"]),
    )
    return [
        Row("import dsh_prompt", *durations(spread(values["ours"]))),
        Row("import dsh_prompt, and make a host", *durations(spread(values["host"]))),
        Row("import pluggy, attrs", *durations(spread(values["others"]))),
        at_most("import dsh_prompt / import pluggy, attrs", imported, 1.5),
        Row("dsh-prompt --version", *durations(spread(values["--version"]))),
        Row("python -c pass", *durations(spread(values["pass"]))),
        at_most("dsh-prompt --version / python -c pass", started, 4),
        _nothing_of("loaded by a first assembly", starting.loaded_by_assembly()),
        _nothing_of("loaded by dsh-prompt --version", starting.loaded_by_version()),
        at_most("scans of what is installed, to load plugins", spread([starting.scans()]), 1),
    ]


def _nothing_of(what: str, loaded: str) -> Row:
    target = "none of rich, anyio, cattrs, importlib-metadata"
    return Row(what, loaded or "none", "", target=target, is_met=not loaded)
