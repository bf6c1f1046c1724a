"""What a user may set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.fields import one_of
from dsh_prompt_clock.zones import LOCAL, named_zone

if TYPE_CHECKING:
    from dsh_prompt_clock.zones import Zone


def _zone(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if value == LOCAL:
        return
    zone: Zone | None = named_zone(value) if isinstance(value, str) else None
    if zone is None:
        raise ValueError(
            f'{field.name} must be "{LOCAL}" or the IANA name of a time zone, such as '
            f'"Europe/Berlin", not {value!r}'
        )


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *resolution*: how finely the time is told: `"day"`, `"hour"` or `"minute"`. The text changes,
    and a new snapshot is due, as often as that.

    *zone*: the IANA name of the time zone, or `"local"` for the zone of the machine.

    A value outside of these raises `ValueError` naming the field.
    """

    resolution: Literal["day", "hour", "minute"] = attrs.field(
        default="day", validator=one_of("day", "hour", "minute")
    )
    zone: str = attrs.field(default="UTC", validator=_zone)
