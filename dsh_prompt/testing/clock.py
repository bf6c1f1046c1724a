"""A clock that somebody sets, in place of the real one, for a process of its own.

Code that is imported later gets it from `time` and `datetime`; what measures durations
(`time.monotonic`) is left alone.
"""

from __future__ import annotations

import datetime as dt
import time
from datetime import date as real_date
from datetime import datetime as real_datetime
from typing import Any

_NANOSECONDS = 1_000_000_000


class Clock:
    """The time that there is now, in seconds since the epoch."""

    def __init__(self, now: float) -> None:
        self.now = now


def install(now: float) -> Clock:
    """Let the process have a clock that stands at *now*, and give it, to be set."""
    clock = Clock(now)
    localtime, gmtime, strftime, asctime = time.localtime, time.gmtime, time.strftime, time.asctime

    def at(seconds: float | None) -> float:
        return clock.now if seconds is None else seconds

    replacements: dict[str, Any] = {
        "time": lambda: clock.now,
        "time_ns": lambda: int(clock.now) * _NANOSECONDS,
        "localtime": lambda seconds=None: localtime(at(seconds)),
        "gmtime": lambda seconds=None: gmtime(at(seconds)),
        "ctime": lambda seconds=None: asctime(localtime(at(seconds))),
        "asctime": lambda parts=None: asctime(parts or localtime(clock.now)),
        "strftime": lambda form, parts=None: strftime(form, parts or localtime(clock.now)),
    }
    for name, function in replacements.items():
        setattr(time, name, function)
    _replace_classes(clock)
    return clock


def _replace_classes(clock: Clock) -> None:
    class Date(real_date, metaclass=_LikeTheReal):
        real = real_date

        @classmethod
        def today(cls) -> Any:
            return real_date.fromtimestamp(clock.now)  # noqa: DTZ012 - as the real one

    class Datetime(real_datetime, metaclass=_LikeTheReal):
        real = real_datetime

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return real_datetime.fromtimestamp(clock.now, tz)

        @classmethod
        def today(cls) -> Any:
            return real_datetime.fromtimestamp(clock.now)  # noqa: DTZ006 - as the real one

        @classmethod
        def utcnow(cls) -> Any:
            return real_datetime.fromtimestamp(clock.now, dt.UTC).replace(tzinfo=None)

    dt.date, dt.datetime = Date, Datetime  # type: ignore[misc]


class _LikeTheReal(type):
    """Of classes that stand in for a real one: its instances are theirs."""

    def __instancecheck__(cls, instance: object) -> bool:
        real = vars(cls).get("real")
        return type.__instancecheck__(cls if real is None else real, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        real = vars(cls).get("real")
        return type.__subclasscheck__(cls if real is None else real, subclass)
