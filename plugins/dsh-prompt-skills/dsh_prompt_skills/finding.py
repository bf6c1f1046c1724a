"""One look at all the places: what is there, ranked, and what is wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Problem, Reader
from dsh_prompt_skills.listing import places_in, shown
from dsh_prompt_skills.roots import roots_for
from dsh_prompt_skills.values import Found, Skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.installed import Installed
    from dsh_prompt_skills.readings import Reading, Readings
    from dsh_prompt_skills.values import Place, Rank

#: What the skills of one rank may cost, see `front_matter.cost`: to parse so much takes less than a
#: second, once.
_MOST: Final = 256 * 1024
#: What an entry of a folder costs, which is looked at for each call of a model.
_ENTRY: Final = 128
#: What a file that is there costs at least.
_FILE: Final = 256


def find(workdir: str | None, config: Config, readings: Readings, installed: Installed) -> Found:
    """Find the skills for an agent in *workdir*; without one, none of a project."""
    problems: list[Problem] = []
    spent: Counter[Rank] = Counter()
    places = _places(_folders(workdir, config, installed, problems), spent, problems)
    with Reader() as reader:
        read = _read(places, reader, readings, spent)
        skills = _ranked(_noted(read, problems), problems)
    return Found(skills, tuple(problems))


def _folders(
    workdir: str | None, config: Config, installed: Installed, problems: list[Problem]
) -> Iterator[tuple[Rank, str, Iterable[Place | None]]]:
    """Give the folders to look into: rank, name, and what is there, None for what is no skill."""
    seen: set[str] = set()
    for root in roots_for(workdir, config, problems):
        yield root.rank, shown(root.path, root), places_in(root, seen, problems)
    if config.installed:
        scan = installed.scan()
        problems += scan.problems
        places = (place for place in scan.places if place.folder not in seen)
        yield "installed", "sys.path", places


def _places(
    folders: Iterable[tuple[Rank, str, Iterable[Place | None]]],
    spent: Counter[Rank],
    problems: list[Problem],
) -> Iterator[Place]:
    """Give the places of each rank until too much is *spent* on it; each entry costs something."""
    for rank, name, places in folders:
        for place in places if spent[rank] <= _MOST else ():
            spent[rank] += _ENTRY
            if place is not None:
                yield place
            if spent[rank] > _MOST:
                what = f"is where the look for {rank} skills ends: there are too many"
                problems.append(Problem(name, what))
                break


def _read(
    places: Iterable[Place],
    reader: Reader,
    readings: Readings,
    spent: Counter[Rank],
) -> Iterator[tuple[Place, Reading]]:
    """Read the files at *places*, and tell what is *spent* on them."""
    for place in places:
        reading = readings.read(reader, place)
        if reading.signature:
            spent[place.rank] += max(reading.cost, _FILE)
        yield place, reading


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
