"""What a model is told of the skills that are loaded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import Problem, UnusableError, clean, signature
from dsh_prompt_skills.bodies import framed_body, listed, read_body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.values import Found, Skill

_MOST_REPORTED: Final = 20


@attrs.frozen
class Loaded:
    """The *text* of the context, and the *problems* with what is loaded."""

    text: str
    problems: tuple[Problem, ...]


def show_loaded(names: Iterable[str], found: Found, config: Config) -> Loaded:
    """Show the instructions of the skills called *names*, as far as there is room for them.

    Those before in the order go first; a shorter one after one that is left out is shown. What is
    left out, and what is no skill, is named.
    """
    showing = _Showing(config)
    unknown = []
    for name in dict.fromkeys(names):
        skill = found.get(name)
        if skill is None or not showing.add(skill):
            unknown.append(name)
    what = "is loaded, but there is no such skill, or it cannot be read"
    problems = [
        Problem(f"skill {listed([name])}", what) for name in islice(unknown, _MOST_REPORTED)
    ]
    notices = [
        _notice("Loaded, but left out for want of room", showing.left_out),
        _notice("Loaded, but there is no such skill, or it cannot be read", unknown),
    ]
    text = "\n\n".join(filter(None, [*showing.frames, *notices]))
    return Loaded(text, (*showing.problems, *problems))


def _notice(what: str, names: list[str]) -> str:
    return f"{what}: {clean(listed(names)).text}." if names else ""


class _Showing:
    """Frames one skill after the other until there is no room."""

    def __init__(self, config: Config) -> None:
        self._limit = config.max_file_bytes
        self._longest = min(config.max_body_chars, config.max_loaded_chars)
        self._room = config.max_loaded_chars
        self.frames: list[str] = []
        self.left_out: list[str] = []
        self.problems: list[Problem] = []

    def add(self, skill: Skill) -> bool:
        """Show *skill* or leave it out; tell whether it can be read."""
        if self._room <= 0:
            # Nobody is to wait for the reading of what is not shown then.
            self.left_out.append(skill.name)
            return True
        seen = signature(skill.place.candidate.path)
        try:
            body = read_body(skill, self._limit)
        except UnusableError as exc:
            self.problems.append(Problem(skill.path, str(exc), seen))
            return False
        self.problems += [Problem(skill.path, what, seen) for what in body.findings]
        size = min(len(body.text), self._longest)
        if size > self._room:
            self.left_out.append(skill.name)
        else:
            self._room -= size
            self.frames.append(framed_body(body, self._longest))
        return True
