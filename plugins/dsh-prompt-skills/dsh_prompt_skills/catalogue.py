"""What a model is told of the skills that it may use."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import framed
from dsh_prompt_skills.bodies import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dsh_prompt_skills.values import Skill

_INTRO: Final = (
    "Skills are instructions for some kinds of work. Before you begin with work that one of these "
    "is about, load that skill with the tool `skill`, and follow it. The descriptions are those "
    "of the skills' authors:"
)


def catalogue(skills: Iterable[Skill], most: int) -> str:
    """List the *skills* that a model may start, one on a line, in at most *most* characters.

    They stand by rank. Where there is no room for all, the last ones are left out whole, and it
    says so. The empty string where there are none, or no room even to say so.
    """
    offered = [skill for skill in skills if skill.head.by_model]
    if not offered or not most:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in offered]
    sizes = [0, *accumulate(len(line) + 1 for line in lines)]
    around = len(_listing([]))
    for shown in range(len(lines), 0, -1):
        if around + sizes[shown] > most:
            continue
        for notice in _notices(offered, shown):
            if around + sizes[shown] + len(notice) <= most:
                return _listing(lines[:shown]) + notice
    return _nothing_but(len(offered), most)


def _listing(lines: Sequence[str]) -> str:
    return framed("skills", "\n".join([_INTRO, *lines]))


def _notices(offered: Sequence[Skill], shown: int) -> Iterator[str]:
    """Say what is missing: by name, else by number where that takes less."""
    left_out = [skill.name for skill in offered[shown:]]
    if not left_out:
        yield ""
        return
    count = f"\nLeft out for want of room: {len(left_out)} of {len(offered)} skills"
    more = ", which the tool `skill` loads all the same"
    yield f"{count}{more}: {listed(left_out)}."
    yield f"{count}{more}."


def _nothing_but(count: int, most: int) -> str:
    notice = f"The tool `skill` loads {count} skills; there is no room to list them."
    return notice if len(notice) <= most else ""
