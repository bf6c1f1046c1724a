"""The result of a call, as a loop gives it to a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp import types

#: Far more than an answer has; so many that they hold nobody up.
_MOST_PARTS: Final = 1000
_NO_REASON: Final = "The tool failed and did not say why."


@attrs.frozen
class CallResult:
    """What came of a call.

    *text*: for the model, also where the call failed. *is_error*: whether it did. *refused*:
    whether the server was not even asked. *content*: the parts of the answer as MCP has them,
    images and the like included; *structured*: its structured form, where there is one.
    """

    text: str
    is_error: bool = False
    refused: bool = False
    content: tuple[dict[str, Any], ...] = attrs.field(default=(), repr=False)
    structured: Any = attrs.field(default=None, repr=False)


def failed(text: str, *, refused: bool = False) -> CallResult:
    """Give the result of a call that came to nothing."""
    return CallResult(text, is_error=True, refused=refused)


def call_result(answer: types.CallToolResult, most: int) -> CallResult:
    """Give *answer* as text of up to *most* characters; what is no text is described."""
    parts = tuple(
        part.model_dump(mode="json", by_alias=True, exclude_none=True)
        for part in answer.content[:_MOST_PARTS]
    )
    structured = answer.structured_content
    text = "\n".join(_described(part) for part in parts)
    if left_out := len(answer.content) - len(parts):
        text += f"\n[cut: {left_out} more parts]"
    if not parts and structured is not None:
        text = json.dumps(structured, ensure_ascii=False)
    if answer.is_error and not text.strip():
        text = _NO_REASON  # providers refuse an error without a text
    return CallResult(_cut(text, most), answer.is_error, False, parts, structured)


def _cut(text: str, most: int) -> str:
    left_out = len(text) - most
    return text if left_out <= 0 else f"{text[:most]}\n[cut: {left_out} more characters]"


def _described(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind == "text":
        return str(part["text"])
    if kind == "resource":
        return "\n".join(_resource(part["resource"]))
    if kind == "resource_link":
        return f"[resource {part.get('name', '')}: {part.get('uri', '')}]"
    return f"[{kind} {part.get('mimeType', '')}, {len(part.get('data', ''))} characters of base64]"


def _resource(resource: dict[str, Any]) -> Iterator[str]:
    uri = resource.get("uri", "")
    if "text" in resource:
        yield f"[resource {uri}]"
        yield str(resource["text"])
    else:
        size = len(resource.get("blob", ""))
        yield f"[resource {uri}, {resource.get('mimeType', '')}, {size} characters of base64]"
