"""What providers say of a request's body, written down from their documentation.

Nothing of the library is used here. `broken_rules` gives what is wrong with the JSON that arrived
at a server; the sources stand at each part.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Body = dict[str, Any]

META_SCHEMA = Draft202012Validator(Draft202012Validator.META_SCHEMA)


def broken_rules(provider: str, body: Body) -> list[str]:
    """Tell which of the *provider*'s rules *body* breaks."""
    return list(RULES[provider](body))


# OpenAI, Chat Completions. developers.openai.com/api/reference: create chat completion;
# DeepSeek: api-docs.deepseek.com/api/create-chat-completion.

_ROLES = ("assistant", "developer", "system", "tool", "user")


def chat(body: Body) -> Iterator[str]:
    """Look at a request to Chat Completions."""
    yield from required(body, "model", "messages")
    for message in body["messages"]:
        if message["role"] not in _ROLES:
            yield f"role {message['role']}"
        if message["role"] != "assistant" and not message.get("content"):
            yield f"no content in {message}"
    yield from answered(
        body["messages"],
        lambda message: [call["id"] for call in message.get("tool_calls", [])],
        lambda message: [message["tool_call_id"]] if message["role"] == "tool" else [],
    )
    functions = [tool["function"] for tool in body.get("tools", [])]
    if any(tool["type"] != "function" for tool in body.get("tools", [])):
        yield "a tool that is no function"
    if any(set(f) - {"name", "description", "parameters", "strict"} for f in functions):
        yield "a function with an unknown key"
    yield from named(functions, r"[a-zA-Z0-9_-]{1,64}", 128, body)
    for function in functions:
        yield from json_schema(function["parameters"])


def openai_chat(body: Body) -> Iterator[str]:
    """Look at a request to OpenAI itself."""
    yield from chat(body)
    yield from cache_key(body)
    for tool in body.get("tools", []):
        yield from openai_schema(tool["function"]["parameters"])
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        allowed = choice["allowed_tools"]
        names = [tool["function"]["name"] for tool in allowed["tools"]]
        known = [tool["function"]["name"] for tool in body["tools"]]
        yield from subset(choice["type"], allowed["mode"], names, known)


def deepseek_chat(body: Body) -> Iterator[str]:
    """Look at a request to DeepSeek: fewer arguments, and reasoning that has to come back."""
    yield from chat(body)
    if body.get("tool_choice", "auto") not in ("none", "auto", "required"):
        yield "tool_choice"
    if "prompt_cache_key" in body:
        yield "prompt_cache_key is OpenAI's"
    for message in body["messages"]:
        # guides/thinking_mode: of a reply that called tools, or the API answers with 400.
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield "a call of a tool without its reasoning_content"


def cache_key(body: Body) -> Iterator[str]:
    """Look at the key of the prompt cache: at most 64 characters."""
    if len(body.get("prompt_cache_key", "")) > 64:
        yield "prompt_cache_key is too long"


def subset(kind: str, mode: str, names: list[str], known: list[str]) -> Iterator[str]:
    """Look at a choice of allowed tools: some of those that there are."""
    if kind != "allowed_tools" or mode not in ("auto", "required"):
        yield "the form of allowed_tools"
    if not names or not set(names) <= set(known):
        yield "allowed_tools that are no tools of the request"


def openai_schema(schema: Body) -> Iterator[str]:
    """Look at parameters: the API's messages for "invalid_function_parameters"."""
    if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf", "enum", "not"} & set(schema):
        yield "schema must have type 'object' and not have 'oneOf' etc. at the top level"
    if "properties" not in schema:
        yield "object schema missing properties"
    for part in subschemas(schema):
        kinds = part.get("type")
        if "array" in (kinds if isinstance(kinds, list) else [kinds]) and "items" not in part:
            yield "array schema missing items"


# OpenAI, Responses. developers.openai.com/api/reference: create a response.


def openai_responses(body: Body) -> Iterator[str]:
    """Look at a request to Responses."""
    yield from required(body, "model", "input")
    if "messages" in body or body.get("instructions", "x") == "":
        yield "instructions"
    yield from answered(
        body["input"],
        lambda item: [item["call_id"]] if item.get("type") == "function_call" else [],
        lambda item: [item["call_id"]] if item.get("type") == "function_call_output" else [],
    )
    tools = body.get("tools", [])
    for tool in tools:
        if set(tool) - {"type", "name", "description", "parameters", "strict"}:
            yield f"an unknown key in {tool}"
        yield from required(tool, "type", "name", "parameters", "strict")
        yield from openai_schema(tool["parameters"])
        yield from json_schema(tool["parameters"])
    yield from named(tools, r"[a-zA-Z0-9_-]{1,64}", 128, body)
    yield from cache_key(body)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        names = [tool["name"] for tool in choice["tools"]]
        known = [tool["name"] for tool in tools]
        yield from subset(choice["type"], choice["mode"], names, known)


# Anthropic, Messages. platform.claude.com/docs: api/messages, define-tools, prompt-caching.


def anthropic_messages(body: Body) -> Iterator[str]:
    """Look at a request to Messages."""
    yield from required(body, "model", "max_tokens", "messages")
    if not {message["role"] for message in body["messages"]} <= {"user", "assistant", "system"}:
        yield "role"
    system = body.get("system", "x")
    blocks = [system] if isinstance(system, str) else [block["text"] for block in system]
    for message in body["messages"]:
        texts = _blocks(message)
        blocks += [block["text"] for block in texts if block["type"] == "text"]
    if not all(text.strip() for text in blocks):
        yield "text content blocks must contain non-whitespace text"
    yield from answered(
        body["messages"],
        lambda m: [block["id"] for block in _blocks(m) if block["type"] == "tool_use"],
        lambda m: [b["tool_use_id"] for b in _blocks(m) if b["type"] == "tool_result"],
        together=True,
    )
    if len(marks(body)) > 4:
        yield "more than four blocks with cache_control"
    yield from anthropic_tools(body)
    if len(json.dumps(body).encode()) > 32_000_000:
        yield "request_too_large"


def anthropic_tools(body: Body) -> Iterator[str]:
    """Look at the tools of a request to Messages."""
    tools = body.get("tools", [])
    yield from named(tools, r"[a-zA-Z0-9_-]{1,128}", None, body)
    for tool in tools:
        if set(tool) - {"name", "description", "input_schema", "cache_control", "defer_loading"}:
            yield f"an unknown key in {tool}"
        if tool.get("defer_loading") and "cache_control" in tool:
            yield "tools with defer_loading cannot use prompt caching"
        schema = tool["input_schema"]
        if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf"} & set(schema):
            yield "input_schema does not support oneOf, allOf, or anyOf at the top level"
        if not all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", k) for k in schema.get("properties", {})):
            yield "Property keys should match pattern"
        yield from json_schema(schema)
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield "at least one tool must not be deferred"
    deferred = {tool["name"] for tool in tools if tool.get("defer_loading")}
    if not set(references(body)) <= deferred:
        yield "a tool_reference to a tool that is not deferred"
    if body.get("tool_choice", {"type": "none"}) != {"type": "none"}:
        yield "tool_choice"


def references(body: Body) -> list[str]:
    """Give the names of the tools that results refer to."""
    results = [b for m in body["messages"] for b in _blocks(m) if b["type"] == "tool_result"]
    blocks = [b for r in results if isinstance(r["content"], list) for b in r["content"]]
    return [block["tool_name"] for block in blocks if block["type"] == "tool_reference"]


def marks(body: Body) -> list[str]:
    """Give the places that are marked with `cache_control`, in the order of the cache."""
    found = [f"tools[{i}]" for i, t in enumerate(body.get("tools", [])) if "cache_control" in t]
    system = body.get("system", [])
    if isinstance(system, list):
        found += [f"system[{i}]" for i, b in enumerate(system) if "cache_control" in b]
    for index, message in enumerate(body["messages"]):
        blocks = enumerate(_blocks(message))
        found += [f"messages[{index}][{i}]" for i, b in blocks if "cache_control" in b]
    return found


def _blocks(message: Body) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


# Gemini. ai.google.dev/api: generateContent, FunctionDeclaration, FunctionCallingConfig. In the
# body the client has made camel case of what it knows.


def gemini_generate(body: Body) -> Iterator[str]:
    """Look at a request to generateContent."""
    yield from required(body, "contents")
    for content in body["contents"]:
        if content["role"] not in ("user", "model") or not content["parts"]:
            yield f"content {content}"
    yield from answered(
        body["contents"],
        lambda c: [p["functionCall"]["id"] for p in c["parts"] if "functionCall" in p],
        lambda c: [p["functionResponse"]["id"] for p in c["parts"] if "functionResponse" in p],
    )
    if set(body) - {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}:
        yield f"unknown keys in {sorted(body)}"
    tools = body.get("tools", [])
    declared = [function for tool in tools for function in tool["functionDeclarations"]]
    pattern = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
    yield from named(declared, pattern, 512, {"tools": declared} if "tools" in body else {})
    for function in declared:
        yield from json_schema(function["parameters_json_schema"])
    if "toolConfig" in body:
        config = body["toolConfig"]["functionCallingConfig"]
        names = config.get("allowedFunctionNames")
        # "This should only be set when the Mode is ANY or VALIDATED."
        if (names is None) != (config["mode"] == "NONE"):
            yield "allowedFunctionNames"
        if not set(names or ()) <= {function["name"] for function in declared}:
            yield "allowedFunctionNames that are not declared"


# All of them.


def required(value: Body, *keys: str) -> Iterator[str]:
    """Look for *keys*."""
    for key in keys:
        if key not in value:
            yield f"{key}: Field required"


def named(tools: list[Body], pattern: str, most: int | None, body: Body) -> Iterator[str]:
    """Look at the list of tools: not empty, not too long, good names, none twice."""
    names = [tool["name"] for tool in tools]
    if body.get("tools") == []:
        yield "[] is too short - 'tools'"
    if "tools" not in body and "tool_choice" in body:
        yield "tool_choice is only allowed when tools are specified"
    if most is not None and len(tools) > most:
        yield f"array too long: {len(tools)}"
    if not all(re.fullmatch(pattern, name) for name in names):
        yield f"invalid names in {names}"
    if len(set(names)) < len(names):
        yield "tool names must be unique"


def answered(
    messages: list[Body],
    calls: Callable[[Body], list[str]],
    results: Callable[[Body], list[str]],
    *,
    together: bool = False,
) -> Iterator[str]:
    """Look whether every call has its result after it, *together*: all in the next message."""
    open_calls: list[str] = []
    for message in messages:
        given = results(message)
        if not set(given) <= set(open_calls):
            yield f"a result without a call: {given}"
        left = [call for call in open_calls if call not in given]
        if together and left:
            yield f"a call without its result in the next message: {left}"
        open_calls = left + calls(message)
    if open_calls:
        yield f"a call without a result: {open_calls}"


def subschemas(schema: Any) -> Iterator[Body]:
    """Give *schema* and every schema in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("items", "not", "additionalProperties"):
        yield from subschemas(schema.get(key))
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            yield from subschemas(inner)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, []):
            yield from subschemas(inner)


def json_schema(schema: Body) -> Iterator[str]:
    """Look whether *schema* is one of draft 2020-12."""
    for error in META_SCHEMA.iter_errors(schema):
        yield f"no JSON Schema: {error.message}"
    if any(part.get("enum") == [] for part in subschemas(schema)):
        yield "an empty enum"


RULES: dict[str, Callable[[Body], Iterator[str]]] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic_messages": anthropic_messages,
    "gemini_generate": gemini_generate,
    "deepseek_chat": deepseek_chat,
}
