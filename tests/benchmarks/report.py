"""Measurements as Markdown: tables for the console and for the page on performance."""

from __future__ import annotations

import os
import platform
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.benchmarks.measuring import Spread

START, END = "<!-- measured -->", "<!-- /measured -->"
PYTHON = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"
PACKAGES = ("jinja2", "langchain", "langchain-core", "pluggy", "pydantic-ai-slim")


class Row(NamedTuple):
    """One measurement: a figure with its spread, and its target, where it has one.

    *to_ours* is how many times as much it is as ours, measured in turn with it.
    """

    what: str
    figure: str
    spread: str
    to_ours: str = ""
    target: str = ""
    is_met: bool | None = None


def duration(seconds: float) -> str:
    """Write *seconds* in milliseconds or, where it is less than one, in microseconds."""
    return f"{seconds * 1e3:,.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def durations(figures: Spread) -> tuple[str, str]:
    """Write a median, and its quartiles."""
    return duration(figures.median), f"{duration(figures.low)} to {duration(figures.high)}"


def at_most(what: str, figures: Spread, limit: float, unit: str = "") -> Row:
    """Give the row of a figure that must not exceed *limit*."""
    return Row(
        what,
        f"{figures.median:.2f}{unit}",
        f"{figures.low:.2f} to {figures.high:.2f}",
        target=f"at most {limit:g}{unit}",
        is_met=figures.median <= limit,
    )


def at_least(what: str, figures: Spread, limit: float) -> Row:
    """Give the row of a figure that must reach *limit*."""
    row = at_most(what, figures, limit)
    return row._replace(target=f"at least {limit:g}", is_met=figures.median >= limit)


def table(rows: Sequence[Row]) -> str:
    """Write *rows* as a Markdown table."""
    met = {True: "yes", False: "**no**", None: ""}
    cells = [["what", "median", "quartiles", "to ours", "target", "met"]]
    cells += [["---", "--:", "--:", "--:", "--:", "---"]]
    cells += [[*row[:5], met[row.is_met]] for row in rows]
    if not any(row.to_ours for row in rows):
        cells = [line[:3] + line[4:] for line in cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def head(node: Mapping[str, str], notes: Sequence[str]) -> str:
    """Tell when, where and with which versions it was measured, and what was left out."""
    today = datetime.now(UTC).date()
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f", {pages / 2**30:.0f} GiB of memory"
    machine = f"{_processor()}, {os.cpu_count()} CPUs{memory}, {platform.system()}"
    versions = {"Python": platform.python_version(), **_installed(), **node}
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    return "\n\n".join([f"Measured on {today} on {machine}. Versions: {listed}.", *notes])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*: (.+)", info.read_text("utf-8"))):
        return found[1].strip()
    return platform.processor() or platform.machine()


def _installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except ModuleNotFoundError:
            continue
    return found


def write(page: Path, measured: str) -> None:
    """Put *measured* between the markers of *page*, in the place of what this Python gave before.

    Parts that were not measured again stay. Raises `ValueError` for a page without markers.
    """
    text = page.read_text("utf-8")
    before, start, rest = text.partition(START)
    block, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{page} has no {START} followed by {END}")
    sections = dict(re.findall(r"(?ms)^## (CPython \d+\.\d+)\n+(.*?)(?=^## CPython |\Z)", block))
    head, parts = _parts(measured)
    _, kept = _parts(sections.get(PYTHON, ""))
    sections[PYTHON] = "\n\n".join(filter(None, (head, *(kept | parts).values())))
    ordered = sorted(sections, key=lambda name: [int(part) for part in name.split()[1].split(".")])
    body = "\n\n".join(f"## {name}\n\n{sections[name].strip()}" for name in ordered)
    page.write_text(f"{before}{START}\n\n{body}\n\n{END}{after}", "utf-8")


def _parts(section: str) -> tuple[str, dict[str, str]]:
    """Give what stands above the parts of a section, and the parts by their titles."""
    head, *parts = re.split(r"(?m)^(?=### )", section)
    return head.strip(), {part.partition("\n")[0]: part.strip() for part in parts}
