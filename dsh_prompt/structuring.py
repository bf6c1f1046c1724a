"""Documents into attrs classes, strictly: no coercion, no unknown keys, errors with a path."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import attrs

from dsh_prompt.errors import ConfigError, PromptError, nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cattrs import Converter

T = TypeVar("T")

_JSON_TYPES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    tuple: "a list",
    dict: "a table",
}


def structure(
    data: object, cls: type[T], *, where: str = "", file: str | None = None, subject: str = ""
) -> T:
    """Build an instance of the attrs class *cls* from the JSON or TOML value *data*.

    *where* is the dotted path at which *data* stands in *file*. Raises `ConfigError`
    with file, path, what is wrong, and the nearest valid key for an unknown one.
    """
    # A converter of its own each time: a shared one would keep every class it has seen alive.
    converter = _strict_converter()
    try:
        return converter.structure(data, cls)
    except PromptError:
        raise
    except Exception as error:
        problems = list(_problems(error, where, cls)) or [(where, str(error))]
        place = f"{file}: " if file else f"{subject}: " if subject else ""
        text = "\n".join(
            f"{place}{path}: {what}" if path else place + what for path, what in problems
        )
        raise ConfigError(text, path=problems[0][0], file=file) from error


def _strict_converter() -> Converter:
    from cattrs import Converter  # noqa: PLC0415 - only when a document is read
    from cattrs.gen import make_dict_structure_fn  # noqa: PLC0415

    converter = Converter(detailed_validation=True, forbid_extra_keys=True)
    for primitive in (str, int, float, bool):
        converter.register_structure_hook(primitive, _exactly)

    def structure_class(cls: type[Any]) -> Any:
        structure_fields = make_dict_structure_fn(
            cls,
            converter,
            _cattrs_forbid_extra_keys=True,
            _cattrs_detailed_validation=True,
            _cattrs_use_linecache=False,
        )

        def structure_table(value: object, _: object) -> Any:
            if isinstance(value, cls):
                return value
            return structure_fields(_container(value, dict), cls)

        return structure_table

    def structure_list(kind: Any) -> Any:
        item_type = get_args(kind)[0]
        structure_item = converter.get_structure_hook(item_type)
        collect = get_origin(kind) if get_origin(kind) in (list, set, frozenset) else tuple

        def structure_items(value: object, _: object) -> Any:
            return collect(_items(_container(value, tuple), structure_item, item_type))

        return structure_items

    converter.register_structure_hook_factory(attrs.has, structure_class)
    converter.register_structure_hook_factory(_is_list, structure_list)
    converter.register_structure_hook_func(_is_literal, _one_of)
    converter.register_structure_hook_factory(_is_mapping, lambda _: _table)
    return converter


def _is_list(kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return len(arguments) == 2 and arguments[1] is Ellipsis  # noqa: PLR2004
    return origin in (list, set, frozenset, collections.abc.Sequence) and bool(arguments)


def _is_literal(kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is Literal


def _is_mapping(kind: Any) -> bool:
    return get_origin(kind) in (dict, collections.abc.Mapping)


def _one_of(value: object, kind: Any) -> Any:
    # The type too: True is 1 to "in".
    if not any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
        choices = " or ".join(repr(choice) for choice in get_args(kind))
        raise ValueError(f"expected {choices}, got {value!r}")
    return value


def _table(value: object, _: object) -> Any:
    return dict(_container(value, dict))


def _items(values: list[object], structure_item: Any, item_type: Any) -> Iterator[Any]:
    """Structure one item after the other; a failure carries its index."""
    from cattrs import IterableValidationNote  # noqa: PLC0415

    for index, value in enumerate(values):
        try:
            yield structure_item(value, item_type)
        except Exception as error:
            error.add_note(IterableValidationNote(f"@ index {index}", index, item_type))
            raise


def _problems(error: BaseException, path: str, cls: type[Any]) -> Iterator[tuple[str, str]]:
    """Walk cattrs' exception tree: (dotted path, what is wrong) for each leaf."""
    from cattrs import ForbiddenExtraKeysError  # noqa: PLC0415

    path += "".join(_steps(error))
    if isinstance(error, ForbiddenExtraKeysError):
        known = [field.name for field in attrs.fields(error.cl)]
        for key in sorted(error.extra_fields):
            yield _join(path, key), f"unknown key{nearest(key, known) or _known(known)}"
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _problems(inner, path, getattr(error, "cl", cls))
    elif isinstance(error, KeyError):
        yield path.strip("."), "is missing"
    else:
        yield path.strip("."), str(error)


def _known(names: list[str]) -> str:
    return f"; the keys are {quoted(names)}" if names else "; there are no keys here"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}".strip(".")


def _steps(error: BaseException) -> Iterator[str]:
    for note in reversed(getattr(error, "__notes__", ())):
        if hasattr(note, "type") and isinstance(getattr(note, "index", None), int):
            yield f"[{note.index}]"
        elif isinstance(getattr(note, "name", None), str):
            yield f".{note.name}"


def _exactly(value: object, kind: type[Any]) -> Any:
    """Take *value* if it is of *kind*; an int is a number too, but a boolean is not."""
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"expected {_JSON_TYPES[kind]}, got {value!r}")
    return value


def _container(value: object, kind: type[Any]) -> Any:
    wanted = (list, tuple) if kind is tuple else kind
    if not isinstance(value, wanted):
        raise TypeError(f"expected {_JSON_TYPES[kind]}, got {value!r}")
    return value
