"""Assembles what a model is told, before every call, from what many plugins contribute.

A host is a `SystemPrompt`: plugins are loaded into it, and its ``assemble`` gives a
`PromptAssembly`, which `render_prompt` and `render_context_snapshot` make texts of. What a
plugin may implement stands in ``dsh_prompt.hookspecs``; ``dsh-prompt new NAME`` writes the
package of one, and ``dsh_prompt.testing`` tests it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsh_prompt.config.config import Config, PluginsConfig
    from dsh_prompt.errors import (
        AssemblyCancelledError,
        AsyncProviderError,
        BudgetError,
        ConfigError,
        DisposedError,
        DuplicateContributionError,
        InterpolationError,
        InvalidContributionError,
        InvariantError,
        MalformedReferenceError,
        MultipleCompleteSectionsError,
        PluginConflictError,
        PluginLoadError,
        PluginNotFoundError,
        PromptError,
        ProviderError,
        ReservedToolNameError,
        ScopeError,
        ToolOrderError,
        UndefinedVariableError,
        UnknownVariableError,
    )
    from dsh_prompt.hookspecs import AsyncCallNext, CallNext, hookimpl, hookspec
    from dsh_prompt.layers.tool_order import TOOL_ORDER_REST
    from dsh_prompt.layers.tool_registry import ToolRegistry
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.disposable import DisposableContext, Scope
    from dsh_prompt.lifecycle.registration import Registration
    from dsh_prompt.model.assembled import AssembledContext, AssembledSection
    from dsh_prompt.model.budget import Budget, Priority
    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.model.contributions import (
        IDENTITY_SECTION,
        PERSONA_SECTION,
        ContextOrder,
        PromptContext,
        PromptSection,
        SectionOrder,
    )
    from dsh_prompt.model.keys import Key
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.model.tools import ToolProviderResult, ToolSchema
    from dsh_prompt.plugins.context import PluginInfo
    from dsh_prompt.plugins.manager import LoadReport
    from dsh_prompt.plugins.sync import SyncReport
    from dsh_prompt.render.fingerprint import Fingerprint
    from dsh_prompt.render.projection import RuntimeContextProjection
    from dsh_prompt.render.prompt import (
        join_context_sections,
        render_context_sections,
        render_context_snapshot,
        render_prompt,
    )
    from dsh_prompt.system_prompt import SystemPrompt

#: The module of each public name: it is imported when somebody first asks for the name.
_NAMES: dict[str, tuple[str, ...]] = {
    "lifecycle.changes": ("ChangeEvent",),
    "config.config": ("Config", "PluginsConfig"),
    "lifecycle.disposable": ("DisposableContext", "Scope"),
    "errors": (
        "AssemblyCancelledError",
        "AsyncProviderError",
        "BudgetError",
        "ConfigError",
        "DisposedError",
        "DuplicateContributionError",
        "InterpolationError",
        "InvalidContributionError",
        "InvariantError",
        "MalformedReferenceError",
        "MultipleCompleteSectionsError",
        "PluginConflictError",
        "PluginLoadError",
        "PluginNotFoundError",
        "PromptError",
        "ProviderError",
        "ReservedToolNameError",
        "ScopeError",
        "ToolOrderError",
        "UndefinedVariableError",
        "UnknownVariableError",
    ),
    "hookspecs": ("AsyncCallNext", "CallNext", "hookimpl", "hookspec"),
    "model.assembled": ("AssembledContext", "AssembledSection"),
    "model.budget": ("Budget", "Priority"),
    "model.context": ("AssembleContext",),
    "model.contributions": (
        "IDENTITY_SECTION",
        "PERSONA_SECTION",
        "ContextOrder",
        "PromptContext",
        "PromptSection",
        "SectionOrder",
    ),
    "model.keys": ("Key",),
    "model.prompt_assembly": ("PromptAssembly",),
    "model.source": ("Source",),
    "model.state": ("RuntimeState",),
    "model.tools": ("ToolProviderResult", "ToolSchema"),
    "plugins.context": ("PluginInfo",),
    "plugins.manager": ("LoadReport",),
    "plugins.sync": ("SyncReport",),
    "lifecycle.registration": ("Registration",),
    "render.fingerprint": ("Fingerprint",),
    "render.projection": ("RuntimeContextProjection",),
    "render.prompt": (
        "join_context_sections",
        "render_context_sections",
        "render_context_snapshot",
        "render_prompt",
    ),
    "system_prompt": ("SystemPrompt",),
    "layers.tool_order": ("TOOL_ORDER_REST",),
    "layers.tool_registry": ("ToolRegistry",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "IDENTITY_SECTION",
    "PERSONA_SECTION",
    "TOOL_ORDER_REST",
    "AssembleContext",
    "AssembledContext",
    "AssembledSection",
    "AssemblyCancelledError",
    "AsyncCallNext",
    "AsyncProviderError",
    "Budget",
    "BudgetError",
    "CallNext",
    "ChangeEvent",
    "Config",
    "ConfigError",
    "ContextOrder",
    "DisposableContext",
    "DisposedError",
    "DuplicateContributionError",
    "Fingerprint",
    "InterpolationError",
    "InvalidContributionError",
    "InvariantError",
    "Key",
    "LoadReport",
    "MalformedReferenceError",
    "MultipleCompleteSectionsError",
    "PluginConflictError",
    "PluginInfo",
    "PluginLoadError",
    "PluginNotFoundError",
    "PluginsConfig",
    "Priority",
    "PromptAssembly",
    "PromptContext",
    "PromptError",
    "PromptSection",
    "ProviderError",
    "Registration",
    "ReservedToolNameError",
    "RuntimeContextProjection",
    "RuntimeState",
    "Scope",
    "ScopeError",
    "SectionOrder",
    "Source",
    "SyncReport",
    "SystemPrompt",
    "ToolOrderError",
    "ToolProviderResult",
    "ToolRegistry",
    "ToolSchema",
    "UndefinedVariableError",
    "UnknownVariableError",
    "hookimpl",
    "hookspec",
    "join_context_sections",
    "render_context_sections",
    "render_context_snapshot",
    "render_prompt",
]
