"""The clock and the listings of a fresh process, what a plugin requires, and who holds what."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt.testing import check_plugin
from dsh_prompt.testing.fresh_process import run
from dsh_prompt.testing.parts import Part, changes
from dsh_prompt.testing.places import code_place, holder_of
from dsh_prompt.testing.surroundings import several
from tests.sites import Site

if TYPE_CHECKING:
    from pathlib import Path


def look_at_the_clock() -> dict[str, Any]:
    """Ask every clock, in a process where time stands still."""
    moment = dt.datetime.now(dt.UTC)
    return {
        "texts": [
            moment.isoformat(),
            dt.datetime.utcnow().isoformat(),  # noqa: DTZ003
            str(dt.datetime.today()),  # noqa: DTZ002
            str(dt.date.today()),  # noqa: DTZ011
            time.ctime(),
            time.asctime(),
            time.strftime("%H:%M"),
            str(time.gmtime().tm_hour),
            str(time.time_ns()),
            str(time.time()),
        ],
        "types": [
            isinstance(moment, dt.datetime),
            isinstance(moment, dt.date),
            issubclass(type(moment), dt.date),
            isinstance("text", dt.date),
        ],
        "given": [time.ctime(0), time.strftime("%Y", time.gmtime(0))],
    }


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="TZ counts on POSIX systems alone")
def test_the_clock_stands_still() -> None:
    """Whatever code asks for the time, it is the same; dates are dates."""
    seen = run(f"{__name__}:look_at_the_clock", {}, surroundings=several()[0])
    assert seen["texts"] == [
        "2026-01-01T20:30:00+00:00",
        "2026-01-01T20:30:00",
        "2026-01-01 20:30:00",
        "2026-01-01",
        "Thu Jan  1 20:30:00 2026",
        "Thu Jan  1 20:30:00 2026",
        "20:30",
        "20",
        "1767299400000000000",
        "1767299400.0",
    ]
    assert seen["types"] == [True, True, True, False]
    assert seen["given"] == ["Thu Jan  1 00:00:00 1970", "1970"]


class Moment(dt.datetime):
    """A subclass, as several libraries have one."""


def use_the_clock() -> dict[str, Any]:
    """Do with dates what programs do, and wait for time to pass."""
    start = time.time()
    while time.time() < start + 0.02:
        time.sleep(0.01)
    threads = threading.Thread(target=time.sleep, args=(0.001,))
    threads.start()
    threads.join()
    moments = [dt.datetime.now(dt.UTC), dt.date.today(), dt.datetime(2020, 2, 1)]  # noqa: DTZ001, DTZ011
    moments += [dt.datetime.now(dt.UTC).date(), moments[0] + dt.timedelta(days=1)]
    rows = sqlite3.connect(":memory:").execute("select ?, ?", moments[1:3]).fetchall()
    return {
        "moved": round(time.time() - start, 3),
        "system": time.clock_gettime(time.CLOCK_REALTIME) == time.time(),
        "system ns": time.clock_gettime_ns(time.CLOCK_REALTIME) == time.time_ns(),
        "others": time.clock_gettime(time.CLOCK_MONOTONIC) != time.time(),
        "subclass": isinstance(Moment.now(), Moment),
        "pickled": pickle.loads(pickle.dumps(moments)) == moments,
        "copied": copy.deepcopy(moments) == moments,
        "kinds": [type(moment).__name__ for moment in pickle.loads(pickle.dumps(moments))],
        "rows": rows,
    }


@pytest.mark.skipif(not hasattr(time, "clock_gettime"), reason="Windows has no such clock")
def test_programs_can_use_the_clock() -> None:
    """Dates go through pickle, copies and SQLite; who waits for a time gets there."""
    assert run(f"{__name__}:use_the_clock", {}, surroundings=several()[0]) == {
        "moved": 0.02,
        "system": True,
        "system ns": True,
        "others": True,
        "subclass": True,
        "pickled": True,
        "copied": True,
        "kinds": ["datetime", "date", "datetime", "date", "datetime"],
        "rows": [["2026-01-01", "2020-02-01 00:00:00"]],
    }


CODE = """
from dsh_prompt import PromptSection, hookimpl

requires = {requires}

@hookimpl
def contribute_sections():
    return [PromptSection(name=__name__, order=10, text="{{{{{variable}}}}}")]

@hookimpl
def contribute_variables():
    return {{__name__.removeprefix("dsh_test_"): "value"}}
"""


def test_what_a_plugin_requires_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what that requires; a plugin that is missing is told."""
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(str(site.folder))
    site.plugin("base_kit", CODE.format(requires=(), variable="base_kit"))
    site.plugin("middle_kit", CODE.format(requires=("base_kit",), variable="base_kit"))
    site.plugin("top_kit", CODE.format(requires=["middle_kit"], variable="middle_kit"))
    site.plugin("lost_kit", CODE.format(requires=("gone_kit",), variable="lost_kit"))
    assert [r for r in check_plugin("top_kit") if r.status != "passed"] == []
    failed = [result for result in check_plugin("lost_kit") if result.status == "failed"]
    assert [result.name for result in failed] == ["loads"]
    assert '"gone_kit"' in failed[0].reasons[0]


class Thing:
    """Something to hold."""


def test_a_holder_that_no_module_leads_to() -> None:
    """Then the kind of object is told."""
    thing = Thing()
    holder = [thing]
    assert holder_of(thing).startswith("an object that no module leads to (")
    assert len(holder) == 1
    assert code_place(thing) == ""


def test_line_ends_are_shown() -> None:
    """A difference that no line shows is shown all the same."""
    before, after = Part("section", "a", "the host", "x\n"), Part("section", "a", "the host", "x")
    assert changes([before], [after]) == [
        "section \"a\" of the host has changed:\n    - 'x\\n'\n    + 'x'"
    ]
    twice = [before, before]
    assert changes(twice, twice) == []
