"""A dsh_prompt plugin: in plan mode a model is told to plan, and given read-only tools.

The class `PlanMode` is the plugin: `SystemPrompt().load(PlanMode, name="plan-mode")`, or installed,
by its entry point `plan-mode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import AssembledContext, AssembledSection, ToolSchema, hookimpl
from dsh_prompt_plan_mode.config import Config
from dsh_prompt_plan_mode.placing import place
from dsh_prompt_plan_mode.read_only import is_read_only

if TYPE_CHECKING:
    from collections.abc import Generator

    from dsh_prompt import AssembleContext, DisposableContext, PromptAssembly

__all__ = ["PLAN_POLICY", "Config", "PlanMode"]

#: Name of the section, or of the runtime context, that holds the plan text.
PLAN_POLICY = "plan:policy"


class PlanMode:
    """The plugin; a class, since the waterfall needs the settings of its own load."""

    Config = Config

    def __init__(self) -> None:
        self._config = Config()

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        """Take the settings of this load."""
        self._config = ctx.config

    # A wrapper works in both ways to assemble; outermost, it sees the tools that others add.
    @hookimpl(wrapper=True, tryfirst=True)
    def system_prompt_assemble(
        self, context: AssembleContext
    ) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Narrow text and tools together while the agent is in plan mode."""
        assembly = yield
        if context.state is not None and context.state.permission_mode == "plan":
            if self._config.mode == "mask":
                self._mask(assembly)
            else:
                self._narrow(assembly)
        return assembly

    def _narrow(self, assembly: PromptAssembly) -> None:
        settings = self._config
        refused = self._refused(assembly)
        assembly.tools = [tool for tool in assembly.tools if _name(tool) not in refused]
        section = AssembledSection(
            PLAN_POLICY,
            settings.text,
            order=settings.order,
            title="Plan mode",
            literal=True,
            cacheable=True,
        )
        place(assembly.sections, section)

    def _mask(self, assembly: PromptAssembly) -> None:
        settings = self._config
        # Who denied a tool before had a reason of its own.
        for name in sorted(self._refused(assembly) - assembly.denied.keys()):
            assembly.deny(name, settings.reason)
        context = AssembledContext(
            PLAN_POLICY, settings.text, order=settings.order, title="Plan mode", literal=True
        )
        place(assembly.contexts, context)

    def _refused(self, assembly: PromptAssembly) -> set[str]:
        """Name the tools to refuse; a call gives a name, so one unsafe schema spoils its name."""
        return {
            tool.name
            for tool in assembly.tools
            if isinstance(tool, ToolSchema) and not is_read_only(tool, self._config)
        }


def _name(tool: object) -> str | None:
    # What is no schema stays: the host's guard names who put it there.
    return tool.name if isinstance(tool, ToolSchema) else None
