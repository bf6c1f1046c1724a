"""Documents into attrs classes, strictly: no coercion, no unknown keys, errors with a path."""

from __future__ import annotations

import collections.abc
from functools import partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import attrs

from dsh_prompt.errors import ConfigError, PromptError, nearest, quoted, short, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cattrs import Converter

T = TypeVar("T")

_JSON_TYPES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    tuple: "a list",
    list: "a list",
    dict: "a table",
}


#: Gives the file and the line of a dotted path, as far as they are known.
Place: TypeAlias = "Callable[[str], tuple[str | None, int | None]]"
Admit: TypeAlias = "Callable[[Any, type[Any]], Any]"


def in_file(file: str | None) -> Place:
    """Give the place of what stands in *file*, on no known line."""
    return lambda _: (file, None)


def structure(
    data: object,
    cls: type[T],
    *,
    where: str = "",
    place: Place = in_file(None),  # noqa: B008 - a constant
    subject: str = "",
    admit: Admit = lambda table, _: table,
) -> T:
    """Build an instance of the attrs class *cls* from the JSON or TOML value *data*.

    *where* is the dotted path at which *data* stands, *place* tells the file and line of
    such a path; *subject* names what has no file. *admit* gives what of a table may reach
    the class that is built from it. Raises `ConfigError` with file, line, path, what is
    wrong, and the nearest valid key for an unknown one.
    """
    # A converter of its own each time: a shared one would keep every class it has seen alive.
    converter = _strict_converter(admit)
    try:
        return converter.structure(data, cls)
    except PromptError:
        raise
    except Exception as error:
        problems = list(_problems(error, where))
        told = [_told(path, what, place, subject) for path, what, _ in problems[:MOST_TOLD]]
        if len(problems) > MOST_TOLD:
            told.append(f"and {len(problems) - MOST_TOLD} more")
        path, _, error_class = problems[0]
        file, line = place(path)
        refusal = error_class("\n".join(told), path=path, file=file, line=line)
        refusal.paths = tuple(path for path, _, _ in problems)
        raise refusal from error


#: Problems of one document that are told: what comes after is mostly more of the same.
MOST_TOLD = 10


def _told(path: str, what: str, place: Place, subject: str) -> str:
    file, line = place(path)
    name = shown(file) if file else subject
    where = f"{name}:{line}" if line else name
    return ": ".join(part for part in (where, shown(path), what) if part)


def _strict_converter(admit: Admit) -> Converter:
    from cattrs import Converter  # noqa: PLC0415 - only when a document is read

    converter = Converter(detailed_validation=True, forbid_extra_keys=True)
    for primitive in (str, int, float, bool):
        converter.register_structure_hook(primitive, _exactly)
    converter.register_structure_hook_func(_is_literal, _one_of)
    for is_kind, hook_factory in (
        (_is_union, _union_hook),
        (_is_list, _list_hook),
        (_is_mapping, _mapping_hook),
        (has_fields, partial(_class_hook, admit)),
    ):
        factory: Any = hook_factory
        converter.register_structure_hook_factory(is_kind, partial(factory, converter))
    return converter


# How each kind of type is structured


def _exactly(value: object, kind: type[Any]) -> Any:
    """Take *value* if it is of *kind*; an int is a number too, but a boolean is not."""
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"expected {_JSON_TYPES[kind]}, got {short(value)}")
    return value


def _container(value: object, kind: type[Any]) -> Any:
    wanted = (list, tuple) if kind is tuple else collections.abc.Mapping
    if not isinstance(value, wanted):
        raise TypeError(f"expected {_JSON_TYPES[kind]}, got {short(value)}")
    return kind(value)


def _is_literal(kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is Literal


def _one_of(value: object, kind: Any) -> Any:
    # The type too: True is 1 to "in".
    if not any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
        choices = " or ".join(repr(choice) for choice in get_args(kind))
        raise ValueError(f"expected {choices}, got {short(value)}")
    return value


def _class_hook(admit: Admit, converter: Converter, cls: type[Any]) -> Any:
    from cattrs.gen import make_dict_structure_fn, override  # noqa: PLC0415

    left_out: Any = {name: override(omit=True) for name in _undocumented(cls)}
    structure_fields = make_dict_structure_fn(
        cls,
        converter,
        **left_out,
        _cattrs_forbid_extra_keys=True,
        _cattrs_detailed_validation=True,
        _cattrs_use_linecache=False,
    )

    def structure_table(value: object, _: object) -> Any:
        if isinstance(value, cls):
            return value
        return structure_fields(_container(admit(value, cls), dict), cls)

    return structure_table


#: Metadata of a field that is no part of a document.
UNDOCUMENTED = {"dsh_prompt": {"document": False}}


def document_keys(cls: type[Any]) -> list[str]:
    """Name the fields of the class *cls* that a document may hold."""
    left_out = _undocumented(cls)
    return [f.name for f in fields_of(cls) if f.init and f.name not in left_out]


def has_fields(cls: Any) -> bool:
    """Tell whether *cls* is an attrs class, or a dataclass."""
    return attrs.has(cls) or (isinstance(cls, type) and hasattr(cls, "__dataclass_fields__"))


def fields_of(cls: Any) -> Sequence[Any]:
    """Give the fields of an attrs class or a dataclass; both have a name and metadata."""
    from dataclasses import fields  # noqa: PLC0415 - only where a document is read

    cls = get_origin(cls) or cls
    return attrs.fields(cls) if attrs.has(cls) else fields(cls)


def _undocumented(cls: type[Any]) -> set[str]:
    return {field.name for field in fields_of(cls) if field.metadata == UNDOCUMENTED}


def _is_list(kind: Any) -> bool:
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is tuple:
        return not arguments or arguments[1:] == (Ellipsis,)
    return origin in (list, set, frozenset, collections.abc.Sequence)


def _list_hook(converter: Converter, kind: Any) -> Any:
    item_type = (*get_args(kind), Any)[0]
    structure_item = converter.get_structure_hook(item_type)
    origin = get_origin(kind) or kind
    collect = origin if origin in (list, set, frozenset) else tuple

    def structure_items(value: object, _: object) -> Any:
        values = enumerate(_container(value, tuple))
        return collect(item for _, item in _items(values, structure_item, item_type))

    return structure_items


def _is_mapping(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (dict, collections.abc.Mapping)


def _mapping_hook(converter: Converter, kind: Any) -> Any:
    item_type = (*get_args(kind), Any, Any)[1]
    structure_item = converter.get_structure_hook(item_type)

    def structure_values(value: object, _: object) -> Any:
        return dict(_items(_container(value, dict).items(), structure_item, item_type))

    return structure_values


def _items(
    values: Iterable[tuple[Any, object]], structure_item: Any, item_type: Any
) -> Iterator[tuple[Any, Any]]:
    """Structure one item after the other; a failure carries its index or key."""
    from cattrs import IterableValidationNote  # noqa: PLC0415

    for key, value in values:
        try:
            yield key, structure_item(value, item_type)
        except Exception as error:
            error.add_note(IterableValidationNote(f"@ {key!r}", key, item_type))
            raise


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _union_hook(converter: Converter, kind: Any) -> Any:
    choices = [choice for choice in get_args(kind) if choice is not NoneType]
    hooks = [converter.get_structure_hook(choice) for choice in choices]

    def structure_choice(value: object, _: object) -> Any:
        if value is None and NoneType in get_args(kind):
            return None
        if len(choices) == 1:
            return hooks[0](value, choices[0])
        for choice, hook in zip(choices, hooks, strict=True):
            try:
                return hook(value, choice)
            except Exception:  # noqa: BLE001, S112 - the next choice may fit
                continue
        nouns = [_JSON_TYPES.get(get_origin(choice) or choice, "a table") for choice in choices]
        raise TypeError(f"expected {' or '.join(dict.fromkeys(nouns))}, got {short(value)}")

    return structure_choice


# What went wrong, and where


def _problems(error: BaseException, path: str) -> Iterator[tuple[str, str, type[ConfigError]]]:
    """Walk cattrs' exception tree: dotted path, what is wrong, error class, for each leaf."""
    from cattrs import ForbiddenExtraKeysError  # noqa: PLC0415

    path += "".join(reversed(list(_steps(error))))
    if isinstance(error, ForbiddenExtraKeysError):
        known = document_keys(error.cl)
        for key in sorted(map(str, error.extra_fields)):
            what = f"unknown key{nearest(key, known) or _known(known)}"
            yield _join(path, key), what, ConfigError
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _problems(inner, path)
    elif isinstance(error, KeyError):
        yield path.strip("."), "is missing", ConfigError
    elif isinstance(error, ConfigError):
        # A validator of our own: its path is relative to the table that it stands in.
        what = str(error).removeprefix(f"{error.path}: ")
        yield _join(path, error.path), what, type(error)
    else:
        yield path.strip("."), str(error), ConfigError


def _known(names: list[str]) -> str:
    return f"; the keys are {quoted(names)}" if names else "; there are no keys here"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}".strip(".")


def _steps(error: BaseException) -> Iterator[str]:
    """Give the steps that cattrs noted on the way out, innermost first."""
    for note in getattr(error, "__notes__", ()):
        if hasattr(note, "type") and isinstance(getattr(note, "name", None), str):
            yield f".{note.name}"
        elif hasattr(note, "type"):
            yield f"[{note.index}]" if isinstance(note.index, int) else f".{note.index}"
