"""What the host calls in each assembly."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dsh_prompt import Key
from dsh_prompt_clock.words import describe
from dsh_prompt_clock.zones import LOCAL, local_zone, named_zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_clock.config import Config
    from dsh_prompt_clock.zones import Zone

#: The moment to tell in place of the present one: a `datetime` that knows its zone.
NOW: Final = Key[datetime]("now")


def clock_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the context's text; the zone is looked up here, once."""
    zone = _zone(config)

    def clock(context: AssembleContext) -> str:
        moment = _moment(context)
        try:
            return describe(moment, zone, config)
        except OverflowError:
            raise ValueError(f"NOW has no date in the zone {config.zone}: {moment!r}") from None

    return clock


def _zone(config: Config) -> Zone:
    zone = None if config.zone == LOCAL else named_zone(config.zone)
    return local_zone() if zone is None else zone


def _moment(context: AssembleContext) -> datetime:
    moment = context.get(NOW)
    if moment is None:
        return datetime.now(UTC)
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise ValueError(f"NOW must be a datetime that knows its time zone, not {moment!r}")
    return moment
