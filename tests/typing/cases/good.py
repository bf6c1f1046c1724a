"""Plugins that both checkers accept: not one line here is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

from dsh_prompt import PromptContext, PromptSection, ToolSchema, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from dsh_prompt import (
        AssembleContext,
        AsyncCallNext,
        CallNext,
        ChangeEvent,
        DisposableContext,
        PromptAssembly,
    )
    from dsh_prompt.typing import (
        Activates,
        AssemblesSystemPrompt,
        ContributesContexts,
        ContributesSections,
        ContributesTools,
        ContributesVariables,
        Deactivates,
        NotesChanges,
    )


class Everything:
    """Has every hook."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        """Do nothing."""

    @hookimpl
    def contribute_sections(self, ctx: DisposableContext) -> list[PromptSection]:
        """Give none."""
        return []

    @hookimpl
    def contribute_contexts(self) -> Iterator[PromptContext]:
        """Give none, as a generator, without arguments."""
        yield from ()

    @hookimpl
    def contribute_tools(self) -> list[ToolSchema | dict[str, Any]]:
        """Give none."""
        return []

    @hookimpl
    def contribute_variables(self) -> dict[str, Callable[[], str]]:
        """Give none."""
        return {}

    @hookimpl(tryfirst=True, before=["audit"])
    def system_prompt_assemble(self, context: AssembleContext, assembly: PromptAssembly) -> None:
        """Do nothing; the arguments stand in another order."""

    @hookimpl
    def system_prompt_change(self, event: ChangeEvent) -> None:
        """Do nothing."""

    @hookimpl
    async def deactivate(self, ctx: DisposableContext) -> None:
        """Do nothing."""

    @hookimpl(optionalhook=True)
    def hook_of_a_later_version(self, anything: int) -> str:
        """Do nothing that could be checked."""
        return str(anything)


everything = Everything()
activates: Activates = everything
sections: ContributesSections = everything
contexts: ContributesContexts = everything
tools: ContributesTools = everything
variables: ContributesVariables = everything
plain: AssemblesSystemPrompt = everything
changes: NotesChanges = everything
deactivates: Deactivates = everything


class AsyncPlain:
    """Changes an assembly, with ``await``."""

    @hookimpl
    async def system_prompt_assemble(self, assembly: PromptAssembly) -> PromptAssembly | None:
        """Do nothing."""


class Middleware:
    """Stands around the rest."""

    @hookimpl
    def system_prompt_assemble(
        self, assembly: PromptAssembly, call_next: CallNext
    ) -> PromptAssembly:
        """Do nothing."""
        return call_next(assembly)


class AsyncMiddleware:
    """Stands around the rest, with ``await``."""

    @hookimpl
    async def system_prompt_assemble(self, call_next: AsyncCallNext) -> PromptAssembly:
        """Do nothing."""
        return await call_next()


class Wrapper:
    """Stands around all others."""

    @hookimpl(wrapper=True)
    def system_prompt_assemble(self) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Do nothing."""
        return (yield)


async_plain: AssemblesSystemPrompt = AsyncPlain()
middleware: AssemblesSystemPrompt = Middleware()
async_middleware: AssemblesSystemPrompt = AsyncMiddleware()
wrapper: AssemblesSystemPrompt = Wrapper()


@hookimpl
def contribute_variables(ctx: DisposableContext) -> dict[str, str]:
    """Give one."""
    return {"host": repr(ctx)}


def type_of_a_hook(ctx: DisposableContext) -> None:
    """See that the marker leaves the type of a function as it is."""
    assert_type(contribute_variables(ctx), dict[str, str])
