"""Calls of tools, as models make them, and the reading of responses that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

# What clients add to responses that they read more out of; a request may not have it.
_ADDED = ("parsed", "parsed_arguments", "parsed_output")


@attrs.frozen
class ToolCall:
    """A model's call of a tool.

    *name* is the tool's own, *sent_name* the one that the provider knows it by. *arguments* are
    an object; where the model wrote something else, they are its text, and *error* tells what is
    wrong with it. *refusal* is the reason to refuse the call, None where it may run.
    """

    name: str
    arguments: dict[str, Any] | str
    id: str = ""
    refusal: str | None = None
    error: str | None = None
    sent_name: str = attrs.field(
        default=attrs.Factory(lambda call: call.name, takes_self=True), kw_only=True
    )


#: A call, what the tool gave, and whether that is an error.
ToolResult: TypeAlias = tuple[ToolCall, str, bool]


def called(name: str, arguments: object, call_id: str | None) -> ToolCall:
    """Make a call of what a response says; *arguments* are an object, or JSON for one."""
    text = arguments if isinstance(arguments, str) else ""
    try:
        if isinstance(arguments, Mapping):
            return ToolCall(name, mended(arguments), call_id or "")
        # Some models write nothing where there is nothing to say.
        value = mended(json.loads(text or "{}", parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        return ToolCall(name, text, call_id or "", error=f"the arguments are not JSON: {error}")
    if not isinstance(value, dict):
        return ToolCall(name, text, call_id or "", error="the arguments are not a JSON object")
    return ToolCall(name, value, call_id or "")


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def mended(value: Any) -> Any:
    """Give *value*, a JSON, with half surrogate pairs replaced: they are no text, so no JSON."""
    if isinstance(value, str):
        text = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value if text == value else text  # a text that says more stays what it is
    if isinstance(value, Mapping):
        return {mended(key): mended(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mended(item) for item in value]
    return value


def field(value: object, *names: str) -> Any:
    """Give the first of the fields *names* that *value*, an object or a mapping, has."""
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def part(response: object, provider: str, *names: str) -> Any:
    """Give a field that every response has; raises `TypeError` for what is no response."""
    found = field(response, *names)
    if found is None:
        raise TypeError(
            f'{type(response).__name__} is no response of {provider}: it has no "{names[0]}" '
            "(of a stream, give what the client made of all its events)"
        )
    return found


def plain(value: object) -> Any:
    """Give an object of a client, or what holds such objects, as JSON.

    As the clients do themselves, when they are given their own objects: what was not set, and
    what they added to the response, is left out.
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    if dump is None:
        return value
    fields = dump(mode="json", exclude_unset=True).items()
    return {key: _plain_field(value, key, item) for key, item in fields if key not in _ADDED}


def _plain_field(holder: object, key: str, dumped: Any) -> Any:
    """Give a field as `plain` would: only what holds no other object is dumped rightly."""
    own = getattr(holder, key, None)
    return plain(own) if isinstance(own, list) or hasattr(own, "model_dump") else dumped
