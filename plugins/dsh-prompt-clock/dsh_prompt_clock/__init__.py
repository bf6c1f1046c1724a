"""A dsh_prompt plugin that tells a model which day it is, and in which time zone.

It contributes a runtime context named `clock`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_clock)`, or installed, by its entry point `clock`. A caller who
needs another moment than this one, say to replay a conversation, gives it as
`context[NOW] = moment`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import ContextOrder, PromptContext, hookimpl
from dsh_prompt_clock.config import Config
from dsh_prompt_clock.provider import NOW, clock_provider

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = ["NOW", "Config", "contribute_contexts"]


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the context of the date, and of the time as finely as the settings want it."""
    config: Config = ctx.config
    return [
        PromptContext(
            name="clock",
            order=ContextOrder.ENVIRONMENT,
            title="Date" if config.resolution == "day" else "Date and time",
            text=clock_provider(config),
            literal=True,
        )
    ]
