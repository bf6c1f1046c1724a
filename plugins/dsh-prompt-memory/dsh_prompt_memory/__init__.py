"""A dsh_prompt plugin that keeps notes for an agent, and shows its model those that matter.

It provides a store of notes (`MEMORIES`), a runtime context named `memory` with the notes that the
agent loop has put into the state, tools named `remember` and `recall`, and sections named
`memory:remember` and `memory:recall` with rules for these. The module is the plugin:
`SystemPrompt().load(dsh_prompt_memory)`, or installed, by its entry point `memory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import (
    Budget,
    ContextOrder,
    Priority,
    PromptContext,
    PromptSection,
    SectionOrder,
    ToolSchema,
    hookimpl,
)
from dsh_prompt_memory.config import Config
from dsh_prompt_memory.errors import (
    MemoriesError,
    NoteRefusedError,
    StoreUnusableError,
    ToolCallError,
)
from dsh_prompt_memory.memories import MEMORIES, Memories
from dsh_prompt_memory.notes import Note
from dsh_prompt_memory.provider import memory_provider
from dsh_prompt_memory.rules import RECALL_RULES, REMEMBER_RULES
from dsh_prompt_memory.tools import RECALL, REMEMBER

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = [
    "MEMORIES",
    "Config",
    "Memories",
    "MemoriesError",
    "Note",
    "NoteRefusedError",
    "StoreUnusableError",
    "ToolCallError",
    "activate",
    "contribute_contexts",
    "contribute_sections",
    "contribute_tools",
]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Provide the store of the notes; its file is opened when somebody needs it."""
    memories = Memories(ctx.config)
    ctx.callback(memories.close)
    ctx.provide(MEMORIES, memories)


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the context of the notes that the state holds."""
    config: Config = ctx.config
    return [
        PromptContext(
            name="memory",
            order=ContextOrder.MEMORY,
            text=memory_provider(config),
            title="Memory",
            literal=True,
            budget=Budget(
                max_chars=config.max_chars, max_items=config.max_items, priority=Priority.MEMORY
            ),
        )
    ]


@hookimpl
def contribute_sections(ctx: DisposableContext) -> list[PromptSection]:
    """Give the rules for the tools; those for each are there where the tool is."""
    if not ctx.config.tools:
        return []
    blocks = (
        ("memory:recall", "Memory", RECALL_RULES, RECALL),
        ("memory:remember", "New notes", REMEMBER_RULES, REMEMBER),
    )
    return [
        PromptSection(
            name=name,
            order=SectionOrder.TOOL_GUIDANCE,
            text=text,
            title=title,
            literal=True,
            requires_tools=(tool.name,),
        )
        for name, title, text, tool in blocks
    ]


@hookimpl
def contribute_tools(ctx: DisposableContext) -> list[ToolSchema]:
    """Give the tools with which the model remembers and recalls."""
    return [REMEMBER, RECALL] if ctx.config.tools else []
