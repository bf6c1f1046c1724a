"""A dsh_prompt plugin: a model is told what is allowed and what comes first, and tools are denied.

The class `Policy` is the plugin: `SystemPrompt().load(Policy, name="policy")`, or installed, by its
entry point `policy`. It provides the service `APPROVALS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt import (
    Budget,
    ContextOrder,
    Priority,
    PromptContext,
    PromptSection,
    SectionOrder,
    hookimpl,
)
from dsh_prompt_policy.approvals import APPROVALS, Approvals
from dsh_prompt_policy.config import Config
from dsh_prompt_policy.mask import Mask, tool_names
from dsh_prompt_policy.permissions import Permissions, mode_of, shown
from dsh_prompt_policy.texts import MODES, PERMISSION_MODE, PRECEDENCE, approval

if TYPE_CHECKING:
    from collections.abc import Generator

    from dsh_prompt import AssembleContext, DisposableContext, PromptAssembly, Source

__all__ = ["APPROVALS", "MODES", "PERMISSIONS", "Approvals", "Config", "Policy"]

#: Name of the runtime context that tells the mode.
PERMISSIONS: Final = "permissions"


class Policy:
    """The plugin; a class, since the waterfall needs the settings of its own load."""

    Config = Config

    def __init__(self) -> None:
        self._mask, self._permissions = Mask(Config()), Permissions(Config())
        self._owner: tuple[str | None, str | None] = (None, None)

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        """Take the settings of this load, and offer the service."""
        self._mask, self._permissions = Mask(ctx.config), Permissions(ctx.config)
        plugin, scope = ctx.plugin, ctx.scope
        self._owner = (plugin.name if plugin else None, scope.name if scope else None)
        ctx.provide(APPROVALS, Approvals(ctx.config))

    @hookimpl
    def contribute_sections(self, ctx: DisposableContext) -> list[PromptSection]:
        """Give what holds in each mode: constant texts, so that they stay in the prefix."""
        blocks = (
            ("policy:precedence", "What comes first", PRECEDENCE),
            ("policy:permission-mode", "Permission mode", PERMISSION_MODE),
            ("policy:approval", "Approval", approval(ctx.config.ask)),
        )
        return [
            PromptSection(name, SectionOrder.RULES + place, text, title=title, literal=True)
            for place, (name, title, text) in enumerate(blocks)
        ]

    @hookimpl
    def contribute_contexts(self) -> list[PromptContext]:
        """Give the mode; what is denied is known after the waterfall alone."""
        return [
            PromptContext(
                name=PERMISSIONS,
                order=ContextOrder.PERMISSIONS,
                title="Permissions",
                text=self._mode,
                literal=True,
                budget=Budget(priority=Priority.PERMISSIONS),
            )
        ]

    def _mode(self, context: AssembleContext) -> str:
        return self._permissions.mode_text(context.state)

    # A wrapper works in both ways to assemble; outermost, it sees the tools that others add.
    @hookimpl(wrapper=True, tryfirst=True)
    def system_prompt_assemble(
        self, context: AssembleContext
    ) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Deny what the settings say, and tell the model all that is denied."""
        assembly = yield
        mode = mode_of(context.state)
        self._mask.apply(assembly, mode, shown(mode))
        if assembly.denied:
            self._tell_denied(assembly)
        return assembly

    def _tell_denied(self, assembly: PromptAssembly) -> None:
        denied = assembly.denied.keys() & set(tool_names(assembly))
        text = self._permissions.denied_text(denied)
        for item in assembly.contexts:
            # A context of that name which somebody else put there says what that one wants.
            if getattr(item, "name", None) == PERMISSIONS and self._is_own(item.source):
                item.text = f"{item.text}\n{text}".strip()

    def _is_own(self, source: Source | None) -> bool:
        return (
            source is not None
            and source.how == "contributed"
            and (source.plugin, source.scope) == self._owner
        )
