"""Assemblies and histories that the tests of adapters share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dsh_prompt import AssembledSection, PromptAssembly, ToolSchema
from dsh_prompt.adapters import (
    anthropic_messages,
    deepseek_chat,
    gemini_generate,
    openai_chat,
    openai_responses,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt.adapters import Adapter, Request

ADAPTERS: dict[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        openai_chat,
        openai_responses,
        anthropic_messages,
        gemini_generate,
        deepseek_chat,
    )
}
#: The names of the arguments that hold the history.
HISTORY = {
    "openai_chat": "messages",
    "openai_responses": "input",
    "anthropic_messages": "messages",
    "gemini_generate": "contents",
    "deepseek_chat": "messages",
}

READ = ToolSchema(
    "read",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
WRITE = ToolSchema(
    "write",
    "Writes a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
)
NOW = ToolSchema("time.now", "", {})


def assembly(*tools: ToolSchema) -> PromptAssembly:
    """Give an assembly with a stable prefix, a rest, and *tools*."""
    return PromptAssembly(
        [
            AssembledSection("rules", "Be precise.", title="Rules", cacheable=True),
            AssembledSection("place", "You are in {{cwd}}.", cacheable=True),
            AssembledSection("clock", "It is noon."),
            AssembledSection("end", "Answer in English.", cacheable=True),
        ],
        tools=tools,
        variables={"cwd": "/src"},
    )


def reply(adapter: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Give a response of the provider that calls the tool *name*, as a plain dict."""
    return _REPLIES[adapter](name, arguments)


def _chat(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": _json(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def _deepseek(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    response = _chat(name, arguments)
    response["choices"][0]["message"]["reasoning_content"] = "I have to look."
    return response


def _responses(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": "fc_1", "call_id": "call_1", "name": name, "arguments": _json(arguments)}
    return {
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", **call, "status": "completed"},
        ]
    }


def _anthropic(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments},
        ],
    }


def _gemini(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"name": name, "args": arguments, "id": "call_1"}
    part = {"functionCall": call, "thoughtSignature": "-_-_qg=="}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}}]}


def _json(value: object) -> str:
    return json.dumps(value)


_REPLIES: dict[str, Callable[[str, dict[str, Any]], dict[str, Any]]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic_messages": _anthropic,
    "gemini_generate": _gemini,
    "deepseek_chat": _deepseek,
}


def after_a_call(
    adapter: Adapter, output: str = "print(1)", *, is_error: bool = False
) -> list[Any]:
    """Give a history in which the model called a tool, and got its result."""
    response = reply(adapter.name, "read", {"path": "a.py"})
    results = [(call, output, is_error) for call in adapter.tool_calls(response)]
    return [
        adapter.user_message("What is in a.py?"),
        *adapter.reply_messages(response),
        *adapter.result_messages(results),
    ]


def _denied(*names: str) -> PromptAssembly:
    made = assembly(READ, WRITE)
    for name in names:
        made.deny(name, "plan mode")
    return made


#: What the golden files show.
CASES: dict[str, Callable[[Adapter], Request]] = {
    "empty": lambda adapter: adapter(PromptAssembly(), model="model-1"),
    "a-question": lambda adapter: adapter(
        assembly(), [adapter.user_message("Hello")], model="model-1", temperature=0
    ),
    "without-cache": lambda adapter: adapter(
        assembly(READ), [adapter.user_message("Hello")], model="model-1", cache=False
    ),
    "after-a-call": lambda adapter: adapter(
        assembly(READ, WRITE), after_a_call(adapter), model="model-1"
    ),
    "after-an-error": lambda adapter: adapter(
        assembly(READ), after_a_call(adapter, "no such file", is_error=True), model="model-1"
    ),
    "a-tool-denied": lambda adapter: adapter(
        _denied("write"), [adapter.user_message("Hello")], model="model-1"
    ),
    "all-tools-denied": lambda adapter: adapter(
        _denied("read", "write"), [adapter.user_message("Hello")], model="model-1"
    ),
    "a-name-mapped": lambda adapter: adapter(
        assembly(NOW, ToolSchema("mcp/files", "", {})),
        [adapter.user_message("Hello")],
        model="model-1",
    ),
}
