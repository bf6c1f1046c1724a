"""What the plugin finds: skills, where they are, and what is wrong with some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.untrusted import Candidate, Problem

#: Where skills come from, the highest rank first.
Rank: TypeAlias = Literal["configured", "project", "user", "installed"]


@attrs.frozen(kw_only=True)
class Head:
    """What the front matter of a skill says, cleaned: one line each.

    *by_model* and *by_user* tell who may start the skill. *allowed_tools* is what its author
    would like to be approved; nothing is approved by it.
    """

    name: str
    description: str
    by_model: bool = True
    by_user: bool = True
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    allowed_tools: tuple[str, ...] = ()


@attrs.frozen
class Place:
    """A file that may be a skill.

    *expected* is the name that its folder, or a flat file itself, gives it. *folder* is the real
    path of the skill's own folder, empty for a flat file. *distribution* is who installed it.
    """

    rank: Rank
    candidate: Candidate
    expected: str
    folder: str = ""
    distribution: str = ""


@attrs.frozen
class Skill:
    """A skill that can be used: what its *head* says, and its *place*."""

    head: Head
    place: Place

    @property
    def name(self) -> str:
        """Its name, unique among those that are used."""
        return self.head.name

    @property
    def description(self) -> str:
        """What it does and when to use it, on one line."""
        return self.head.description

    @property
    def rank(self) -> Rank:
        """The kind of root that it was found in."""
        return self.place.rank

    @property
    def path(self) -> str:
        """Where its file is, as readers see it."""
        return self.place.candidate.shown


@attrs.frozen
class Found:
    """The skills for one working directory, the highest rank first, and the *problems*."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[Problem, ...] = ()

    def get(self, name: str) -> Skill | None:
        """Give the skill of that name, None where there is none."""
        return next((skill for skill in self.skills if skill.name == name), None)


@attrs.frozen
class Body:
    """The instructions of a *skill*: *text* is safe to show, *findings* tell what was not."""

    skill: Skill
    text: str
    findings: tuple[str, ...] = ()
