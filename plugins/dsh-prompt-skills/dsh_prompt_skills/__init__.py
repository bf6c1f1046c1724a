"""A dsh_prompt plugin that offers a model Agent Skills, and shows it those that are loaded.

It contributes a section `skills:catalogue`, a runtime context `skills:loaded` and a tool `skill`,
and provides the service `SKILLS`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_skills)`, or installed, by its entry point `skills`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import Budget, ContextOrder, PromptContext, PromptSection, hookimpl
from dsh_prompt.untrusted import Problem
from dsh_prompt_skills.config import Config
from dsh_prompt_skills.errors import SkillError
from dsh_prompt_skills.providers import catalogue_provider, loaded_provider
from dsh_prompt_skills.skills import SKILLS, Skills
from dsh_prompt_skills.tool import SKILL_TOOL
from dsh_prompt_skills.values import Body, Found, Head, Place, Skill

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext, ToolSchema

__all__ = [
    "SKILLS",
    "SKILL_TOOL",
    "Body",
    "Config",
    "Found",
    "Head",
    "Place",
    "Problem",
    "Skill",
    "SkillError",
    "Skills",
    "activate",
    "contribute_contexts",
    "contribute_sections",
    "contribute_tools",
]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Provide the service, which this load's contributions use too."""
    ctx.provide(SKILLS, Skills(ctx.config))


@hookimpl
def contribute_sections(ctx: DisposableContext) -> list[PromptSection]:
    """Give the catalogue of the skills that the model may start."""
    return [
        PromptSection(
            name="skills:catalogue",
            order=ctx.config.order,
            text=catalogue_provider(ctx.require(SKILLS)),
            title="Skills",
            literal=True,
            # The text changes with the files alone, so between two edits the prefix stays.
            cacheable=True,
            requires_tools=(SKILL_TOOL.name,),
            blocking=True,
        )
    ]


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the instructions of the loaded skills."""
    return [
        PromptContext(
            name="skills:loaded",
            order=ContextOrder.SKILLS,
            text=loaded_provider(ctx.require(SKILLS)),
            title="Loaded skills",
            literal=True,
            # Half a frame would take in what comes after it.
            budget=Budget(overflow="drop"),
            blocking=True,
        )
    ]


@hookimpl
def contribute_tools() -> list[ToolSchema]:
    """Give the schema of the tool; the agent loop answers its calls with `Skills.call`."""
    return [SKILL_TOOL]
