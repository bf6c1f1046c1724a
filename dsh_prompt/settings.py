"""A plugin's settings: merged from files, without what a file that is not trusted may not say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

import attrs

from dsh_prompt.errors import ConfigError, quoted, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.config_files import ConfigFile

T = TypeVar("T")


@attrs.frozen
class Ignored:
    """A setting that has no effect, since the *file* in which it stands is not trusted.

    *key* is its dotted path; *names* are those of its items that have none, where not all
    of it is ignored.
    """

    file: str
    key: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shown(f"{self.key} ({quoted(self.names)})" if self.names else self.key)


def notices(ignored: Iterable[Ignored]) -> list[str]:
    """Tell what was ignored, and the way out: one line for each file."""
    from shlex import quote  # noqa: PLC0415 - only where there is something to tell

    by_file: dict[str, list[str]] = {}
    for one in ignored:
        by_file.setdefault(one.file, []).append(str(one))
    return [
        f"{shown(file)} is not trusted, so these of its settings are ignored: {', '.join(keys)}; "
        f"read the file, then run: dsh-prompt trust {shown(quote(file))}"
        for file, keys in by_file.items()
    ]


@attrs.frozen
class SettingsLayer:
    """One file's part of a table: what *file* says at the dotted path of the table."""

    file: ConfigFile
    table: Mapping[str, Any]
    trusted: bool


class Settings(dict[str, Any]):
    """A plugin's table: what all files say, the nearest first; remembers who says what.

    It is an ordinary dict to everybody else, so that copies of a configuration keep it.
    *where* is its dotted path in the files.
    """

    def __init__(self, layers: Sequence[SettingsLayer], where: str) -> None:
        super().__init__(merged(layer.table for layer in layers))
        self.where = where
        self._layers = tuple(layers)

    def structured(
        self, cls: type[T], build: Callable[[dict[str, Any]], T]
    ) -> tuple[T, list[Ignored]]:
        """Give the attrs class *cls*, as *build* makes it of a table, and what was ignored.

        What the class marks as needing trust comes from trusted files alone.
        """
        keys: dict[str, list[str]] = {}
        tables = []
        for layer in self._layers:
            left_out: list[str] = []
            trusted = layer.trusted
            table = layer.table if trusted else _unmarked(layer.table, cls, self.where, left_out)
            tables.append(table)
            if left_out:
                keys[str(layer.file.path)] = left_out
        ignored = [Ignored(file, key) for file, left_out in keys.items() for key in left_out]
        try:
            return build(merged(tables)), ignored
        except ConfigError:
            if not ignored:
                raise
        # What is left of such a file cannot stand without what was left out: all of it goes.
        trusted_tables = [layer.table for layer in self._layers if layer.trusted]
        return build(merged(trusted_tables)), [Ignored(file, self.where) for file in keys]

    def place(self, path: str) -> tuple[str | None, int | None]:
        """Give the file, and the line in it, that the dotted *path* comes from."""
        while path:
            for layer in reversed(self._layers):
                if line := layer.file.line_of(path):
                    return str(layer.file.path), line
            path = path.rpartition(".")[0]
        return None, None


def merged(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Put each table over those before it: tables are merged, all else is replaced."""

    def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        result = dict(below)
        for key, value in above.items():
            both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
            result[key] = over(result[key], value) if both else value
        return result

    return reduce(over, tables, {})


def needs_trust(field: attrs.Attribute[Any]) -> bool:
    """Tell whether *field* is marked: ``metadata={"dsh_prompt": {"trusted": True}}``."""
    marks = field.metadata.get("dsh_prompt")
    return isinstance(marks, Mapping) and marks.get("trusted") is True


def _unmarked(value: Any, kind: Any, path: str, left_out: list[str]) -> Any:
    """Give *value* without what the type *kind* marks; what is *left_out* is added there."""
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is Annotated:
        return _unmarked(value, arguments[0], path, left_out)
    if origin in (Union, UnionType):
        for choice in arguments:
            value = _unmarked(value, choice, path, left_out)
        return value
    if isinstance(value, list | tuple):
        item = arguments[0] if arguments else Any
        return [_unmarked(v, item, f"{path}[{i}]", left_out) for i, v in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    if not (isinstance(origin, type) and attrs.has(origin)):
        item = arguments[-1] if arguments else Any
        return {k: _unmarked(v, item, f"{path}.{k}", left_out) for k, v in value.items()}
    fields = attrs.fields_dict(attrs.resolve_types(origin))
    kept = {}
    for key, item in value.items():
        field = fields.get(key)
        if field is not None and needs_trust(field):
            left_out.append(f"{path}.{key}")
        else:
            # An unknown key stays, to be refused by its name.
            kept[key] = _unmarked(item, field.type if field else Any, f"{path}.{key}", left_out)
    return kept
