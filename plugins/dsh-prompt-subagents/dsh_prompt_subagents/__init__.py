"""A dsh_prompt plugin for agents that hand work to child agents.

It provides the service `SUBAGENTS`, with which an agent loop spawns children, each with a scope of
its own, and tells the parent's model how to delegate (section `subagents:rules`) and who its
children are (runtime context `subagents`). The module is the plugin:
`SystemPrompt().load(dsh_prompt_subagents)`, or installed, by its entry point `subagents`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import Budget, ContextOrder, Priority, SectionOrder, hookimpl
from dsh_prompt_subagents.child import Child, Status
from dsh_prompt_subagents.config import Config
from dsh_prompt_subagents.delegation import delegation_rules, delegation_tool
from dsh_prompt_subagents.roster import roster_provider
from dsh_prompt_subagents.spawning import Restriction
from dsh_prompt_subagents.subagents import SUBAGENTS, SubAgents

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = ["SUBAGENTS", "Child", "Config", "Restriction", "Status", "SubAgents", "activate"]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Provide the service, and register the rules, the tool and the roster."""
    config: Config = ctx.config
    subagents = SubAgents(ctx, config)
    ctx.callback(subagents.end)
    ctx.provide(SUBAGENTS, subagents)
    ctx.on_assemble(subagents.restrict_providers)
    if config.tool_schema:
        ctx.tool(delegation_tool(config))
    ctx.section(
        name="subagents:rules",
        order=SectionOrder.TOOL_GUIDANCE,
        title="Child agents",
        text=delegation_rules(config),
        literal=True,
        requires_tools=(config.tool,),
    )
    ctx.context(
        name="subagents",
        order=ContextOrder.SUBAGENTS,
        title="Your child agents",
        text=roster_provider(subagents, config),
        literal=True,
        budget=Budget(priority=Priority.REST),
    )
