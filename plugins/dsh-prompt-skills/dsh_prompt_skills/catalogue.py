"""What a model is told of the skills that it may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import framed
from dsh_prompt_skills.bodies import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt_skills.values import Skill

_INTRO: Final = (
    "Skills are instructions for some kinds of work. Before you begin with work that one of these "
    "is about, load that skill with the tool `skill`, and follow it. The descriptions are those "
    "of the skills' authors:"
)


def catalogue(skills: Iterable[Skill], most: int) -> str:
    """List the *skills* that a model may start, one on a line, in at most *most* characters.

    They stand by rank. Where there is no room for all, those that do not fit are left out whole,
    and it says so. The empty string where there are none, or no room even to say so.
    """
    offered = [skill for skill in skills if skill.head.by_model]
    if not offered or not most:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in offered]
    room = most - len(_listing(()))
    if sum(len(line) + 1 for line in lines) <= room:
        return _listing(lines)
    fitting = _fitting(lines, room - len(_count(len(lines), len(lines), ".")))
    if not fitting:
        return _nothing_but(len(lines), most)
    left_out = [skill.name for place, skill in enumerate(offered) if place not in fitting]
    text = _listing(lines[place] for place in fitting)
    notice = _count(len(left_out), len(lines), f": {listed(left_out)}.")
    if len(text) + len(notice) > most:
        notice = _count(len(left_out), len(lines), ".")
    return text + notice


def _fitting(lines: Iterable[str], room: int) -> dict[int, None]:
    """Give the places of those *lines* for which there is room, the first ones first."""
    fitting: dict[int, None] = {}
    for place, line in enumerate(lines):
        if len(line) < room:
            fitting[place] = None
            room -= len(line) + 1
    return fitting


def _listing(lines: Iterable[str]) -> str:
    return framed("skills", "\n".join([_INTRO, *lines]))


def _count(missing: int, every: int, end: str) -> str:
    what = f"Left out for want of room: {missing} of {every} skills"
    return f"\n{what}, which the tool `skill` loads all the same{end}"


def _nothing_but(count: int, most: int) -> str:
    notice = f"The tool `skill` loads {count} skills; there is no room to list them."
    return notice if len(notice) <= most else ""
