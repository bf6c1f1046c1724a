"""What the host calls in each assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt_skills.catalogue import catalogue
from dsh_prompt_skills.loaded import show_loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_skills.skills import Skills


def catalogue_provider(skills: Skills) -> Callable[[AssembleContext], str]:
    """Make the provider of the catalogue; without a state there are no skills of a project."""

    def skills_catalogue(context: AssembleContext) -> str:
        workdir = context.state.workdir if context.state is not None else None
        return catalogue(skills.find(workdir).skills, skills.config.max_catalogue_chars)

    return skills_catalogue


def loaded_provider(skills: Skills) -> Callable[[AssembleContext], str]:
    """Make the provider of the loaded skills' instructions, empty where none is loaded."""

    def skills_loaded(context: AssembleContext) -> str:
        state = context.state
        if state is None or not state.loaded_skills:
            return ""
        found = skills.find(state.workdir)
        loaded = show_loaded(state.loaded_skills, found, skills.config)
        skills.report(loaded.problems)
        return loaded.text

    return skills_loaded
