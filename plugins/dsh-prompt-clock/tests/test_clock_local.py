"""The zone of the machine."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dsh_prompt_clock
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import SystemPrompt

_SUMMER = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
_WINTER = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def local(told: Callable[..., str]) -> Callable[..., list[str]]:
    """Give a function that reads time and zone of a moment, by the clock of the machine."""

    def read(moment: datetime) -> list[str]:
        return told(moment, zone="local", resolution="minute").splitlines()[1:]

    return read


@pytest.mark.parametrize("value", ["Europe/Berlin", ":Europe/Berlin"])
def test_by_name(
    set_zone: Callable[[str], None], local: Callable[..., list[str]], value: str
) -> None:
    """A zone that has a name is told by it, and has its rules in summer and in winter."""
    set_zone(value)
    assert local(_SUMMER) == ["time: 14:00", "zone: Europe/Berlin (UTC+02:00)"]
    assert local(_WINTER) == ["time: 13:00", "zone: Europe/Berlin (UTC+01:00)"]


def test_rules_in_place_of_a_name(
    set_zone: Callable[[str], None], local: Callable[..., list[str]]
) -> None:
    """Of a zone that is given by its rules, the offset is told, in summer and in winter."""
    set_zone("AAA-5BBB,M3.5.0,M10.5.0/3")
    assert local(_SUMMER) == ["time: 18:00", "zone: UTC+06:00"]
    assert local(_WINTER) == ["time: 17:00", "zone: UTC+05:00"]


@pytest.mark.parametrize(
    ("value", "zone"),
    [("WEST+11", "UTC-11:00"), ("HALF-5:45", "UTC+05:45"), ("EAST-13", "UTC+13:00")],
)
def test_an_offset(
    set_zone: Callable[[str], None], told: Callable[..., str], value: str, zone: str
) -> None:
    """A zone that is a mere offset is told as one, by day as well."""
    set_zone(value)
    assert told(_WINTER, zone="local").splitlines()[1] == f"zone: {zone}"


@pytest.mark.parametrize(
    "value", ["", "Nowhere/Land", "\x1b[31m", "../../etc/passwd", "é", "x" * 9000]
)
def test_what_is_no_zone(
    set_zone: Callable[[str], None], told: Callable[..., str], value: str
) -> None:
    """What no system understands changes the offset at most, and never shows in the text."""
    set_zone(value)
    offset = _WINTER.astimezone().strftime("%z")
    zone = told(_WINTER, zone="local", resolution="minute").splitlines()[-1]
    assert f"UTC{offset[:3]}:{offset[3:]}" in zone or zone == "zone: UTC"
    assert value == "" or value not in zone


@pytest.mark.skipif(sys.platform != "linux", reason="others may read TZ at any time")
def test_a_name_whose_clock_is_another(
    set_zone: Callable[[str], None],
    local: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that the clock of the system does not bear out is not told."""
    set_zone("EAST-13")
    monkeypatch.setenv("TZ", "Europe/Berlin")  # without tzset the clock still stands as before
    assert local(_SUMMER) == ["time: 01:00", "zone: UTC+13:00"]


def test_the_zone_is_looked_up_at_a_load(
    set_zone: Callable[[str], None],
    dsh_prompt_host: SystemPrompt,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A change of the machine's zone shows after a reload."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "dsh_prompt_clock":
            monkeypatch.setitem(sys.modules, name, module)  # the other tests hold these
    set_zone("Europe/Berlin")
    dsh_prompt_host.load(dsh_prompt_clock, name="clock", config={"zone": "local"})
    set_zone("Asia/Tokyo")
    assert dsh_prompt_host.assemble().contexts[0].text.endswith("zone: Europe/Berlin")
    dsh_prompt_host.reload("clock")
    assert dsh_prompt_host.assemble().contexts[0].text.endswith("zone: Asia/Tokyo")
