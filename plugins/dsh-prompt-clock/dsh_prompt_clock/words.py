"""A moment in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dsh_prompt_clock.config import Config
    from dsh_prompt_clock.zones import Zone

#: Those of the standard library are in the language of the locale.
_WEEKDAYS: Final = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)


def describe(moment: datetime, zone: Zone, config: Config) -> str:
    """Say which *moment* it is by the clocks of *zone*: the same words until the next step."""
    return "\n".join(_lines(zone.at(moment), zone.name, config.resolution))


def _lines(shown: datetime, name: str | None, resolution: str) -> Iterator[str]:
    yield f"date: {_WEEKDAYS[shown.weekday()]}, {shown.date().isoformat()}"
    if resolution == "hour":
        yield f"time: between {shown.hour:02}:00 and {shown.hour + 1:02}:00"
    elif resolution == "minute":
        yield f"time: {shown.hour:02}:{shown.minute:02}"
    yield f"zone: {_zone(shown, name, resolution)}"


def _zone(shown: datetime, name: str | None, resolution: str) -> str:
    """Name the zone; with the time of day goes the offset, as an hour can come twice in a day."""
    if name is None:
        return _offset(shown)
    return name if name == "UTC" or resolution == "day" else f"{name} ({_offset(shown)})"


def _offset(shown: datetime) -> str:
    offset = f"{shown:%z}"  # old ones go on with seconds, which nobody counts
    return f"UTC{offset[:3]}:{offset[3:5]}"
