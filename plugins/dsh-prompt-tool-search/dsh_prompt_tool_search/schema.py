"""The tool that the model searches with, and what its arguments say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt import ToolSchema
from dsh_prompt_tool_search.config import MOST
from dsh_prompt_tool_search.errors import ToolSearchError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The name of the tool.
SEARCH_TOOL = "tool_search"

SCHEMA = ToolSchema(
    SEARCH_TOOL,
    "Finds tools that are not in your list of tools, and calls them. Give `query` to search: what "
    "you want to do, in a few words, with the name of the service if you know it; the answer has "
    "the found tools with their parameters. A found tool that is in your list by then is called "
    "as any other. Call one that is not with `call`. Give one of `query` and `call`.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST,
                "description": "How many tools to give at most.",
            },
            "call": {
                "type": "object",
                "description": "A found tool to call.",
                "properties": {
                    "name": {"type": "string", "description": "The full name of the tool."},
                    "arguments": {"type": "object", "description": "What its parameters ask for."},
                },
                "required": ["name", "arguments"],
            },
        },
    },
)


@attrs.frozen
class ToolRequest:
    """A call that the model makes through the search: the tool's own *name* and its *arguments*.

    It is not run: ask the assembly's `authorize(name)`, as for any other call.
    """

    name: str
    arguments: dict[str, Any]


def requested(call: object) -> ToolRequest:
    """Give the request that *call* makes; raises `ToolSearchError` where it makes none."""
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise ToolSearchError('"call" must be an object with "name" and "arguments"')
    arguments = call.get("arguments", {})
    if isinstance(arguments, str):  # some models write JSON for an object inside of an object
        arguments = _parsed(arguments)
    if not isinstance(arguments, dict):
        raise ToolSearchError('"arguments" of "call" must be an object')
    return ToolRequest(call["name"], dict(arguments))


def query_in(arguments: Mapping[str, Any], default: int) -> tuple[str, int]:
    """Give what to search for, and how many to give; raises `ToolSearchError` for neither."""
    query, limit = arguments.get("query"), arguments.get("limit")
    if not isinstance(query, str) or not query.strip():
        raise ToolSearchError('give "query", the words to search for, or "call"')
    if limit is None:
        return query, default
    if isinstance(limit, bool) or not isinstance(limit, int | float) or limit < 1:
        raise ToolSearchError(f'"limit" must be a whole number from 1 to {MOST}')
    return query, int(min(limit, MOST))


def _parsed(text: str) -> object:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
