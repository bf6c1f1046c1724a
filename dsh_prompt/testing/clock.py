"""A clock that somebody sets, in place of the real one, for a process of its own.

Code that is imported later gets it from `time` and `datetime`; what measures durations
(`time.monotonic`) is left alone. Whoever sleeps in the main thread sees it move by as much.
"""

from __future__ import annotations

import copyreg
import datetime as dt
import threading
import time
from contextlib import suppress
from datetime import date as real_date
from datetime import datetime as real_datetime
from typing import Any

_NANOSECONDS = 1_000_000_000


class Clock:
    """The time that there is now, in seconds since the epoch."""

    def __init__(self, now: float) -> None:
        self.now = now


_clock = Clock(0.0)


def install(now: float) -> Clock:
    """Let the process have a clock that stands at *now*, and give it, to be set."""
    _clock.now = now
    if dt.datetime is real_datetime:
        _replace_functions()
        _replace_classes()
    return _clock


def _replace_functions() -> None:
    clock = _clock
    localtime, gmtime, strftime, asctime = time.localtime, time.gmtime, time.strftime, time.asctime
    real_sleep = time.sleep

    def at(seconds: float | None) -> float:
        return clock.now if seconds is None else seconds

    def sleep(seconds: float) -> None:
        real_sleep(seconds)
        if threading.current_thread() is threading.main_thread():
            clock.now += seconds

    replacements: dict[str, Any] = {
        "time": lambda: clock.now,
        "time_ns": lambda: int(clock.now) * _NANOSECONDS,
        "localtime": lambda seconds=None: localtime(at(seconds)),
        "gmtime": lambda seconds=None: gmtime(at(seconds)),
        "ctime": lambda seconds=None: asctime(localtime(at(seconds))),
        "asctime": lambda parts=None: asctime(parts or localtime(clock.now)),
        "strftime": lambda form, parts=None: strftime(form, parts or localtime(clock.now)),
        "sleep": sleep,
    }
    if hasattr(time, "clock_gettime"):  # not on Windows
        replacements |= _of_the_system_clock(clock)
    for name, function in replacements.items():
        setattr(time, name, function)


def _of_the_system_clock(clock: Clock) -> dict[str, Any]:
    gettime, gettime_ns = time.clock_gettime, time.clock_gettime_ns
    real = time.CLOCK_REALTIME
    return {
        "clock_gettime": lambda which: clock.now if which == real else gettime(which),
        "clock_gettime_ns": lambda which: time.time_ns() if which == real else gettime_ns(which),
    }


class _LikeTheReal(type):
    """Of classes that stand in for a real one: its instances are theirs."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(_REAL.get(cls, cls), instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(_REAL.get(cls, cls), subclass)


class _Date(real_date, metaclass=_LikeTheReal):
    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(_clock.now)


class _Datetime(real_datetime, metaclass=_LikeTheReal):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        return cls.fromtimestamp(_clock.now, tz)

    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(_clock.now)

    @classmethod
    def utcnow(cls) -> Any:
        return cls.fromtimestamp(_clock.now, dt.UTC).replace(tzinfo=None)


_REAL: dict[type, type] = {_Date: real_date, _Datetime: real_datetime}


def _replace_classes() -> None:
    for stand_in, real in _REAL.items():
        # Pickle and messages find it under the name of the real one,
        stand_in.__module__, stand_in.__name__, stand_in.__qualname__ = (
            real.__module__,
            real.__name__,
            real.__qualname__,
        )
        setattr(dt, real.__name__, stand_in)
        # and those of the real one, which calculations give, are pickled under it, too.
        copyreg.pickle(real, _as_stand_in)
    with suppress(ImportError):  # some builds of Python have no SQLite
        _tell_sqlite()


def _tell_sqlite() -> None:
    """Let SQLite take the stand-ins: it asks for exactly the classes that it knows."""
    import sqlite3  # noqa: PLC0415 - not everywhere

    sqlite3.register_adapter(_Date, real_date.isoformat)
    sqlite3.register_adapter(_Datetime, lambda moment: moment.isoformat(" "))


def _as_stand_in(value: real_date) -> tuple[Any, ...]:
    return (getattr(dt, type(value).__name__), *value.__reduce__()[1:])
