"""What the model is told, and when it changes."""

from __future__ import annotations

import calendar
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import dsh_prompt_clock
import pytest
from dsh_prompt_clock import NOW
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import AssembleContext, ProviderError, SystemPrompt
from dsh_prompt.testing import assert_context

if TYPE_CHECKING:
    from collections.abc import Callable

_ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns")
_MOMENTS = st.datetimes(
    datetime(1900, 1, 2),  # noqa: DTZ001 - Hypothesis adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@cache
def _host(zone: str, resolution: str) -> SystemPrompt:
    prompt = SystemPrompt()
    prompt.load(dsh_prompt_clock, config={"zone": zone, "resolution": resolution})
    return prompt


def _told(moment: datetime, zone: str = "UTC", resolution: str = "day") -> str:
    prompt = _host(zone, resolution)
    context = AssembleContext()
    context[NOW] = moment
    return prompt.assemble(context).contexts[0].text


def test_the_day_is_told(told: Callable[..., str]) -> None:
    """Without settings the model gets the date in UTC, with the day of the week."""
    moment = datetime(2026, 1, 1, 20, 30, tzinfo=UTC)
    assert told(moment) == "date: Thursday, 2026-01-01\nzone: UTC"


def test_the_zone_decides_on_the_date(told: Callable[..., str]) -> None:
    """Where it is tomorrow already, the model is told tomorrow's date."""
    moment = datetime(2026, 1, 1, 20, 30, tzinfo=UTC)
    assert told(moment, zone="Asia/Tokyo") == "date: Friday, 2026-01-02\nzone: Asia/Tokyo"


@pytest.mark.parametrize(
    ("resolution", "hour", "lines"),
    [
        ("hour", 13, "time: between 14:00 and 15:00\nzone: Europe/Berlin (UTC+01:00)"),
        ("hour", 22, "time: between 23:00 and 24:00\nzone: Europe/Berlin (UTC+01:00)"),
        ("minute", 7, "time: 08:05\nzone: Europe/Berlin (UTC+01:00)"),
    ],
)
def test_the_time_is_told(told: Callable[..., str], resolution: str, hour: int, lines: str) -> None:
    """With a finer resolution the time is told as well, and the offset with the zone."""
    moment = datetime(2026, 1, 2, hour, 5, 59, tzinfo=UTC)
    text = told(moment, zone="Europe/Berlin", resolution=resolution)
    assert text == f"date: Friday, 2026-01-02\n{lines}"


def test_summer_time(told: Callable[..., str]) -> None:
    """The hour that comes twice when summer time ends is told with two offsets."""
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    texts = [
        told(first + timedelta(hours=hours), zone="Europe/Berlin", resolution="minute")
        for hours in range(3)
    ]
    assert [text.partition("\n")[2] for text in texts] == [
        "time: 02:30\nzone: Europe/Berlin (UTC+02:00)",
        "time: 02:30\nzone: Europe/Berlin (UTC+01:00)",
        "time: 03:30\nzone: Europe/Berlin (UTC+01:00)",
    ]


def test_a_day_with_a_change_of_the_clocks_has_one_text(told: Callable[..., str]) -> None:
    """Of a day on which the clocks change, the text stays the same."""
    begin = datetime(2026, 3, 29, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(UTC)
    texts = {told(begin + timedelta(hours=n), zone="Europe/Berlin") for n in range(23)}
    assert texts == {"date: Sunday, 2026-03-29\nzone: Europe/Berlin"}


def test_the_first_and_the_last_years(told: Callable[..., str]) -> None:
    """Years are written with four digits."""
    assert told(datetime(1, 1, 2, tzinfo=UTC)) == "date: Tuesday, 0001-01-02\nzone: UTC"
    assert told(datetime(9999, 12, 31, tzinfo=UTC)) == "date: Friday, 9999-12-31\nzone: UTC"


@settings(max_examples=40)
@given(_MOMENTS, st.sampled_from(_ZONES))
def test_the_text_holds_until_midnight(moment: datetime, zone: str) -> None:
    """By day, two moments have the same text if, and only if, they have the same date there."""
    other = moment + timedelta(hours=9)
    there = ZoneInfo(zone)
    same = moment.astimezone(there).date() == other.astimezone(there).date()
    assert (_told(moment, zone=zone) == _told(other, zone=zone)) is same


@settings(max_examples=40)
@given(_MOMENTS, st.sampled_from(_ZONES))
def test_the_minute_says_when_it_was(moment: datetime, zone: str) -> None:
    """By minute, the text can be read back as the moment, to the minute."""
    day, time, where = _told(moment, zone=zone, resolution="minute").splitlines()
    offset = moment.astimezone(ZoneInfo(zone)).utcoffset() or timedelta()
    hours, minutes = divmod(abs(int(offset.total_seconds())) // 60, 60)
    sign = "-" if offset < timedelta() else "+"
    named = "UTC" if zone == "UTC" else f"{zone} (UTC{sign}{hours:02}:{minutes:02})"
    local = (moment + offset).replace(tzinfo=None)
    assert day == f"date: {calendar.day_name[local.weekday()]}, {local.date().isoformat()}"
    assert time == f"time: {local.time().isoformat('minutes')}"
    assert where == f"zone: {named}"


@settings(max_examples=40)
@given(_MOMENTS, st.integers(-23, 23))
def test_the_zone_of_the_moment_does_not_matter(moment: datetime, hours: int) -> None:
    """One moment is told in the same way, in whichever zone the caller gives it."""
    elsewhere = moment.astimezone(timezone(timedelta(hours=hours)))
    assert _told(elsewhere, resolution="minute") == _told(moment, resolution="minute")


def test_without_a_moment_it_is_the_present(told: Callable[..., str]) -> None:
    """The date is that of the machine's clock where the caller gives none."""
    before = datetime.now(UTC).date()
    text = told()
    days = [line.partition(", ")[2] for line in text.splitlines()[:1]]
    assert before <= date.fromisoformat(days[0]) <= datetime.now(UTC).date()


@pytest.mark.parametrize("moment", [datetime(2026, 1, 1), "2026-01-01", 0])  # noqa: DTZ001
def test_a_moment_that_is_none(moment: Any) -> None:
    """A moment without a zone could be any of a day's hours, so it is refused."""
    prompt = SystemPrompt()
    prompt.load(dsh_prompt_clock, name="clock")
    context = AssembleContext()
    context[NOW] = moment
    with pytest.raises(ProviderError, match=r'"clock".*NOW must be a datetime that knows its'):
        prompt.assemble(context)


@pytest.mark.parametrize(
    ("moment", "zone"),
    [
        (datetime.max.replace(tzinfo=UTC), "Asia/Tokyo"),
        (datetime.min.replace(tzinfo=UTC), "America/New_York"),
    ],
)
def test_a_moment_at_the_end_of_time(moment: datetime, zone: str) -> None:
    """Where the clocks of the zone would show no date that there is, it is told which moment."""
    prompt = SystemPrompt()
    prompt.load(dsh_prompt_clock, name="clock", config={"zone": zone})
    context = AssembleContext()
    context[NOW] = moment
    with pytest.raises(ProviderError, match=f"NOW has no date in the zone {zone}"):
        prompt.assemble(context)


def test_it_is_a_context_alone(dsh_prompt_host: SystemPrompt) -> None:
    """Nothing but one runtime context is contributed: what changes stays out of the prefix."""
    before = dsh_prompt_host.assemble()
    info = dsh_prompt_host.load(dsh_prompt_clock, name="clock")
    assembly = dsh_prompt_host.assemble()
    assert info.contributions == (("context", "clock", None),)
    assert assembly.fingerprint().prefix == before.fingerprint().prefix
    assert_context(assembly, "clock", contains="zone: UTC", plugin="clock")


@pytest.mark.parametrize(
    ("resolution", "title"),
    [("day", "Date"), ("hour", "Date and time"), ("minute", "Date and time")],
)
def test_the_title_says_what_there_is(
    dsh_prompt_host: SystemPrompt, resolution: str, title: str
) -> None:
    """The heading promises a time only where there is one."""
    dsh_prompt_host.load(dsh_prompt_clock, config={"resolution": resolution})
    assert dsh_prompt_host.assemble().contexts[0].title == title


def test_a_scope_has_a_zone_of_its_own(dsh_prompt_host: SystemPrompt) -> None:
    """Loaded into a scope, it tells that scope's agent another zone."""
    scope = dsh_prompt_host.create_scope("tokyo")
    dsh_prompt_host.load(dsh_prompt_clock, name="clock")
    config = {"zone": "Asia/Tokyo"}
    dsh_prompt_host.load(dsh_prompt_clock, name="clock", scope=scope, config=config)
    assert_context(dsh_prompt_host.assemble(), "clock", contains="zone: UTC")
    (clock,) = dsh_prompt_host.assemble(scope=scope).contexts
    assert clock.text.endswith("zone: Asia/Tokyo")


def test_it_follows_a_running_clock() -> None:
    """In one process the text changes when a day is over, and not before."""
    code = """
from dsh_prompt.testing import clock
now = clock.install(1_767_299_400.0)    # 2026-01-01 20:30 UTC
import dsh_prompt_clock
from dsh_prompt import SystemPrompt
prompt = SystemPrompt()
prompt.load(dsh_prompt_clock)
for hours in (0, 3, 1, 24):
    now.now += hours * 3600
    print(prompt.assemble().contexts[0].text.partition("\\n")[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == [
        "date: Thursday, 2026-01-01",
        "date: Thursday, 2026-01-01",
        "date: Friday, 2026-01-02",
        "date: Saturday, 2026-01-03",
    ]
