"""The list of todos that an agent loop holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from dsh_prompt import Key
from dsh_prompt.errors import raise_all
from dsh_prompt_todo.config import Config
from dsh_prompt_todo.errors import TodoError
from dsh_prompt_todo.reading import read_todos, todos_argument
from dsh_prompt_todo.text import answer, refusal

if TYPE_CHECKING:
    from dsh_prompt.model.state import Todo


@attrs.frozen
class TodosChanged:
    """The list was *before*, and is *after*; *revision* counts the changes of one store from 1.

    Listeners of several threads may be told out of order: the highest revision is the latest.
    """

    before: tuple[Todo, ...]
    after: tuple[Todo, ...]
    revision: int


Listener: TypeAlias = Callable[[TodosChanged], object]


class TodoStore:
    """A list of todos that is replaced as a whole; it may be used from any thread.

    What it takes is bounded by *config*, the plugin's settings.
    """

    def __init__(self, config: Config | None = None) -> None:
        self._config = config or Config()
        self._items: tuple[Todo, ...] = ()
        self._revision = 0
        self._listeners: dict[object, Listener] = {}
        self._lock = Lock()

    @property
    def items(self) -> tuple[Todo, ...]:
        """The todos as they are now: what `RuntimeState(todos=...)` takes."""
        return self._items

    def write(self, items: Iterable[Todo | Mapping[str, Any]]) -> tuple[Todo, ...]:
        """Put *items* in the place of the whole list, and give it; the list is new or as it was.

        Each is a `Todo`, or a mapping with `content` and `status`, which is `"pending"`,
        `"in_progress"` or `"completed"`. Raises `TodoError` for wrong ones. A listener that
        raises does not keep the others from being told, nor the list from being written: then the
        error goes to the caller, several as an `ExceptionGroup`.
        """
        after = read_todos(items, self._config)
        self._replace(after)
        return after

    def call(self, arguments: Mapping[str, Any] | str) -> str:
        """Do what a call of `todo_write` asks for, and give its result: a text for the model.

        *arguments* are those of the call, an object or its JSON, as the model wrote them. What is
        wrong with them is told in the text, with the way out. Raises what a listener raises.
        """
        try:
            after = read_todos(todos_argument(arguments, self._config), self._config)
        except TodoError as error:
            return refusal(error.problems)
        self._replace(after)
        return answer(after)

    def _replace(self, after: tuple[Todo, ...]) -> None:
        with self._lock:
            before, self._items = self._items, after
            if after == before:
                return
            self._revision += 1
            event = TodosChanged(before, after, self._revision)
            listeners = list(self._listeners.values())
        _tell(listeners, event)

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* with a `TodosChanged` after each change; gives the undo.

        It is called by whoever writes, in their thread, after the fact and outside of any lock.
        Raises `TypeError` for what is no plain function.
        """
        call = getattr(listener, "__call__", None)  # noqa: B004 - an object may have an async one
        if not callable(listener) or iscoroutinefunction(listener) or iscoroutinefunction(call):
            raise TypeError(f"a listener must be a plain function, not {listener!r}")
        mark = object()
        with self._lock:
            self._listeners[mark] = listener

        def undo() -> None:
            with self._lock:
                self._listeners.pop(mark, None)

        return undo


def _tell(listeners: Iterable[Listener], event: TodosChanged) -> None:
    errors: list[Exception] = []
    for listener in listeners:
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001 - raised below, when all are told
            errors.append(error)
    raise_all(errors, "listeners of the todos failed")


#: The key of the service: `prompt.require(TODOS)`.
TODOS: Final = Key[TodoStore]("todo-store")
