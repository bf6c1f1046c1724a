"""What the host calls in each assembly, and what a person is told once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Reports
from dsh_prompt_agents_md.instructions import read_instructions

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_agents_md.config import Config

_LOG: Final = logging.getLogger("dsh_prompt_agents_md")


def instructions_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the section's text, empty where there are no instructions."""
    reports = Reports(_LOG)

    def workspace_instructions(context: AssembleContext) -> str:
        workdir = context.state.workdir if context.state is not None else None
        if not workdir:
            return ""
        instructions = read_instructions(workdir, config)
        reports.give(instructions.problems)
        return instructions.text

    return workspace_instructions
