"""One look at all the places: what is there, ranked, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Problem, Reader
from dsh_prompt_skills.listing import places_in
from dsh_prompt_skills.roots import roots_for
from dsh_prompt_skills.values import Found, Skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.installed import Installed
    from dsh_prompt_skills.readings import Reading, Readings
    from dsh_prompt_skills.values import Place, Rank

#: Characters of front matter that one rank may have: to parse so many takes seconds, once.
_MOST_CHARACTERS: Final = 512 * 1024
#: What a file counts for at least: to read it takes time, too.
_LEAST: Final = 256


def find(workdir: str | None, config: Config, readings: Readings, installed: Installed) -> Found:
    """Find the skills for an agent in *workdir*; without one, none of a project."""
    problems: list[Problem] = []
    places = _places(workdir, config, installed, problems)
    with Reader() as reader:
        read = _read(places, reader, readings, problems)
        skills = _ranked(_noted(read, problems), problems)
    return Found(skills, tuple(problems))


def _places(
    workdir: str | None, config: Config, installed: Installed, problems: list[Problem]
) -> Iterator[Place]:
    seen: set[str] = set()
    for root in roots_for(workdir, config, problems):
        yield from places_in(root, seen, problems)
    if config.installed:
        scan = installed.scan()
        problems += scan.problems
        yield from (place for place in scan.places if place.folder not in seen)


def _read(
    places: Iterable[Place], reader: Reader, readings: Readings, problems: list[Problem]
) -> Iterator[tuple[Place, Reading]]:
    """Read the files at *places*, as long as those of one rank are not too many."""
    sizes: dict[Rank, int] = {}
    for place in places:
        size = sizes.get(place.rank, 0)
        if size <= _MOST_CHARACTERS:
            reading = readings.read(reader, place)
            size += max(reading.size, _LEAST)
            sizes[place.rank] = size
            yield place, reading
            if size > _MOST_CHARACTERS:
                what = f"is the last {place.rank} skill that is read: there are too many"
                problems.append(Problem(place.candidate.shown, what))


def _noted(
    read: Iterable[tuple[Place, Reading]], problems: list[Problem]
) -> Iterator[tuple[Skill, Reading]]:
    for place, reading in read:
        if reading.notes:
            shown = place.candidate.shown
            problems += [Problem(shown, note, reading.signature) for note in reading.notes]
        if reading.head is not None:
            yield Skill(reading.head, place), reading


def _ranked(read: Iterable[tuple[Skill, Reading]], problems: list[Problem]) -> tuple[Skill, ...]:
    """Keep the first skill of each name: they come by rank."""
    kept: dict[str, Skill] = {}
    for skill, reading in read:
        used = kept.setdefault(skill.name, skill)
        if used is not skill:
            what = f'is not used: skill "{skill.name}" is that of {used.path}'
            problems.append(Problem(skill.path, what, reading.signature))
    return tuple(kept.values())
