"""OpenAI's Responses: ``client.responses.create(**openai_responses(...))``.

- The system prompt is `instructions`, the history `input`. A reply's items go back as they came,
  reasoning included. (With ``store=False``, ask for ``include=["reasoning.encrypted_content"]``.)
  Source: https://developers.openai.com/api/docs/guides/function-calling.
- `strict` is said to be false: the API's strict mode takes a subset of JSON Schema only, and the
  schemas of tools are sent as they are. Source: openai 3.57, `FunctionToolParam.strict`.
- Caching and denied tools: as in `chat_completions`. Source of the form of ``allowed_tools``:
  openai 3.57, `ToolChoiceAllowedParam`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.adapters.base import BuiltIn
from dsh_prompt.adapters.calls import called, field, part, plain
from dsh_prompt.adapters.chat_completions import cache_key, mask
from dsh_prompt.adapters.limits import OPENAI

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dsh_prompt.adapters.base import Parts
    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.adapters.preflight import SentTool


@attrs.frozen
class OpenAIResponses(BuiltIn):
    """The adapter: see the module."""

    slots = ("instructions", "input", "tools")

    def _body(self, parts: Parts) -> Mapping[str, Any]:
        body: dict[str, Any] = {"model": parts.model}
        if parts.system:
            body["instructions"] = parts.system
        body["input"] = parts.messages
        if parts.tools:
            body["tools"] = [_function(tool) for tool in parts.tools]
        return {**body, **cache_key(parts), **parts.options, **mask(parts, _named)}

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the items of *response* that are calls of functions."""
        return [
            called(field(item, "name"), field(item, "arguments"), field(item, "call_id"))
            for item in part(response, "Responses", "output")
            if field(item, "type") == "function_call"
        ]

    def reply_messages(self, response: object) -> list[Any]:
        """Give all items of the output."""
        items: list[Any] = plain(part(response, "Responses", "output"))
        return items

    def result_messages(self, results: Iterable[ToolResult]) -> list[Any]:
        """Give one item for each result; that it is an error only its text can say."""
        return [
            {"type": "function_call_output", "call_id": call.id, "output": output}
            for call, output, _ in results
        ]


def _function(tool: SentTool) -> dict[str, Any]:
    described = {"description": tool.schema.description} if tool.schema.description else {}
    return {
        "type": "function",
        "name": tool.name,
        **described,
        "parameters": tool.parameters,
        "strict": False,
    }


def _named(mode: str, names: list[str]) -> dict[str, Any]:
    tools = [{"type": "function", "name": name} for name in names]
    return {"type": "allowed_tools", "mode": mode, "tools": tools}


openai_responses = OpenAIResponses("openai_responses", OPENAI)
