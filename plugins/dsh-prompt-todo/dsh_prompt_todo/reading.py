"""The arguments of a call, as a model wrote them, and the todos in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, get_args

from dsh_prompt.errors import nearest, short
from dsh_prompt.model.state import Todo, TodoStatus
from dsh_prompt_todo.errors import TodoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_todo.config import Config

STATUSES: Final[tuple[str, ...]] = get_args(TodoStatus)
_KEYS: Final = ("content", "status")
#: Told of one list: what comes after is mostly more of the same.
_MOST_PROBLEMS: Final = 5
#: A character takes at most this many in JSON, and a todo without its content.
_ESCAPED, _AROUND = 12, 200


def todos_argument(arguments: object, config: Config) -> Any:
    """Give what *arguments*, an object or its JSON, have under `todos`.

    Raises `TodoError` where that is not all that they have.
    """
    is_text = isinstance(arguments, str | bytes | bytearray)
    given = _decoded(arguments, config) if is_text else arguments
    if not isinstance(given, Mapping):
        raise TodoError(f'the arguments must be an object with the key "todos", not {short(given)}')
    _raise_any(_about_arguments(given))
    return given["todos"]


def _decoded(text: Any, config: Config) -> object:
    longest = (config.max_content * _ESCAPED + _AROUND) * (config.max_todos + 1)
    if len(text) > longest:
        raise TodoError(f"the arguments are longer than {longest} characters")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TodoError(f"the arguments are not JSON: {error}") from error


def _about_arguments(given: Mapping[Any, object]) -> Iterator[str]:
    if "todos" not in given:
        yield '"todos" is missing: the whole list of todos'
    for key in given:
        if key != "todos":
            yield f"{short(key)} is an unknown key{_hint(key, ['todos'])}"


def read_todos(items: object, config: Config) -> tuple[Todo, ...]:
    """Give *items*, each a `Todo` or a mapping, as todos; raises `TodoError` for wrong ones."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TodoError(f"todos must be a list, not {short(items)}")
    listed = list(islice(items, config.max_todos + 1))
    if len(listed) > config.max_todos:
        raise TodoError(f"todos has more than {config.max_todos} items; join or drop some")
    each = (f"todos[{i}]{what}" for i, item in enumerate(listed) for what in _about(item, config))
    _raise_any(chain(_about_progress(listed, config.max_in_progress), each))
    return tuple(item if isinstance(item, Todo) else Todo(**item) for item in listed)


def _raise_any(problems: Iterator[str]) -> None:
    told = list(islice(problems, _MOST_PROBLEMS))
    if next(problems, None) is not None:
        told.append("and more of that kind")
    if told:
        raise TodoError(*told)


def _about(item: object, config: Config) -> Iterator[str]:
    """Say what is wrong with one item, each from the end of its path on."""
    if isinstance(item, Todo):
        item = {"content": item.content, "status": item.status}
    if not isinstance(item, Mapping):
        yield f" must be an object with content and status, not {short(item)}"
        return
    for key in item:
        if key not in _KEYS:
            yield f"[{short(key)}] is an unknown key{_hint(key, _KEYS)}"
    yield from _about_content(item.get("content"), config.max_content)
    if (status := item.get("status", "pending")) not in STATUSES:
        yield f".status must be {_choices()}, not {short(status)}"


def _about_content(content: object, longest: int) -> Iterator[str]:
    if not isinstance(content, str) or not content.strip():
        yield f".content must be a text that is not blank, not {short(content)}"
    elif len(content) > longest:
        yield f".content has {len(content)} characters, and {longest} at most are taken"


def _about_progress(items: list[object], most: int) -> Iterator[str]:
    under_way = [i for i, item in enumerate(items) if _status(item) == "in_progress"]
    if len(under_way) > most:
        places = ", ".join(f"todos[{i}]" for i in under_way[:_MOST_PROBLEMS])
        yield f"{len(under_way)} todos are in_progress ({places}), and {most} at most may be"


def _status(item: object) -> object:
    return item.get("status") if isinstance(item, Mapping) else getattr(item, "status", None)


def _choices() -> str:
    return " or ".join(f'"{status}"' for status in STATUSES)


def _hint(key: object, known: Iterable[str]) -> str:
    names = " and ".join(f'"{name}"' for name in known)
    return (nearest(key, known) if isinstance(key, str) else "") or f"; there are {names}"
