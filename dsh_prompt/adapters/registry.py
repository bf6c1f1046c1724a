"""Adapters by name: the built-in ones, and those of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dsh_prompt.adapters.anthropic import anthropic_messages
from dsh_prompt.adapters.chat_completions import openai_chat
from dsh_prompt.adapters.deepseek import deepseek_chat
from dsh_prompt.adapters.gemini import gemini_generate
from dsh_prompt.adapters.responses import openai_responses
from dsh_prompt.errors import PluginLoadError, PluginNotFoundError, nearest, quoted, text_of

if TYPE_CHECKING:
    from dsh_prompt.adapters.base import Adapter

#: The group of entry points by which other packages add adapters.
GROUP = "dsh_prompt.adapters"

BUILT_IN: dict[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        openai_chat,
        openai_responses,
        anthropic_messages,
        gemini_generate,
        deepseek_chat,
    )
}


def adapter(name: str) -> Adapter:
    """Give the adapter *name*: a built-in one, or the entry point of that name in `GROUP`.

    Raises `PluginNotFoundError` with the nearest name that there is, and `PluginLoadError` for
    an entry point that cannot be imported.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    import importlib_metadata  # noqa: PLC0415 - only where something is looked for

    points = {point.name: point for point in importlib_metadata.entry_points(group=GROUP)}
    if name not in points:
        known = sorted({*BUILT_IN, *points})
        raise PluginNotFoundError(
            f'no adapter "{name}" among {quoted(known)}{nearest(name, known)}'
        )
    try:
        return cast("Adapter", points[name].load())
    except Exception as error:
        raise PluginLoadError(
            f'adapter "{name}": {points[name].value} cannot be imported: {text_of(error)}',
            plugin=name,
        ) from error
