"""Counts of what an assembly does, which are the same in every run.

``python -m tests.benchmarks.counts`` prints them, ``--record`` writes them down as what the
test compares with.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dsh_prompt import render_context_snapshot, render_prompt
from tests.benchmarks.peers.ours import host
from tests.benchmarks.workloads import SIZES, work_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from tests.benchmarks.workloads import Turns

Counts: TypeAlias = "dict[str, int]"

RECORDED = Path(__file__).with_name("counts.json")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
WORKS: dict[str, tuple[str, Turns]] = {
    "S": ("S", "unchanged"),
    "M": ("M", "unchanged"),
    "M, texts change": ("M", "changing"),
}
# How many results are kept, so that what one takes shows above all else.
_KEPT = 20


def counts_of(work: str) -> Counts:
    """Count the calls of Python functions, the blocks of memory and the bytes of one *work*.

    Blocks are what an assembly and its texts keep; bytes are the most at one time.
    """
    size, turns = WORKS[work]
    prompt = host(work_of(SIZES[size], turns))

    def run() -> object:
        assembly = prompt.assemble()
        return assembly, render_prompt(assembly), render_context_snapshot(assembly)

    for _ in range(5):
        run()
    return {"calls": calls_of(run), "blocks": _blocks(run), "peak bytes": _peak_bytes(run)}


def calls_of(function: Callable[[], object]) -> int:
    """Count the calls of Python functions that *function* makes, itself included."""
    calls = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    gc.collect()  # nothing of what was before is cleaned up in between
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls


def _blocks(function: Callable[[], object]) -> int:
    """Count the blocks of memory that a result of *function* holds."""
    kept: list[object] = [None] * _KEPT
    function()
    gc.collect()
    before = sys.getallocatedblocks()
    for index in range(_KEPT):
        kept[index] = function()
    return (sys.getallocatedblocks() - before) // _KEPT


def _peak_bytes(function: Callable[[], object]) -> int:
    """Count the most bytes that *function* needs at one time: the least of several runs."""
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start()
    try:
        gc.collect()
        return min(_peak_bytes_once(function) for _ in range(5))
    finally:
        if started:
            tracemalloc.stop()


def _peak_bytes_once(function: Callable[[], object]) -> int:
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    function()
    return tracemalloc.get_traced_memory()[1] - before


def recorded() -> dict[str, Counts]:
    """Give the recorded counts of this Python, or of the version nearest to it."""
    by_version: dict[str, dict[str, Counts]] = json.loads(RECORDED.read_text("utf-8"))
    minor = sys.version_info[1]
    nearest = min(by_version, key=lambda version: abs(int(version.split(".")[1]) - minor))
    return by_version[nearest]


def main(arguments: list[str]) -> None:
    """Print the counts; with ``--record``, write them down for this version of Python."""
    counts = {work: counts_of(work) for work in WORKS}
    print(json.dumps({PYTHON: counts}, indent=2))  # noqa: T201
    if "--record" in arguments:
        known = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
        document = json.dumps({**known, PYTHON: counts}, indent=2, sort_keys=True)
        RECORDED.write_text(document + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
