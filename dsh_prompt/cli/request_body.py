"""The body of a provider's request, for ``dsh-prompt render --format``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt.cli.escaping import json_text
from dsh_prompt.render.projection import RuntimeContextProjection
from dsh_prompt.render.prompt import render_context_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt.model.prompt_assembly import PromptAssembly

#: The adapters, by what the command line calls them.
ADAPTERS = {
    "openai": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic_messages",
    "gemini": "gemini_generate",
    "deepseek": "deepseek_chat",
}


def request_body(
    name: str, assembly: PromptAssembly, messages: Sequence[Any], model: str | None
) -> str:
    """Give the request that the adapter *name* makes, as JSON; without *model* it names none."""
    from dsh_prompt.adapters import adapter  # noqa: PLC0415 - for these formats only

    found = adapter(ADAPTERS[name])
    history = list(messages)
    projection = RuntimeContextProjection.from_messages(
        message for message in history if isinstance(message, dict)
    )
    snapshot = projection.project(render_context_snapshot(assembly))
    if snapshot is not None:
        history.append(found.user_message(snapshot))
    body = found(assembly, history, model=model or "").to_dict()
    if not model:
        body.pop("model", None)
    return json_text(body)
