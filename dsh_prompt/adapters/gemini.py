"""Gemini: ``client.models.generate_content(**gemini_generate(...))``, or its stream.

- All but model and history stands in `config`: the options are fields of it.
- Schemas go into `parameters_json_schema`, which takes JSON Schema; `parameters` would take a
  dialect of OpenAPI. Source: google-genai 3.6, `FunctionDeclaration`.
- Caching is implicit, and takes no argument: what counts is that requests start alike. An explicit
  cache is an object on the server, which holds system prompt and tools itself, so that a request
  that uses it may have neither: that is for you to make. Source:
  https://ai.google.dev/gemini-api/docs/caching, https://github.com/langchain-ai/langchain-google/
  issues/978.
- Denied tools stay in the list: the mode ``VALIDATED`` lets the model call the allowed ones, or
  say something; where all are denied, it is ``NONE``. Source: the API's reference of
  FunctionCallingConfig, and google-genai 3.6, `FunctionCallingConfigMode`.
- The result of a call names the function, stands under ``output`` or ``error``, and has the id of
  the call where there is one. Source: google-genai 3.6, `FunctionResponse`.
- A reply goes back whole: `thought_signature` has to come back in the part that it came in.
  Source: https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.adapters.base import BuiltIn
from dsh_prompt.adapters.calls import called, field, plain
from dsh_prompt.adapters.limits import GEMINI

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dsh_prompt.adapters.base import Parts
    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.adapters.preflight import SentTool

_FEEDBACK = ("prompt_feedback", "promptFeedback")


@attrs.frozen
class GeminiGenerate(BuiltIn):
    """The adapter: see the module."""

    slots = ("contents", "config", "system_instruction", "tools")

    def _body(self, parts: Parts) -> Mapping[str, Any]:
        config: dict[str, Any] = {}
        if parts.system:
            config["system_instruction"] = parts.system
        if parts.tools:
            config["tools"] = [{"function_declarations": [_declared(t) for t in parts.tools]}]
        if parts.allowed is not None:
            config["tool_config"] = {"function_calling_config": _mask(parts.allowed)}
        config |= parts.options
        body: dict[str, Any] = {"model": parts.model, "contents": parts.messages}
        return body | ({"config": config} if config else {})

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the function calls of the first candidate; a list of chunks is one response."""
        made = []
        for piece in _pieces(response):
            if call := field(piece, "function_call", "functionCall"):
                arguments = field(call, "args") or {}
                made.append(called(field(call, "name"), arguments, field(call, "id")))
        return made

    def user_message(self, text: str) -> Any:
        """Give *text* as a content of the user."""
        return {"role": "user", "parts": [{"text": text}]}

    def reply_messages(self, response: object) -> list[Any]:
        """Give the content of the first candidate; a list of chunks is one response."""
        parts = plain(_pieces(response))
        return [{"role": "model", "parts": parts}] if parts else []

    def result_messages(self, results: Iterable[ToolResult]) -> list[Any]:
        """Give one content with all results."""
        parts = [{"function_response": _response(*result)} for result in results]
        return [{"role": "user", "parts": parts}] if parts else []


def _declared(tool: SentTool) -> dict[str, Any]:
    described = {"description": tool.schema.description} if tool.schema.description else {}
    return {"name": tool.name, **described, "parameters_json_schema": tool.parameters}


def _mask(allowed: list[SentTool]) -> dict[str, Any]:
    if not allowed:
        return {"mode": "NONE"}
    return {"mode": "VALIDATED", "allowed_function_names": [tool.name for tool in allowed]}


def _response(call: ToolCall, output: str, is_error: bool) -> dict[str, Any]:
    named = {"name": call.sent_name, **({"id": call.id} if call.id else {})}
    return named | {"response": {"error" if is_error else "output": output}}


def _pieces(response: object) -> list[Any]:
    """Give the parts of the content, those of all chunks."""
    chunks = response if isinstance(response, list | tuple) else [response]
    pieces: list[Any] = []
    for chunk in chunks:
        candidates = field(chunk, "candidates")
        if candidates:
            pieces += field(field(candidates[0], "content"), "parts") or []
        elif not field(chunk, *_FEEDBACK, "usage_metadata", "usageMetadata"):
            raise TypeError(
                f'{type(chunk).__name__} is no response of Gemini: it has no "candidates" '
                "(of a stream, give the list of its chunks)"
            )
    return pieces


gemini_generate = GeminiGenerate("gemini_generate", GEMINI)
