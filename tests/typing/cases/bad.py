"""Errors that mypy and pyright both find, each in a line with a comment.

The comment says a part of what each of them tells. No other line is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptSection, ToolSchema, hookimpl
from tests.typing.cases import module_with_errors

if TYPE_CHECKING:
    from dsh_prompt import AssembleContext, CallNext, DisposableContext, PromptAssembly
    from dsh_prompt.typing import (
        AssemblesSystemPrompt,
        ContributesContexts,
        ContributesSections,
        ContributesTools,
        NotesChanges,
    )

# The marker alone: what no hook gives


class Marked:
    """Results that are wrong whatever the hook is called."""

    @hookimpl  # error: PromptSection
    def contribute_sections(self) -> PromptSection:
        """Give one section in place of a list."""
        return PromptSection(name="a", order=1, text="a")

    @hookimpl  # error: list[str]
    def contribute_contexts(self) -> list[str]:
        """Give texts in place of contexts."""
        return []

    @hookimpl(tryfirst=True)  # error: str
    def system_prompt_assemble(self) -> str:
        """Give the prompt in place of an assembly."""
        return ""

    @hookimpl  # error: list[ToolSchema]
    async def contribute_tools(self) -> list[ToolSchema]:
        """Be async, which this hook cannot be."""
        return []

    @hookimpl(tryfrist=True)  # error: hookimpl
    def activate(self) -> None:
        """Misspell an option."""


# The protocols: what this hook does not take or give


class WrongName:
    """Calls the argument by another name."""

    @hookimpl
    def contribute_sections(self, context: DisposableContext) -> list[PromptSection]:
        """Give none."""
        return []


class WrongType:
    """Takes the argument for something else."""

    @hookimpl
    def contribute_sections(self, ctx: AssembleContext) -> list[PromptSection]:
        """Give none."""
        return []


class WrongResult:
    """Gives what another hook gives."""

    @hookimpl
    def contribute_sections(self) -> list[ToolSchema]:
        """Give none."""
        return []


class Misspelt:
    """Has a hook that does not exist."""

    @hookimpl
    def contribute_section(self) -> list[PromptSection]:
        """Give none."""
        return []


class ForgetsTheResult:
    """Takes ``call_next`` and gives nothing back."""

    @hookimpl
    def system_prompt_assemble(self, call_next: CallNext) -> None:
        """Forget to return."""
        call_next()


class ForgetsToWait:
    """Is async and has a ``call_next`` that is not."""

    @hookimpl
    async def system_prompt_assemble(self, call_next: CallNext) -> PromptAssembly:
        """Forget to await."""
        return call_next()


class WrongEvent:
    """Takes the event for a text."""

    @hookimpl
    def system_prompt_change(self, event: str) -> None:
        """Do nothing."""


wrong_name: ContributesSections = WrongName()  # error: ContributesSections
wrong_type: ContributesSections = WrongType()  # error: ContributesSections
wrong_result: ContributesSections = WrongResult()  # error: ContributesSections
misspelt: ContributesSections = Misspelt()  # error: ContributesSections
no_such_hook: ContributesTools = WrongName()  # error: ContributesTools
forgets_the_result: AssemblesSystemPrompt = ForgetsTheResult()  # error: AssemblesSystemPrompt
forgets_to_wait: AssemblesSystemPrompt = ForgetsToWait()  # error: AssemblesSystemPrompt
wrong_event: NotesChanges = WrongEvent()  # error: NotesChanges

# A module is compared in the same way, so it needs no class.

sections: ContributesSections = module_with_errors  # error: ContributesSections
contexts: ContributesContexts = module_with_errors  # error: ContributesContexts
