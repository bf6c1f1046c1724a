"""The tool, and when to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt import ToolSchema
from dsh_prompt_todo.reading import STATUSES

if TYPE_CHECKING:
    from dsh_prompt_todo.config import Config

TODO_WRITE: Final = "todo_write"

_RULES: Final = """\
Work of several steps is planned and followed with the tool `todo_write`; a single step needs no \
list.

- Write the list before you begin, one todo for each step that can be checked.
- A call replaces the whole list: send every todo that is to stay, also those that have not changed.
- {progress}
- `completed` is what is done and checked. What failed or waits for something stays open, and what \
stands in its way is a todo of its own.
- Add what turns out to be needed, and leave out what is needed no more.

The runtime context shows the list as it is. Where what you have in mind differs from it, the \
context counts."""


def rules(config: Config) -> str:
    """Give the rules for a model that has the tool."""
    return _RULES.format(progress=_progress(config.max_in_progress))


def _progress(most: int) -> str:
    if most == 1:
        what = "One todo at a time is `in_progress`"
    else:
        what = f"Up to {most} todos at a time are `in_progress`"
    return f"{what}: mark it when you begin with it, and write `completed` as soon as it is done."


def todo_write(config: Config) -> ToolSchema:
    """Give the schema of the tool, in keywords of JSON Schema that each provider knows."""
    todo = {
        "type": "object",
        "properties": {
            "content": {
                "type": "string",
                "description": (
                    f"What is to be done, in one line of at most {config.max_content} characters."
                ),
            },
            "status": {
                "type": "string",
                "enum": list(STATUSES),
                "description": f"At most {config.max_in_progress} of all may be in_progress.",
            },
        },
        "required": ["content", "status"],
        "additionalProperties": False,
    }
    todos = {
        "type": "array",
        "description": f"All todos in their order, {config.max_todos} at most; none clears it.",
        "items": todo,
    }
    return ToolSchema(
        TODO_WRITE,
        "Writes the list of todos. The list that is sent takes the place of the one before.",
        {
            "type": "object",
            "properties": {"todos": todos},
            "required": ["todos"],
            "additionalProperties": False,
        },
        {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    )
