"""The instructions of skills: read when they are wanted, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import (
    Reader,
    UnusableError,
    clean,
    decode,
    framed,
    visible_name,
    without_tag_at_end,
)
from dsh_prompt_skills.front_matter import split
from dsh_prompt_skills.values import Body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt_skills.values import Skill

_LONGEST_SHOWN: Final = 80
_MOST_NAMED: Final = 20


def read_body(skill: Skill, limit: int) -> Body:
    """Read the instructions of *skill*, whose file may have *limit* bytes.

    Raises `UnusableError` where its file cannot be read any more.
    """
    with Reader() as reader:
        data = reader.read(skill.place.candidate, limit)
    if data is None:
        raise UnusableError("is not there any more")
    cleaned = clean(split(decode(data)).body)
    return Body(skill, cleaned.text, tuple(cleaned.findings()))


def framed_body(body: Body, most: int) -> str:
    """Frame at most *most* characters of a body; what is missing is told."""
    skill = body.skill
    text = beginning(body.text, most)
    return framed("skill", text, name=skill.name, root=skill.rank, path=skill.path)


def beginning(text: str, most: int) -> str:
    """Give at most *most* characters of a clean *text*; a line tells how many are missing."""
    shown = without_tag_at_end(cut(text, most))
    missing = len(text) - len(shown)
    return f"{shown}\n({missing} more characters are left out here.)" if missing else text


def listed(names: Sequence[str]) -> str:
    """Name up to twenty of *names*, which need not be those of skills, and count the others."""
    quoted = [f'"{visible_name(name[:_LONGEST_SHOWN])}"' for name in names[:_MOST_NAMED]]
    more = len(names) - len(quoted)
    return ", ".join(quoted) + (f" and {more} more" if more else "")
