"""A dsh_prompt plugin: a model is told what is allowed and what comes first, and tools are denied.

The class `Policy` is the plugin: `SystemPrompt().load(Policy, name="policy")`, or installed, by its
entry point `policy`. It provides the service `APPROVALS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt import (
    Budget,
    ContextOrder,
    Key,
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

    from dsh_prompt import (
        AssembleContext,
        AssembledContext,
        DisposableContext,
        PromptAssembly,
        Source,
    )

__all__ = ["APPROVALS", "MODES", "PERMISSIONS", "Approvals", "Config", "Policy"]

#: Name of the runtime context that tells the mode.
PERMISSIONS: Final = "permissions"
#: Which policy sees what all deny, and whose context tells it: an agent may have one of its own.
_OUTERMOST: Final = Key["Policy"]("policy-outermost")
_TELLER: Final = Key["Policy"]("policy-teller")


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

    # A wrapper works in both ways to assemble; outermost, it sees the tools that others add, and
    # what plan mode denies.
    @hookimpl(wrapper=True, tryfirst=True, before=("plan-mode",))
    def system_prompt_assemble(
        self, assembly: PromptAssembly, context: AssembleContext
    ) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Deny what the settings say, and tell the model all that is denied."""
        if _OUTERMOST not in assembly:
            assembly[_OUTERMOST] = self
        result = yield
        mode = mode_of(context.state)
        self._mask.apply(result, mode, shown(mode))
        if self._contexts(result):
            result[_TELLER] = self
        # Of several policies, the outermost sees what all of them have denied.
        if result.get(_OUTERMOST, self) is self:
            self._end(result)
        return result

    def _end(self, assembly: PromptAssembly) -> None:
        teller = assembly.get(_TELLER)
        for key in (_OUTERMOST, _TELLER):
            if key in assembly:
                del assembly[key]
        if teller is not None and assembly.denied:
            teller._tell_denied(assembly)

    def _tell_denied(self, assembly: PromptAssembly) -> None:
        denied = assembly.denied.keys() & set(tool_names(assembly))
        text = self._permissions.denied_text(denied)
        for item in self._contexts(assembly):
            item.text = f"{item.text}\n{text}".strip()

    def _contexts(self, assembly: PromptAssembly) -> list[AssembledContext]:
        # A context of that name which somebody else put there says what that one wants.
        return [
            item
            for item in assembly.contexts
            if getattr(item, "name", None) == PERMISSIONS and self._is_own(item.source)
        ]

    def _is_own(self, source: Source | None) -> bool:
        return (
            source is not None
            and source.how == "contributed"
            and (source.plugin, source.scope) == self._owner
        )
