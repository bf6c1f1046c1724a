"""What each provider's model replies, whole and as a stream of events.

Sources: the API references of OpenAI (chat completion and chunk; response and its events),
Anthropic (message; streaming messages), Gemini (GenerateContentResponse) and DeepSeek.

A reply calls a *tool*, or says something. Left to itself, a model calls the first tool that it may,
until there is a result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Json = dict[str, Any]

ARGUMENTS = {"path": "a.py"}
SAID = "It is done."


# Chat Completions


def chat_choice(body: Json) -> str | None:
    """Give the tool that the model calls."""
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    choice = body.get("tool_choice", "auto")
    if choice == "none":
        tools = []
    elif choice != "auto":
        tools = [tool["function"]["name"] for tool in choice["allowed_tools"]["tools"]]
    return tools[0] if tools and body["messages"][-1]["role"] != "tool" else None


def chat(body: Json, tool: str | None) -> Json:
    """Give a chat completion."""
    message: Json = {"role": "assistant", "content": SAID, "refusal": None, "annotations": []}
    if tool is not None:
        function = {"name": tool, "arguments": json.dumps(ARGUMENTS)}
        call_id = f"call_{len(body['messages'])}"
        message["content"] = None
        message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def deepseek(body: Json, tool: str | None) -> Json:
    """Give DeepSeek's, in thinking mode."""
    reply = chat(body, tool)
    message = reply["choices"][0]["message"]
    del message["refusal"], message["annotations"]
    message["reasoning_content"] = "I have to look."
    return reply


def chat_stream(reply: Json) -> str:
    """Give a chat completion in chunks, arguments in two pieces."""
    message = reply["choices"][0]["message"]
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    if "reasoning_content" in message:
        half = len(message["reasoning_content"]) // 2
        deltas += [
            {"reasoning_content": message["reasoning_content"][:half]},
            {"reasoning_content": message["reasoning_content"][half:]},
        ]
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        first = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        for piece in (function["arguments"][:3], function["arguments"][3:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if message["content"]:
        deltas.append({"content": message["content"]})
    base = {key: reply[key] for key in ("id", "created", "model")}
    chunks = [
        {**base, "object": "chat.completion.chunk", "choices": [choice]}
        for choice in (
            *({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas),
            {"index": 0, "delta": {}, "finish_reason": reply["choices"][0]["finish_reason"]},
        )
    ]
    return events([*chunks, "[DONE]"])


# Responses


def responses_choice(body: Json) -> str | None:
    """Give the tool that the model calls."""
    tools = [tool["name"] for tool in body.get("tools", [])]
    choice = body.get("tool_choice", "auto")
    if choice == "none":
        tools = []
    elif choice != "auto":
        tools = [tool["name"] for tool in choice["tools"]]
    answered = body["input"][-1].get("type") == "function_call_output"
    return tools[0] if tools and not answered else None


def responses(body: Json, tool: str | None) -> Json:
    """Give a response."""
    output: list[Json] = [{"type": "reasoning", "id": "rs_1", "summary": [], "status": None}]
    if tool is not None:
        call_id = f"call_{len(body['input'])}"
        call = {"id": "fc_1", "call_id": call_id, "status": "completed"}
        text = json.dumps(ARGUMENTS)
        output.append({"type": "function_call", **call, "name": tool, "arguments": text})
    else:
        content = [{"type": "output_text", "text": SAID, "annotations": []}]
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        output.append({**message, "content": content})
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": 1.0,
    }


def responses_stream(reply: Json) -> str:
    """Give a response in events."""
    sent: list[Json] = [
        {"type": "response.created", "response": {**reply, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(reply["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty: Json = {"arguments": "", "content": []}
        empty = {key: value for key, value in empty.items() if key in item}
        started = {**item, "status": "in_progress", **empty}
        sent.append({"type": "response.output_item.added", "output_index": index, "item": started})
        if item["type"] == "function_call":
            kind, text = "response.function_call_arguments", item["arguments"]
            sent += [
                {"type": f"{kind}.delta", **place, "delta": text[:3]},
                {"type": f"{kind}.delta", **place, "delta": text[3:]},
                {"type": f"{kind}.done", **place, "arguments": text, "name": item["name"]},
            ]
        for part in item.get("content", []):
            empty_part = {**part, "text": ""}
            where = {**place, "content_index": 0}
            sent += [
                {"type": "response.content_part.added", **where, "part": empty_part},
                {"type": "response.output_text.delta", **where, "delta": SAID, "logprobs": []},
                {"type": "response.output_text.done", **where, "text": SAID, "logprobs": []},
                {"type": "response.content_part.done", **where, "part": part},
            ]
        sent.append({"type": "response.output_item.done", "output_index": index, "item": item})
    sent.append({"type": "response.completed", "response": reply})
    for number, event in enumerate(sent):
        event["sequence_number"] = number
    return events(sent, named=True)


# Messages


def anthropic_choice(body: Json) -> str | None:
    """Give the tool that the model calls."""
    tools = [tool["name"] for tool in body.get("tools", [])]
    if body.get("tool_choice") == {"type": "none"}:
        tools = []
    last = body["messages"][-1]["content"]
    answered = isinstance(last, list) and last[-1]["type"] == "tool_result"
    return tools[0] if tools and not answered else None


def anthropic(body: Json, tool: str | None) -> Json:
    """Give a message."""
    content: list[Json] = [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]
    if tool is not None:
        use_id = f"toolu_{len(body['messages'])}"
        use = {"type": "tool_use", "id": use_id, "name": tool, "input": ARGUMENTS}
        content += [{"type": "text", "text": "I look.", "citations": None}, use]
    else:
        content.append({"type": "text", "text": SAID, "citations": None})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if content[-1]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_stream(reply: Json) -> str:
    """Give a message in events."""
    start = {**reply, "content": [], "stop_reason": None}
    sent: list[Json] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(reply["content"]):
        empty = {
            "text": {"type": "text", "text": ""},
            "thinking": {"type": "thinking", "thinking": "", "signature": ""},
            "tool_use": {**block, "input": {}},
        }[block["type"]]
        sent.append({"type": "content_block_start", "index": index, "content_block": empty})
        sent += [
            {"type": "content_block_delta", "index": index, "delta": delta}
            for delta in _deltas(block)
        ]
        sent.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    sent += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return events(sent, named=True)


def _deltas(block: Json) -> list[Json]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        return [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    text = json.dumps(block["input"])
    pieces = (text[:3], text[3:])
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


# Gemini


def gemini_choice(body: Json) -> str | None:
    """Give the tool that the model calls."""
    declared = [f["name"] for tool in body.get("tools", []) for f in tool["functionDeclarations"]]
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    tools = [] if config.get("mode") == "NONE" else config.get("allowedFunctionNames", declared)
    answered = "functionResponse" in body["contents"][-1]["parts"][-1]
    return tools[0] if tools and not answered else None


def gemini(body: Json, tool: str | None) -> Json:
    """Give the response of generateContent."""
    parts: list[Json] = [{"text": "Hm.", "thought": True}]
    if tool is not None:
        call = {"name": tool, "args": ARGUMENTS, "id": f"call_{len(body['contents'])}"}
        parts.append({"functionCall": call, "thoughtSignature": "+/+/qg=="})
    else:
        parts.append({"text": SAID})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 1}}


def gemini_stream(reply: Json) -> str:
    """Give the response in chunks, one for each part."""
    candidate = reply["candidates"][0]
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
        for part in candidate["content"]["parts"]
    ]
    last = {"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": {}}
    return events([*chunks, last])


def events(values: Iterable[Json | str], *, named: bool = False) -> str:
    """Give server-sent events, *named* by their type."""
    lines = []
    for value in values:
        data = value if isinstance(value, str) else json.dumps(value)
        name = f"event: {value['type']}\n" if named and isinstance(value, dict) else ""
        lines.append(f"{name}data: {data}\n\n")
    return "".join(lines)


CHOICES: dict[str, Callable[[Json], str | None]] = {
    "openai_chat": chat_choice,
    "openai_responses": responses_choice,
    "anthropic_messages": anthropic_choice,
    "gemini_generate": gemini_choice,
    "deepseek_chat": chat_choice,
}
REPLIES: dict[str, Callable[[Json, str | None], Json]] = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic_messages": anthropic,
    "gemini_generate": gemini,
    "deepseek_chat": deepseek,
}
STREAMS: dict[str, Callable[[Json], str]] = {
    "openai_chat": chat_stream,
    "openai_responses": responses_stream,
    "anthropic_messages": anthropic_stream,
    "gemini_generate": gemini_stream,
    "deepseek_chat": chat_stream,
}
