"""A plugin's settings: merged from files, without what a file that is not trusted may not say."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import attrs

from dsh_prompt.errors import ConfigError, quoted, shown
from dsh_prompt.structuring import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.config.files import ConfigFile
    from dsh_prompt.structuring import Admit

T = TypeVar("T")

#: Settings of one file that a message lists.
MOST_LISTED = 10


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
        return shown(f"{self.key} ({_some(quoted, self.names)})" if self.names else self.key)


def notices(ignored: Iterable[Ignored]) -> list[str]:
    """Tell what was ignored, and the way out: one line for each file."""
    from shlex import quote  # noqa: PLC0415 - only where there is something to tell

    by_file: dict[str, list[str]] = {}
    for one in ignored:
        by_file.setdefault(one.file, []).append(str(one))
    return [
        f"{shown(file)} is not trusted, so these of its settings are ignored: "
        f"{_some(', '.join, keys)}; read the file, then run: dsh-prompt trust {shown(quote(file))}"
        for file, keys in by_file.items()
    ]


def _some(join: Callable[[Iterable[str]], str], items: Sequence[str]) -> str:
    more = len(items) - MOST_LISTED
    return join(items[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


@attrs.frozen
class SettingsLayer:
    """One file's part of a table: what *file* says at the dotted path of the table."""

    file: ConfigFile
    table: Mapping[str, Any]
    trusted: bool


class Settings(dict[str, Any]):
    """A plugin's table: what all files say, the nearest first; remembers who says what.

    It reads like any other dict, and refuses change. *where* is its dotted path in the files.
    """

    def __init__(self, layers: Sequence[SettingsLayer], where: str) -> None:
        super().__init__(merged(layer.table for layer in layers))
        self.where = where
        self._layers = tuple(layers)

    def structured(self, build: Callable[[Mapping[str, Any], Admit], T]) -> tuple[T, list[Ignored]]:
        """Give the configuration, as *build* makes it of a table, and what was ignored.

        What its class marks as needing trust comes from trusted files alone.
        """
        trusted = merged(layer.table for layer in self._layers if layer.trusted)
        doubtful = [layer for layer in self._layers if not layer.trusted and layer.table]
        if not doubtful:
            return build(trusted, lambda table, _: table), []
        mixing = _Mixing(_marked_settings(trusted, self.where, build))
        try:
            mixed = mixing.over(trusted, doubtful[0].table, self.where)
            built = build(mixed, mixing.admit)
        except ConfigError as error:
            if not set(error.paths) <= mixing.left_out.keys():
                raise
            # What is left of the file cannot stand without what was left out: all of it goes.
            built = self._without_doubt(trusted, build, error)
            mixing.left_out = {self.where: None}
        file = str(doubtful[0].file.path)
        return built, [Ignored(file, key) for key in mixing.left_out]

    def _without_doubt(
        self,
        trusted: Mapping[str, Any],
        build: Callable[[Mapping[str, Any], Admit], T],
        missing: ConfigError,
    ) -> T:
        try:
            return build(trusted, lambda table, _: table)
        except ConfigError as error:
            if not set(error.paths) <= set(missing.paths):
                raise
            raise type(error)(
                f"{error}; {missing.file} says it, but is not trusted: read the file, then run "
                "dsh-prompt trust",
                path=error.path,
                file=error.file,
                line=error.line,
            ) from error

    def place(self, path: str) -> tuple[str | None, int | None]:
        """Give the file, and the line in it, that the dotted *path* comes from."""
        while path:
            for layer in reversed(self._layers):
                if line := layer.file.line_of(path):
                    return str(layer.file.path), line
            path = path.rpartition(".")[0]
        return None, None

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("settings that were read from files do not change; make a dict of them")

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> Settings:
        """Give the settings themselves, which do not change."""
        return self

    # A copy is one that remembers as much.
    def __reduce__(self) -> tuple[Any, ...]:
        return Settings, (self._layers, self.where)


def merged(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Put each table over those before it: tables are merged, all else is replaced."""

    def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        result = dict(below)
        for key, value in above.items():
            both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
            result[key] = over(result[key], value) if both else value
        return result

    return reduce(over, tables, {})


def needs_trust(field: Any) -> bool:
    """Tell whether *field* is marked: ``metadata={"dsh_prompt": {"trusted": True}}``."""
    marks = field.metadata.get("dsh_prompt")
    return isinstance(marks, Mapping) and bool(marks.get("trusted"))


class _Mixed(dict[str, Any]):
    """A table, some of it from a file that is not *trusted*, and what of it is.

    As the tables are taken apart by the types of their classes, each one still knows this.
    """

    def __init__(self, trusted: Mapping[str, Any], path: str) -> None:
        super().__init__(trusted)
        self.trusted = trusted
        self.path = path


class _Mixing:
    """Puts a table that is not trusted over one that is; notes the paths it had to leave out."""

    def __init__(self, marked: Iterable[str]) -> None:
        self.left_out: dict[str, None] = {}
        self._marked = tuple(marked)

    def over(self, below: Mapping[str, Any], above: Mapping[str, Any], path: str) -> _Mixed:
        """Put *above*, which is not trusted, over *below*: tables are merged."""
        result = _Mixed(below, path)
        for key, value in above.items():
            place = f"{path}.{key}"
            inside = below.get(key)
            if isinstance(value, Mapping) and isinstance(inside, Mapping):
                dict.__setitem__(result, key, self.over(inside, value, place))
            elif any(mark.startswith((f"{place}.", f"{place}[")) for mark in self._marked):
                # It would take marked settings away together with what they stand in.
                self.left_out[place] = None
            else:
                dict.__setitem__(result, key, self._doubtful(value, place))
        return result

    def _doubtful(self, value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return self.over({}, value, path)
        if isinstance(value, list):
            return [self._doubtful(item, f"{path}[{n}]") for n, item in enumerate(value)]
        return value

    def admit(self, table: Any, cls: type[Any]) -> Any:
        """Give what of *table* may reach *cls*: of marked settings only what is trusted."""
        if not isinstance(table, _Mixed):
            return table
        admitted = dict(table)
        for field in filter(needs_trust, fields_of(cls)):
            name = field.name
            if name not in table or table[name] is table.trusted.get(name, self):
                continue
            self.left_out[f"{table.path}.{name}"] = None
            del admitted[name]
            if name in table.trusted:
                admitted[name] = table.trusted[name]
        return admitted


def _marked_settings(
    table: Mapping[str, Any],
    where: str,
    build: Callable[[Mapping[str, Any], Admit], object],
) -> set[str]:
    """Give the paths of the marked settings that the trusted *table* holds, at any depth."""
    found: set[str] = set()

    def note(table: Any, cls: type[Any]) -> Any:
        if isinstance(table, _Mixed):
            marked = (field.name for field in filter(needs_trust, fields_of(cls)))
            found.update(f"{table.path}.{name}" for name in marked if name in table)
        return table

    # What is missing here may stand in the other file; mistakes are told when both are read.
    with suppress(ConfigError):
        build(_Mixing(()).over({}, table, where), note)
    return found
