"""The harness: all do the same work, and the report goes where it belongs."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.benchmarks.peers.bare import Bare
from tests.benchmarks.peers.ours import Ours
from tests.benchmarks.peers.pluggy_hooks import PluggyHooks
from tests.benchmarks.report import END, PYTHON, START, write
from tests.benchmarks.svg import Panel, Series, plot
from tests.benchmarks.workloads import SIZES, TAKES, Turns, work_of


@pytest.mark.parametrize("turns", ["unchanged", "rebuilt", "changing"])
def test_peers_give_the_same_texts_every_time(turns: Turns) -> None:
    work = work_of(SIZES["S"], turns)
    ours, *others = Ours(work), Bare(work), PluggyHooks(work)
    for _ in range(TAKES + 1):
        output = ours.run()
        assert all(other.run() == output for other in others)


def test_changing_texts_are_other_texts_at_every_call() -> None:
    give = work_of(SIZES["S"], "changing").sections[0].provider()
    first = [give() for _ in range(TAKES)]

    assert len(set(first)) == TAKES
    assert [give() for _ in range(TAKES)] == first


def test_a_report_replaces_that_of_the_same_python_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"# Page\n\n{START}\n\n## CPython 3.1\n\nold\n\n{END}\n\nRest.\n", "utf-8")

    write(page, "first")
    write(page, "### Work\n\nsecond")

    assert page.read_text("utf-8") == (
        f"# Page\n\n{START}\n\n## CPython 3.1\n\nold\n\n"
        f"## {PYTHON}\n\n### Work\n\nsecond\n\n{END}\n\nRest.\n"
    )


def test_the_published_report_holds_measurements_and_nothing_else() -> None:
    page = (Path(__file__).parents[2] / "docs" / "performance.md").read_text("utf-8")
    report = page.partition(START)[2].partition(END)[0]
    told = re.compile(r"#{2,3} |\| |Measured on |[\d,]+ sections, |$")
    assert [line for line in report.splitlines() if not told.match(line)] == []


def test_parts_that_were_not_measured_again_stay(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"{START}\n{END}\n", "utf-8")

    write(page, "Monday\n\n### One\n\n1\n\n### Two\n\n2")
    write(page, "Tuesday\n\n### Two\n\n3")

    assert page.read_text("utf-8") == (
        f"{START}\n\n## {PYTHON}\n\nTuesday\n\n### One\n\n1\n\n### Two\n\n3\n\n{END}\n"
    )


def test_a_page_without_markers_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Page\n", "utf-8")

    with pytest.raises(ValueError, match="has no <!-- measured -->"):
        write(page, "measured")

    assert page.read_text("utf-8") == "# Page\n"


def test_a_plot_is_well_formed_and_draws_every_point() -> None:
    series = [Series("a & b", [(1, 10), (10, 90), (100, 2000)]), Series("c", [(1, 3)])]
    drawn = plot([Panel("Cost", "things", "µs", series)])

    circles = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}circle")
    assert len(list(circles)) == 4
    assert drawn == plot([Panel("Cost", "things", "µs", series)])
