"""The agent's real state, which decides what goes into a prompt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

import attrs

from dsh_prompt.errors import ConfigError, InvalidContributionError
from dsh_prompt.model.frozen_json import FrozenDict, freeze, thaw
from dsh_prompt.structuring import in_file, structure

TodoStatus: TypeAlias = Literal["pending", "in_progress", "completed"]


def _check_status(_todo: Todo, _attribute: object, status: object) -> None:
    if status not in get_args(TodoStatus):
        expected = ", ".join(map(repr, get_args(TodoStatus)))
        raise ValueError(f"status of a todo must be one of {expected}, not {status!r}")


@attrs.frozen
class Todo:
    """One item of the agent's plan."""

    content: str
    status: TodoStatus = attrs.field(default="pending", validator=_check_status)


@attrs.frozen
class Memory:
    """One thing that a memory search brought up; *score* is the search's own measure."""

    content: str
    score: float | None = None


def _todos(items: Iterable[Todo | Mapping[str, Any]]) -> tuple[Todo, ...]:
    return tuple(map(_todo, items))


def _todo(item: Todo | Mapping[str, Any]) -> Todo:
    if isinstance(item, Todo):
        return item
    if not isinstance(item, Mapping):
        raise TypeError(f"a todo must be a Todo or a dict of its fields, not {item!r}")
    return Todo(**item)


def _memories(items: Iterable[Memory | Mapping[str, Any] | str]) -> tuple[Memory, ...]:
    return tuple(_memory(item) for item in items)


def _memory(item: Memory | Mapping[str, Any] | str) -> Memory:
    if isinstance(item, Memory):
        return item
    return Memory(item) if isinstance(item, str) else Memory(**item)


def _strings(items: Iterable[str]) -> tuple[str, ...]:
    if isinstance(items, str):
        raise TypeError(f"expected a list of strings, got {items!r}")
    return tuple(os.fspath(item) for item in items)


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _extra(values: Mapping[str, Any]) -> FrozenDict:
    try:
        return cast("FrozenDict", freeze(dict(values), "extra"))
    except InvalidContributionError as error:
        raise ConfigError(str(error), path="extra") from error


@attrs.frozen
class RuntimeState:
    """What is true of the agent right now. Every field is optional and immutable.

    *workdir* is a path; *permission_mode* is ``"default"`` unless the harness says
    otherwise (``"plan"``, ...); *task* what the agent is working on; *enabled_tools* is
    information only, nothing is filtered by it; *todos* have ``content`` and ``status``
    (``pending``, ``in_progress``, ``completed``), *memories* ``content`` and ``score``;
    *loaded_skills* and *discovered_tools* are names; *extra* maps plugin names to JSON.
    """

    workdir: str | None = attrs.field(default=None, converter=_path)
    model: str | None = None
    provider: str | None = None
    permission_mode: str = "default"
    task: str | None = None
    enabled_tools: tuple[str, ...] = attrs.field(default=(), converter=_strings)
    open_files: tuple[str, ...] = attrs.field(default=(), converter=_strings)
    todos: tuple[Todo, ...] = attrs.field(default=(), converter=_todos)
    loaded_skills: tuple[str, ...] = attrs.field(default=(), converter=_strings)
    memories: tuple[Memory, ...] = attrs.field(default=(), converter=_memories)
    summary: str | None = None
    project_notes: tuple[str, ...] = attrs.field(default=(), converter=_strings)
    discovered_tools: tuple[str, ...] = attrs.field(default=(), converter=_strings)
    extra: Mapping[str, Any] = attrs.field(factory=dict, converter=_extra, hash=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, file: str | None = None) -> RuntimeState:
        """Build a state from JSON, as `to_dict` gives it; *file* names the source in errors.

        Raises `ConfigError` with the field's path, and the nearest valid name for an
        unknown one.
        """
        return structure(data, cls, place=in_file(file), subject="state")

    def to_dict(self) -> dict[str, Any]:
        """Give the state as JSON, all fields, in a stable order."""
        values = attrs.asdict(self, filter=attrs.filters.exclude("extra"))
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()} | {
            "extra": thaw(self.extra)
        }
