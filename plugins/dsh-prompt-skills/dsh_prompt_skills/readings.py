"""The heads of skills, read again only when a file has changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import UnusableError, decode, signature
from dsh_prompt_skills.front_matter import NoFrontMatterError, fields_of, split
from dsh_prompt_skills.rules import head_of, is_name

if TYPE_CHECKING:
    from dsh_prompt.untrusted import Candidate, Reader
    from dsh_prompt_skills.values import Head, Place

#: Nanoseconds within which a file may change again without its times telling: some file systems
#: count in two seconds.
_UNSETTLED: Final = 2_000_000_000
_MOST_KEPT: Final = 5000


@attrs.frozen
class Reading:
    """The *head* of a file, None where it is no skill, and the *notes* of what is wrong.

    *size* is how many characters its front matter has.
    """

    head: Head | None = None
    notes: tuple[str, ...] = ()
    size: int = 0
    signature: tuple[int, ...] = ()


class Readings:
    """Reads the heads of skills, and keeps them for as long as the files stay as they are."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: dict[tuple[Candidate, str], Reading] = {}

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._kept.clear()

    def read(self, reader: Reader, place: Place) -> Reading:
        """Give the head of the file at *place*; nothing that is wrong with it raises."""
        seen = signature(place.candidate.path)
        # The same file may be out of bounds in another project, or be called otherwise.
        key = (place.candidate, place.expected)
        kept = self._kept.get(key)
        if kept is not None and kept.signature == seen:
            return kept
        now = time.time_ns()
        reading = attrs.evolve(_read(reader, place, self._limit), signature=seen)
        if seen and now - max(seen[-2:]) > _UNSETTLED:
            self._keep(key, reading)
        return reading

    def _keep(self, key: tuple[Candidate, str], reading: Reading) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = reading


def _read(reader: Reader, place: Place, limit: int) -> Reading:
    notes: list[str] = []
    size = 0
    try:
        data = reader.read(place.candidate, limit)
        if data is None:
            return Reading()
        front = split(decode(data)).front
        size = len(front)
        fields, notes = fields_of(front)
        return Reading(head_of(fields, place.expected, notes), tuple(notes), size)
    except NoFrontMatterError as exc:
        # A folder of skills may have its README.
        is_other = not place.folder and not is_name(place.expected)
        return Reading(notes=() if is_other else (str(exc),))
    except UnusableError as exc:
        return Reading(None, (*notes, str(exc)), size)
