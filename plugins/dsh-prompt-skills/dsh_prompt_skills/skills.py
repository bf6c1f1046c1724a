"""The service that a host and its agent loop use."""

from __future__ import annotations

import logging
from threading import RLock
from typing import TYPE_CHECKING, Final

from dsh_prompt import Key
from dsh_prompt.untrusted import Problem, Reports, UnusableError
from dsh_prompt_skills.bodies import listed, read_body
from dsh_prompt_skills.errors import SkillError
from dsh_prompt_skills.finding import find
from dsh_prompt_skills.installed import Installed
from dsh_prompt_skills.readings import Readings
from dsh_prompt_skills.resources import read_resource
from dsh_prompt_skills.tool import answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.values import Body, Found, Skill

_LOG: Final = logging.getLogger("dsh_prompt_skills")
_MOST_GIVEN: Final = 100


class Skills:
    """Finds skills and reads them; may be used from any thread.

    Each method looks at the places anew, and reads again what has changed. *workdir* is where the
    agent works, as in `state.workdir`; without one there are no skills of a project.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._readings = Readings(config.max_file_bytes)
        self._installed = Installed()
        self._reports = Reports(_LOG)
        self._lock = RLock()

    def find(self, workdir: str | None = None) -> Found:
        """Give all skills, the highest rank first, and what is wrong; that is logged once."""
        with self._lock:
            found = find(workdir, self.config, self._readings, self._installed)
        self.report(found.problems)
        return found

    def names(self, workdir: str | None = None) -> tuple[str, ...]:
        """Name all skills, the highest rank first."""
        return tuple(skill.name for skill in self.find(workdir).skills)

    def for_model(self, workdir: str | None = None) -> tuple[Skill, ...]:
        """Give those that the model may start: what the catalogue lists."""
        return tuple(skill for skill in self.find(workdir).skills if skill.head.by_model)

    def for_user(self, workdir: str | None = None) -> tuple[Skill, ...]:
        """Give those that the user may start, for the commands of a host."""
        return tuple(skill for skill in self.find(workdir).skills if skill.head.by_user)

    def problems(self, workdir: str | None = None) -> tuple[Problem, ...]:
        """Give what is wrong with skills and roots."""
        return self.find(workdir).problems

    def get(self, name: str, *, workdir: str | None = None) -> Skill | None:
        """Give the skill called *name*, None where there is none."""
        return self.find(workdir).get(name)

    def load(self, name: str, *, workdir: str | None = None) -> Body:
        """Give the instructions of a skill, whoever may start it.

        Raises `SkillError` where there is none of that name, or its file cannot be read any more.
        """
        skill = self._named(name, workdir)
        try:
            return read_body(skill, self.config.max_file_bytes)
        except UnusableError as exc:
            raise SkillError(f'skill "{skill.name}" {exc}') from None

    def resource(self, name: str, path: str, *, workdir: str | None = None) -> bytes:
        """Give a file in the folder of a skill; *path* is relative to that, with `/`.

        Raises `SkillError`, also for what is outside of the folder, links followed, or longer than
        `max_file_bytes`.
        """
        return read_resource(self._named(name, workdir), path, self.config.max_file_bytes)

    def call(self, arguments: Mapping[str, object], *, workdir: str | None = None) -> str:
        """Answer a call of the tool `skill` by the model; what is wrong is told, not raised."""
        return answer(self, arguments, workdir)

    def refresh(self) -> None:
        """Forget what was read, and what is installed: the next look is at everything."""
        with self._lock:
            self._readings.forget()
            self._installed.forget()

    def report(self, problems: Sequence[Problem]) -> None:
        """Log *problems*, each once for as long as the file is what it was.

        Of very many it logs the first, and how many there are.
        """
        self._reports.give(problems[:_MOST_GIVEN])
        if (more := len(problems) - _MOST_GIVEN) > 0:
            self._reports.give([Problem("skills", f"have {more} more problems")])

    def _named(self, name: str, workdir: str | None) -> Skill:
        skill = self.get(name, workdir=workdir)
        if skill is None:
            raise SkillError(f"there is no skill {listed([name])}")
        return skill


#: The service `Skills`: `prompt.require(SKILLS)`.
SKILLS = Key[Skills]("skills")
