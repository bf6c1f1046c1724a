"""OpenAI's Chat Completions: ``client.chat.completions.create(**openai_chat(...))``.

- The system prompt is the first message. Its role is ``system``, which compatible servers know
  too; where a model wants ``developer``, OpenAI takes it for that. Source: its staff, in
  https://community.openai.com/t/how-is-developer-message-better-than-system-prompt/1062784/2.
- The prefix of a request is cached by itself, if its bytes are the same. `prompt_cache_key`, here
  the fingerprint of the prefix as it is sent, brings requests that share it to one machine. Of one
  prefix and key, about 15 requests a minute find their way: with more, give a key of your own for
  each user. Source: https://developers.openai.com/api/docs/guides/prompt-caching. It has at most
  64 characters (https://github.com/vybestack/llxprt-code/issues/2135), as the digest has.
- Denied tools stay in the list; `tool_choice` names the allowed ones (``allowed_tools``), or is
  ``none`` where all are denied. Source: openai 3.57, `ChatCompletionAllowedToolChoiceParam`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.adapters.base import BuiltIn
from dsh_prompt.adapters.calls import called, field, part, plain
from dsh_prompt.adapters.limits import OPENAI
from dsh_prompt.render.fingerprint import prefix_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dsh_prompt.adapters.base import Parts
    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.adapters.preflight import SentTool

# What of a reply a later request may hold.
_REPLY = ("role", "content", "refusal", "reasoning_content", "tool_calls")


@attrs.frozen
class ChatCompletions(BuiltIn):
    """The adapter: see the module. *is_openai*: what only OpenAI's own server takes is said."""

    slots = ("messages", "tools")

    is_openai: bool = False

    def _body(self, parts: Parts) -> Mapping[str, Any]:
        system = [{"role": "system", "content": parts.system}] if parts.system else []
        body: dict[str, Any] = {"model": parts.model, "messages": [*system, *parts.messages]}
        if parts.tools:
            body["tools"] = [{"type": "function", "function": _function(t)} for t in parts.tools]
        if self.is_openai:
            body |= cache_key(parts)
        return body | parts.options | mask(parts, _named if self.is_openai else None)

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the calls in the first choice of a chat completion."""
        made = []
        for call in field(self._message(response), "tool_calls") or ():
            if function := field(call, "function"):
                arguments = field(function, "arguments")
                made.append(called(field(function, "name"), arguments, field(call, "id")))
        return made

    def reply_messages(self, response: object) -> list[Any]:
        """Give the message of the first choice, without what is only for reading."""
        message = plain(self._message(response))
        # An empty list of calls, which some servers write, is refused when it comes back.
        reply = {key: message[key] for key in _REPLY if message.get(key) not in (None, [])}
        return [reply if "content" in reply or "tool_calls" in reply else reply | {"content": ""}]

    def result_messages(self, results: Iterable[ToolResult]) -> list[Any]:
        """Give one message for each result; that it is an error only its text can say."""
        return [
            {"role": "tool", "tool_call_id": call.id, "content": output}
            for call, output, _ in results
        ]

    def _message(self, response: object) -> Any:
        choices = part(response, "Chat Completions", "choices")
        return part(choices[0] if choices else None, "Chat Completions", "message")


def mask(parts: Parts, named: Callable[[str, list[str]], object] | None) -> dict[str, Any]:
    """Give the `tool_choice` that leaves out the denied tools, as *named* says it.

    Without *named*, there is only one that leaves out all. A choice among the options is kept,
    and narrowed where it is no single tool.
    """
    mode = parts.options.get("tool_choice", "auto")
    if parts.allowed is None or mode not in ("auto", "required"):
        return {}
    if not parts.allowed:
        return {"tool_choice": "none"}
    if named is None:
        return {}
    return {"tool_choice": named(mode, [tool.name for tool in parts.allowed])}


def cache_key(parts: Parts) -> dict[str, Any]:
    """Give the `prompt_cache_key`, where there is a prefix."""
    if not parts.cache or not (parts.tools or parts.stable):
        return {}
    # Of what is sent: tools that are held back may come and go.
    return {"prompt_cache_key": prefix_of([tool.schema for tool in parts.tools], parts.stable)}


def _function(tool: SentTool) -> dict[str, Any]:
    described = {"description": tool.schema.description} if tool.schema.description else {}
    return {"name": tool.name, **described, "parameters": tool.parameters}


def _named(mode: str, names: list[str]) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


openai_chat = ChatCompletions("openai_chat", OPENAI, is_openai=True)
