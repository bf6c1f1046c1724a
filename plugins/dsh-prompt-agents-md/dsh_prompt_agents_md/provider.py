"""What the host calls in each assembly, and what a person is told once."""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING, Final

from dsh_prompt_agents_md.instructions import read_instructions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dsh_prompt import AssembleContext
    from dsh_prompt_agents_md.config import Config
    from dsh_prompt_agents_md.values import Problem

_LOG: Final = logging.getLogger("dsh_prompt_agents_md")
_MOST_REMEMBERED: Final = 1000


def instructions_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the section's text, empty where there are no instructions."""
    warnings = _Warnings()

    def workspace_instructions(context: AssembleContext) -> str:
        workdir = context.state.workdir if context.state is not None else None
        if not workdir:
            return ""
        instructions = read_instructions(workdir, config)
        warnings.give(instructions.problems)
        return instructions.text

    return workspace_instructions


class _Warnings:
    """Log each problem once, for as long as the file is what it was."""

    def __init__(self) -> None:
        self._given: set[Problem] = set()
        self._lock = Lock()

    def give(self, problems: Iterable[Problem]) -> None:
        """Log those of *problems* that are new."""
        for problem in problems:
            if self._is_new(problem):
                _LOG.warning("%s", problem)

    def _is_new(self, problem: Problem) -> bool:
        # Providers run in several threads.
        with self._lock:
            if problem in self._given:
                return False
            if len(self._given) >= _MOST_REMEMBERED:
                self._given.clear()
            self._given.add(problem)
            return True
