"""Assembles what a model is told, before every call, from what many plugins contribute."""

from __future__ import annotations

from dsh_prompt.changes import ChangeEvent
from dsh_prompt.config import Config, PluginsConfig
from dsh_prompt.disposable import DisposableContext, Scope
from dsh_prompt.errors import (
    AssemblyCancelledError,
    AsyncProviderError,
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
from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.context import AssembleContext
from dsh_prompt.model.contributions import (
    IDENTITY_SECTION,
    PERSONA_SECTION,
    PromptContext,
    PromptSection,
    SectionOrder,
)
from dsh_prompt.model.keys import Key
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.model.source import Source
from dsh_prompt.model.state import RuntimeState
from dsh_prompt.model.tools import ToolProviderResult, ToolSchema
from dsh_prompt.plugin_context import PluginInfo
from dsh_prompt.plugins import LoadReport
from dsh_prompt.registration import Registration
from dsh_prompt.render.fingerprint import Fingerprint
from dsh_prompt.render.projection import RuntimeContextProjection
from dsh_prompt.render.prompt import (
    join_context_sections,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
)
from dsh_prompt.system_prompt import SystemPrompt
from dsh_prompt.tool_order import TOOL_ORDER_REST
from dsh_prompt.tool_registry import ToolRegistry

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
    "CallNext",
    "ChangeEvent",
    "Config",
    "ConfigError",
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
