"""Time zones: by name, and the one that the machine is set to."""

from __future__ import annotations

import re
import warnings
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import attrs
import tzlocal

#: The setting that stands for the zone of the machine.
LOCAL: Final = "local"
#: Names of zones; what else lies in the folders of the database is none.
_NAME: Final = re.compile(r"(?!localtime$|posixrules$)[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_LONGEST: Final = 100


@attrs.frozen
class Zone:
    """A time zone: its IANA *name* (None: it is known by its offset alone), and its *rules*.

    Without *rules* they are those of the operating system.
    """

    name: str | None
    rules: tzinfo | None

    def at(self, moment: datetime) -> datetime:
        """Give *moment*, which knows its own zone, as the clocks of this zone show it."""
        return moment.astimezone(self.rules)


def named_zone(name: str) -> Zone | None:
    """Give the zone with the IANA *name*, or None where there is no such zone."""
    if name == "UTC":
        return Zone(name, UTC)  # needs no database
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        return None
    try:
        return Zone(name, ZoneInfo(name))
    except (OSError, ValueError, LookupError):  # a folder, no zone at all, nothing
        return None


def local_zone() -> Zone:
    """Give the zone of the machine as it is set now, by name where that can be found out.

    The name is believed only as far as its clocks show what those of the system do.
    """
    zone = named_zone(_local_name())
    now = datetime.now(UTC)
    if zone is None or zone.at(now).utcoffset() != now.astimezone().utcoffset():
        return Zone(None, None)
    return zone


def _local_name() -> str:
    with warnings.catch_warnings():
        # What does not fit together is looked at above.
        warnings.simplefilter("ignore")
        try:
            return str(tzlocal.reload_localzone())
        except (OSError, ValueError, LookupError):  # TZ may hold rules in place of a name
            return ""
