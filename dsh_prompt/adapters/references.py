"""References to held-back tools in a history of Anthropic's: each opens the tool that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_GONE = "The tools that were found are not there any more."
_LISTED = "The tools that were found are in your list of tools: "


def referenced(messages: list[Any]) -> frozenset[str]:
    """Give the sent names of the tools that *messages* refer to."""
    return frozenset(
        block["tool_name"]
        for result in _results(messages)
        for block in result["content"]
        if _is_reference(block)
    )


def with_references_to(
    names: Collection[str], messages: list[Any], listed: Collection[str]
) -> list[Any]:
    """Give *messages* without references to other tools than *names*: they would be refused.

    A result that has no other says which of its tools are *listed*, or that they are gone.
    """
    if not referenced(messages) - frozenset(names):
        return messages
    return [_cleaned(message, names, listed) for message in messages]


def _results(messages: list[Any]) -> Iterator[dict[str, Any]]:
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if _is_result(block):
                yield block


def _is_result(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return False
    return isinstance(block.get("content"), list)


def _is_reference(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_reference"


def _cleaned(message: Any, names: Collection[str], listed: Collection[str]) -> Any:
    if not any(_results([message])):
        return message
    blocks = message["content"]
    return message | {
        "content": [_kept(block, names, listed) if _is_result(block) else block for block in blocks]
    }


def _kept(
    result: dict[str, Any], names: Collection[str], listed: Collection[str]
) -> dict[str, Any]:
    content = result["content"]
    left = [block for block in content if not _is_reference(block) or block["tool_name"] in names]
    if left == content:
        return result
    names_found = [block["tool_name"] for block in content if _is_reference(block)]
    there = [name for name in names_found if name in listed]
    text = f"{_LISTED}{', '.join(there)}." if there else _GONE
    return result | {"content": left or [{"type": "text", "text": text}]}
