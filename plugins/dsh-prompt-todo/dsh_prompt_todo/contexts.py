"""The runtime contexts: the todos of the state, in the order in which they matter."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dsh_prompt import Budget, ContextOrder, Priority, PromptContext
from dsh_prompt.untrusted import Reports
from dsh_prompt_todo.text import line, tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt import AssembleContext
    from dsh_prompt.model.state import Todo
    from dsh_prompt_todo.config import Config

_LOG: Final = logging.getLogger("dsh_prompt_todo")
#: In progress, and never cut: as many as the setting max_in_progress can allow.
_MOST_CURRENT: Final = 20
#: Where there are more of the others, only those that are shown are looked at.
_MOST_LISTED: Final = 1000


def contexts(config: Config) -> list[PromptContext]:
    """Give the context of what is in progress, which nothing trims, and that of all else."""
    shown = _Todos(config)
    return [
        PromptContext(
            name="todo:current",
            order=ContextOrder.TODOS,
            title="Todo in progress",
            text=shown.current,
            literal=True,
        ),
        PromptContext(
            name="todo",
            order=ContextOrder.TODOS + 1,
            title="Todos",
            text=shown.others,
            literal=True,
            budget=Budget(
                max_chars=config.max_chars, max_items=config.max_items, priority=Priority.TODOS
            ),
        ),
    ]


class _Todos:
    """Says the todos to a model, and to a person, once each, what was found in them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._reports = Reports(_LOG)

    def current(self, context: AssembleContext) -> str:
        """Give the todos in progress: each bounded by itself, so that nothing has to be cut."""
        under_way = _with_status(_todos(context), "in_progress")
        return "\n".join(self._line(todo) for todo in under_way[:_MOST_CURRENT])

    def others(self, context: AssembleContext) -> str:
        """Give the count, then those in progress for which there was no place, pending, done."""
        todos = _todos(context)
        others = _with_status(todos, "in_progress")[_MOST_CURRENT:]
        others += _with_status(todos, "pending") + _with_status(todos, "completed")
        if not others:
            return ""
        # One at least: the budget takes away what has more items than none.
        most = max(self._config.max_items, 1) if len(others) > _MOST_LISTED else _MOST_LISTED
        lines = [f"{tally(todos)}:", *map(self._marked, others[:most])]
        if (more := len(others) - most) > 0:
            lines.append(f"[cut: {more} of {len(others)} items left out]")
        return "\n".join(lines)

    def _marked(self, todo: Todo) -> str:
        return self._line(todo, f"[{todo.status}] ")

    def _line(self, todo: Todo, mark: str = "") -> str:
        text, found = line(todo.content, self._config.max_content)
        self._reports.give(f'todo "{text[:60]}" {finding}' for finding in found)
        return f"- {mark}{text}"


def _todos(context: AssembleContext) -> Sequence[Todo]:
    return () if context.state is None else context.state.todos


def _with_status(todos: Sequence[Todo], status: str) -> list[Todo]:
    return [todo for todo in todos if todo.status == status]
