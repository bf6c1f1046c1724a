"""A dsh_prompt plugin that gives a model the instruction files of the agent's workspace.

It contributes a section named `workspace-instructions`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_agents_md)`, or installed, by its entry point `agents-md`.
`read_instructions` gives the same text without a host, with what was found and what was wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptSection, hookimpl
from dsh_prompt.untrusted import Problem
from dsh_prompt_agents_md.config import Config
from dsh_prompt_agents_md.instructions import read_instructions
from dsh_prompt_agents_md.provider import instructions_provider
from dsh_prompt_agents_md.values import InstructionFile, Instructions

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = [
    "Config",
    "InstructionFile",
    "Instructions",
    "Problem",
    "contribute_sections",
    "read_instructions",
]


@hookimpl
def contribute_sections(ctx: DisposableContext) -> list[PromptSection]:
    """Give the section of the instruction files around the agent's working directory."""
    return [
        PromptSection(
            name="workspace-instructions",
            order=ctx.config.order,
            text=instructions_provider(ctx.config),
            literal=True,
            # The text changes with the files alone, so between two edits the prefix stays.
            cacheable=True,
            blocking=True,
        )
    ]
