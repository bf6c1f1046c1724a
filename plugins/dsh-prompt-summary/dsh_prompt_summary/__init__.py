"""A dsh_prompt plugin that shows a model what is left of a conversation's earlier messages.

It contributes a runtime context named `summary`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_summary, name="summary")`, or, installed, its entry point `summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import Budget, ContextOrder, Priority, PromptContext, hookimpl
from dsh_prompt_summary.config import Config
from dsh_prompt_summary.provider import summary_provider

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = ["Config", "contribute_contexts"]


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the context of the summary that the state holds."""
    config: Config = ctx.config
    return [
        PromptContext(
            name="summary",
            order=ContextOrder.SUMMARY,
            text=summary_provider(config),
            title="Conversation so far",
            literal=True,
            budget=Budget(max_chars=config.max_chars, priority=Priority.SUMMARY),
        )
    ]
