"""The heads of skills, read again only when a file has changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import UnusableError, decode, signature
from dsh_prompt_skills.front_matter import NoFrontMatterError, cost, fields_of, split
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

    *cost* is what it took to parse its *front* matter, see `front_matter.cost`.
    """

    head: Head | None = None
    notes: tuple[str, ...] = ()
    cost: int = 0
    signature: tuple[int, ...] = ()
    front: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class _Kept:
    """A *reading* of a file that has looked the same *since* then, on the monotonic clock."""

    reading: Reading
    since: int
    is_settled: bool


class Readings:
    """Reads the heads of skills, and keeps them for as long as the files stay as they are."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: dict[tuple[Candidate, str], _Kept] = {}

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._kept.clear()

    def read(self, reader: Reader, place: Place) -> Reading:
        """Give the head of the file at *place*; nothing that is wrong with it raises."""
        seen = signature(place.candidate.path)
        # The same file may be out of bounds in another project, or be called otherwise.
        key = (place.candidate, place.expected)
        kept = self._kept.get(key)
        is_same = kept is not None and kept.reading.signature == seen
        if kept is not None and is_same and kept.is_settled:
            return kept.reading
        now, since = time.time_ns(), time.monotonic_ns()
        settled = bool(seen) and now - max(seen[-2:]) > _UNSETTLED
        if kept is not None and is_same:
            # Its times may lie in the future: then it counts how long nothing has changed.
            settled = settled or since - kept.since > _UNSETTLED
            since = kept.since
        reading = _read(reader, place, self._limit, kept.reading if kept else Reading())
        reading = attrs.evolve(reading, signature=seen)
        if seen:
            self._keep(key, _Kept(reading, since, settled))
        return reading

    def _keep(self, key: tuple[Candidate, str], kept: _Kept) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = kept


def _read(reader: Reader, place: Place, limit: int, before: Reading) -> Reading:
    """Read the file at *place*; what it said *before* is not parsed again."""
    try:
        data = reader.read(place.candidate, limit)
        if data is None:
            return Reading()
        front = split(decode(data)).front
    except NoFrontMatterError as exc:
        # A folder of skills may have its README.
        is_other = not place.folder and not is_name(place.expected)
        return Reading(notes=() if is_other else (str(exc),))
    except UnusableError as exc:
        return Reading(notes=(str(exc),))
    return before if before.front == front else _parsed(front, place.expected)


def _parsed(front: str, expected: str) -> Reading:
    notes: list[str] = []
    head = None
    # What is no YAML at once is parsed again as if it had quotes.
    times = 2
    try:
        fields, notes = fields_of(front)
        times = 2 if notes else 1
        head = head_of(fields, expected, notes)
    except UnusableError as exc:
        notes.append(str(exc))
    return Reading(head, tuple(notes), times * cost(front), front=front)
