"""Measure this library beside others, and print one report.

``python -m tests.benchmarks.compare`` needs Node and npm for the original; without them it
says so and leaves it out.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import further_tables
from tests.benchmarks.measuring import FULL, QUICK
from tests.benchmarks.peer import UnavailableError
from tests.benchmarks.peers.original import Node
from tests.benchmarks.report import PYTHON, Row, head, table, write
from tests.benchmarks.scaling import scaling
from tests.benchmarks.work_tables import rows_of
from tests.benchmarks.workloads import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measuring import Effort

PLOT = "performance-scaling.svg"
#: By the name that ``--only`` takes: the title, and what measures.
FURTHER = {
    "scopes": ("Scopes", further_tables.scopes),
    "changes": ("Changes", further_tables.changes),
    "async": ("Async", further_tables.asynchronous),
    "start": ("Import and start", further_tables.start),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and with ``--write`` put the report into a page."""
    options = _parser().parse_args(arguments)
    effort = QUICK if options.quick else FULL
    with ExitStack() as stack:
        node, notes = None, []
        try:
            node = stack.enter_context(Node())
        except UnavailableError as error:
            notes.append(f"The original is left out: {error}.")
        parts = [head({} if node is None else node.versions, notes)]
        _show(f"## {PYTHON}")
        _show(parts[0])
        for part in _parts(options.only, node, effort):
            _show(part)
            parts.append(part)
        if options.write is not None:
            write(options.write, "\n\n".join(parts))
            if not options.only:
                svg = scaling(node, effort._replace(rounds=effort.fewer_rounds))
                options.write.with_name(PLOT).write_text(svg, "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs, for a first look")
    parser.add_argument(
        "--only", action="append", choices=[*SIZES, *FURTHER], help="this part alone; repeatable"
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help=f"put the report between the markers of PAGE, and without --only {PLOT} beside it",
    )
    return parser


def _parts(only: list[str] | None, node: Node | None, effort: Effort) -> Iterator[str]:
    """Measure part by part, and give each as Markdown."""
    for size in SIZES:
        if not only or size in only:
            counts = [f"{count:,} {what}" for what, count in SIZES[size]._asdict().items()]
            yield _part(f"Work {size}", rows_of(size, node, effort), f"{', '.join(counts)}.")
    for name, (title, measure) in FURTHER.items():
        if not only or name in only:
            yield _part(title, measure(effort))


def _part(title: str, rows: list[Row], *text: str) -> str:
    return "\n\n".join([f"### {title}", *text, table(rows)])


def _show(text: str) -> None:
    sys.stdout.write(f"{text}\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
