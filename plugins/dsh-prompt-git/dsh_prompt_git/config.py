"""What a user may set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable


def _whole(low: int, high: int) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """Make a validator of a whole number from *low* to *high*."""

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(
                f"{field.name} must be a whole number from {low} to {high}, not {value!r}"
            )

    return check


def _seconds(high: float) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """Make a validator of a time above zero and up to *high* seconds."""

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        number = None if isinstance(value, bool) else value
        if not isinstance(number, int | float) or not 0 < number <= high:
            raise ValueError(
                f"{field.name} must be seconds above 0 and up to {high:g}, not {value!r}"
            )

    return check


def _flag(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(f"{field.name} must be true or false, not {value!r}")  # noqa: TRY004


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *max_files*: how many names each group of files shows, 0 to 1000; 0 leaves the counts alone.

    *max_commits*: how many of the last commits are shown, 0 to 100.

    *timeout*: the seconds that one whole reading may take, up to 60; past it there is no text.

    *untracked*: whether git looks for files that it does not track, the slowest part of a reading.

    A value outside of these raises `ValueError` naming the field.
    """

    max_files: int = attrs.field(default=20, validator=_whole(0, 1000))
    max_commits: int = attrs.field(default=5, validator=_whole(0, 100))
    timeout: float = attrs.field(default=2.0, validator=_seconds(60))
    untracked: bool = attrs.field(default=True, validator=_flag)
