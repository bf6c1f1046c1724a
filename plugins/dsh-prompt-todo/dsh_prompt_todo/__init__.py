"""A dsh_prompt plugin that shows a model its todos, and lets it write them.

It contributes the runtime contexts `todo:current` and `todo`, the section `todo:rules` and the
schema of the tool `todo_write`, and provides the service `TODOS`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_todo)`, or installed, by its entry point `todo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptSection, SectionOrder, hookimpl
from dsh_prompt.model.state import Todo
from dsh_prompt_todo.config import Config
from dsh_prompt_todo.contexts import contexts
from dsh_prompt_todo.errors import TodoError
from dsh_prompt_todo.store import TODOS, TodosChanged, TodoStore
from dsh_prompt_todo.tool import TODO_WRITE, rules, todo_write

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext, PromptContext, ToolSchema

__all__ = [
    "TODOS",
    "TODO_WRITE",
    "Config",
    "Todo",
    "TodoError",
    "TodoStore",
    "TodosChanged",
    "activate",
    "contribute_contexts",
    "contribute_sections",
    "contribute_tools",
]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Offer an empty list of todos to the loop; the next load has another one."""
    ctx.provide(TODOS, TodoStore(ctx.config))


@hookimpl
def contribute_sections(ctx: DisposableContext) -> list[PromptSection]:
    """Give the rules, where the tool is in the list."""
    return [
        PromptSection(
            name="todo:rules",
            order=SectionOrder.TOOL_GUIDANCE,
            title="Todos",
            text=rules(ctx.config),
            literal=True,
            requires_tools=(TODO_WRITE,),
        )
    ]


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the todos of the state; the state decides, not the store."""
    return contexts(ctx.config)


@hookimpl
def contribute_tools(ctx: DisposableContext) -> list[ToolSchema]:
    """Give the tool, unless the harness has its own."""
    return [todo_write(ctx.config)] if ctx.config.tool else []
