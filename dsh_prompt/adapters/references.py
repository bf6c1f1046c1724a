"""References to held-back tools in a history of Anthropic's: each opens the tool that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_GONE = {"type": "text", "text": "The tools that were found are not there any more."}


def referenced(messages: list[Any]) -> frozenset[str]:
    """Give the sent names of the tools that *messages* refer to."""
    return frozenset(
        block["tool_name"]
        for result in _results(messages)
        for block in result["content"]
        if _is_reference(block)
    )


def with_references_to(names: Collection[str], messages: list[Any]) -> list[Any]:
    """Give *messages* without references to other tools than *names*: they would be refused."""
    if not referenced(messages) - frozenset(names):
        return messages
    return [_cleaned(message, names) for message in messages]


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


def _cleaned(message: Any, names: Collection[str]) -> Any:
    if not any(_results([message])):
        return message
    blocks = message["content"]
    return message | {
        "content": [_kept(block, names) if _is_result(block) else block for block in blocks]
    }


def _kept(result: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    content = result["content"]
    left = [block for block in content if not _is_reference(block) or block["tool_name"] in names]
    return result if left == content else result | {"content": left or [_GONE]}
