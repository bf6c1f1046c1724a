"""The tools with which a model remembers and recalls, and the calls of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from dsh_prompt import ToolSchema
from dsh_prompt.untrusted import Reports, clean, quoted, visible_name
from dsh_prompt_memory.errors import ToolCallError
from dsh_prompt_memory.showing import show

if TYPE_CHECKING:
    from dsh_prompt_memory.config import Config
    from dsh_prompt_memory.memories import Memories

_LOG: Final = logging.getLogger("dsh_prompt_memory")
_MOST_RECALLED: Final = 20
_LONGEST_NAME: Final = 80

REMEMBER: Final = ToolSchema(
    "remember",
    "Keep a note for later conversations. One fact, understandable alone.",
    {
        "type": "object",
        "properties": {"content": {"type": "string", "description": "The text of the note."}},
        "required": ["content"],
        "additionalProperties": False,
    },
    annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
)
RECALL: Final = ToolSchema(
    "recall",
    "Search the notes of earlier conversations. Gives those that share words with the query, the "
    "best match first.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that the note may hold."},
            "limit": {
                "type": "integer",
                "description": f"The most notes to give, 1 to {_MOST_RECALLED}; 5 if left out.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    annotations={"readOnlyHint": True},
)


class Calls:
    """Answers calls of the tools; *config* bounds what is shown."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._reports = Reports(_LOG)

    def answer(self, memories: Memories, name: str, arguments: Mapping[str, Any]) -> str:
        """Do with *memories* what a model calls for, and give the text; see `Memories.call`."""
        if name == REMEMBER.name:
            note_id = memories.add(**_arguments(REMEMBER, arguments))
            return f"Remembered as note {note_id}."
        if name == RECALL.name:
            return self._recall(memories, **_arguments(RECALL, arguments))
        raise ToolCallError(
            f'there is no tool {_shown(name)} here, only "{REMEMBER.name}", "{RECALL.name}"'
        )

    def _recall(self, memories: Memories, query: str, limit: int = 5) -> str:
        limit = min(limit, _MOST_RECALLED)
        found = [note.content for note in memories.find(query, limit)]
        shown = show(found, attrs.evolve(self._config, max_items=limit))
        self._reports.give(shown.odd)
        return shown.text or "No note matches."


def _arguments(tool: ToolSchema, arguments: object) -> dict[str, Any]:
    """Check what a model wrote against the schema of *tool*."""
    if not isinstance(arguments, Mapping):
        raise ToolCallError(f'the arguments of "{tool.name}" must be an object')
    properties = tool.parameters["properties"]
    for name in arguments:
        if name not in properties:
            known = ", ".join(f'"{one}"' for one in properties)
            raise ToolCallError(f'"{tool.name}" has no argument {_shown(name)}, only {known}')
    for name in tool.parameters["required"]:
        if name not in arguments:
            raise ToolCallError(f'"{tool.name}" needs the argument "{name}"')
    return {name: _CHECKS[properties[name]["type"]](name, arguments[name]) for name in arguments}


def _shown(name: object) -> str:
    """Give what a model called something: in quotes and in one line, not too long."""
    text = name if isinstance(name, str) else f"({type(name).__name__})"
    more = "..." if len(text) > _LONGEST_NAME else ""
    return clean(quoted(visible_name(text[:_LONGEST_NAME]) + more)).text


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ToolCallError(f'"{name}" must be a text, not {type(value).__name__}')
    return value


def _number(name: str, value: object) -> int:
    # To JSON, 5.0 is the same number.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ToolCallError(f'"{name}" must be a whole number from 1')
    return value


_CHECKS: Final[Mapping[str, Callable[[str, object], Any]]] = {"string": _text, "integer": _number}
