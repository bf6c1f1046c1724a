"""Protocols of plugins, one for each hook, for type checkers.

A plugin may have any hooks, so `SystemPrompt.load` takes any object. Where it is known which hooks
a plugin has, in its tests for example, one line for each lets mypy and pyright compare name,
arguments and result with the specification. The plugin is a module, or an instance::

    import dsh_prompt_rules
    from dsh_prompt.typing import ContributesSections

    plugin: ContributesSections = dsh_prompt_rules
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping

    from dsh_prompt.hook_shapes import OfAssembly, OfCtx, OfEvent, OfNext
    from dsh_prompt.hookspecs import Assembled, AsyncCallNext, CallNext, Done, Wrapping
    from dsh_prompt.model.contributions import PromptContext, PromptSection
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolProvider, Tools

__all__ = [
    "Activates",
    "AssemblesSystemPrompt",
    "ContributesContexts",
    "ContributesSections",
    "ContributesTools",
    "ContributesVariables",
    "Deactivates",
    "NotesChanges",
]


class Activates(Protocol):
    """Has the hook ``activate``."""

    @property
    def activate(self) -> OfCtx[Done]:
        """The hook."""
        ...


class ContributesSections(Protocol):
    """Has the hook ``contribute_sections``."""

    @property
    def contribute_sections(self) -> OfCtx[Iterable[PromptSection]]:
        """The hook."""
        ...


class ContributesContexts(Protocol):
    """Has the hook ``contribute_contexts``."""

    @property
    def contribute_contexts(self) -> OfCtx[Iterable[PromptContext]]:
        """The hook."""
        ...


class ContributesTools(Protocol):
    """Has the hook ``contribute_tools``."""

    @property
    def contribute_tools(self) -> OfCtx[ToolProvider | Tools]:
        """The hook."""
        ...


class ContributesVariables(Protocol):
    """Has the hook ``contribute_variables``."""

    @property
    def contribute_variables(self) -> OfCtx[Mapping[str, Any]]:
        """The hook."""
        ...


class AssemblesSystemPrompt(Protocol):
    """Has the hook ``system_prompt_assemble``, in one of its three forms."""

    @property
    def system_prompt_assemble(
        self,
    ) -> (
        OfAssembly[Assembled | Wrapping]
        | OfNext[CallNext, PromptAssembly]
        | OfNext[AsyncCallNext, Awaitable[PromptAssembly]]
    ):
        """The hook."""
        ...


class NotesChanges(Protocol):
    """Has the hook ``system_prompt_change``."""

    @property
    def system_prompt_change(self) -> OfEvent[None]:
        """The hook."""
        ...


class Deactivates(Protocol):
    """Has the hook ``deactivate``."""

    @property
    def deactivate(self) -> OfCtx[Done]:
        """The hook."""
        ...
