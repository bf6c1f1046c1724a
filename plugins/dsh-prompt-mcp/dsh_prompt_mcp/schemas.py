"""A tool's JSON Schema from somebody else: whole, within bounds, nothing hidden in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
from jsonschema.validators import (  # type: ignore[import-untyped]
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    validator_for,
)

from dsh_prompt.untrusted import clean
from dsh_prompt_mcp.report import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DEEPEST: Final = 64
#: Texts for the model alone: they may be changed without changing what a schema says.
_PROSE: Final = frozenset({"title", "description", "$comment"})
#: Values are data here, whatever their keys are called.
_DATA: Final = frozenset({"const", "default", "enum", "example", "examples"})
#: Here each key is the name of something, and each value a schema.
_NAMES: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_LISTS_OF_NAMES: Final = ("required", "type", "dependentRequired", "dependencies")
_PLAIN: Final = frozenset(
    [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "examples",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        "uniqueItems",
    ]
)
#: Seven times as fast as the newest draft.
_QUICK: Final = Draft7Validator(Draft7Validator.META_SCHEMA)
_DRAFTS: Final = (Draft202012Validator, Draft201909Validator, Draft7Validator)


class SchemaRefusedError(Exception):
    """Raised for a schema that no model is to see; its text goes on after the tool's name."""


def usable_schema(schema: dict[str, Any], longest: int) -> tuple[dict[str, Any], list[str]]:
    """Give *schema* with its prose cleaned, and what was found in that.

    *longest* is its length as JSON, in bytes. Raises `SchemaRefusedError` for one that is longer,
    deeper than any model needs, no JSON Schema, refers to what is not in it, or holds characters
    outside of its prose that cannot be seen.
    """
    _check_size(schema, longest)
    if schema.get("type") != "object":
        raise SchemaRefusedError('has a schema that is not of type "object"')
    parts = list(_parts(schema))
    _check_lists(parts)
    _check_valid(schema, parts)
    _check_references(schema, parts)
    cleaning = _Cleaning()
    cleaned = cleaning.schema(schema, "$")
    cleaning.check_fixed()
    return cleaned, cleaning.findings


def _check_size(schema: dict[str, Any], longest: int) -> None:
    _check_depth(schema)
    try:
        size = len(
            json.dumps(schema, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        )
    except ValueError:
        raise SchemaRefusedError("has a schema with a number that JSON does not have") from None
    if size > longest:
        raise SchemaRefusedError(f"has a schema of more than {longest} bytes")


def _check_depth(schema: object) -> None:
    level: list[Any] = [schema]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise SchemaRefusedError(f"has a schema that is nested deeper than {_DEEPEST} levels")


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Give each table of *value* that is a schema, and not data or a list of names."""
    if isinstance(value, list):
        for inner in value:
            yield from _parts(inner)
    elif isinstance(value, dict):
        yield value
        for key, inner in value.items():
            if key in _NAMES and isinstance(inner, dict):
                for named in inner.values():
                    yield from _parts(named)
            elif key not in _DATA:
                yield from _parts(inner)


def _check_lists(parts: Iterable[dict[str, Any]]) -> None:
    # To see whether a list of all sorts of things holds one twice, the validator compares each
    # with each, for hours where somebody wants that.
    for part in parts:
        for key in _LISTS_OF_NAMES:
            lists = part.get(key)
            for one in lists.values() if isinstance(lists, dict) else (lists,):
                if isinstance(one, list) and not all(isinstance(name, str) for name in one):
                    raise SchemaRefusedError(f"has a broken schema: {key} holds what is no name")


def _check_valid(schema: dict[str, Any], parts: Sequence[dict[str, Any]]) -> None:
    if _is_plain(parts) and _QUICK.is_valid({**schema, "definitions": schema.get("$defs", {})}):
        return
    # Older drafts compare the values of an enum with each other; see above.
    found = validator_for(schema, default=Draft202012Validator)
    try:
        (found if found in _DRAFTS else Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        raise SchemaRefusedError(f"has a broken schema: {one_line(error.message)}") from None


def _is_plain(parts: Sequence[dict[str, Any]]) -> bool:
    """Tell whether all drafts mean the same: then the quickest of them can check it."""
    return (
        parts[0].keys() <= _PLAIN | {"$defs", "$schema"}
        and all(part.keys() <= _PLAIN for part in parts[1:])
        and not any(isinstance(part.get("items"), list) for part in parts)
    )


def _check_references(schema: dict[str, Any], parts: Sequence[dict[str, Any]]) -> None:
    named = (part.get(key) for part in parts for key in _ANCHORS)
    anchors = {name for name in named if isinstance(name, str)}
    for target in (part[key] for part in parts for key in _REFERENCES if key in part):
        shown = one_line(repr(target))
        if not isinstance(target, str) or not target.startswith("#"):
            raise SchemaRefusedError(f"has a schema that refers to {shown}, outside of it")
        place = target.removeprefix("#")
        if place not in anchors and not _is_there(schema, place):
            raise SchemaRefusedError(f"has a schema that refers to {shown}, which it lacks")


def _is_there(schema: dict[str, Any], pointer: str) -> bool:
    place: Any = schema
    if pointer and not pointer.startswith("/"):
        return False
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and key in map(str, range(len(place))):
            place = place[int(key)]
        else:
            return False
    return isinstance(place, dict | bool)


class _Cleaning:
    """Copies a schema; what cannot be seen is escaped in prose, and refused elsewhere."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self._fixed: list[tuple[str, str]] = []

    def schema(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {
                self._plain(key, path): self._keyword(key, inner, path)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self.schema(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
        return self._plain(value, path)

    def _keyword(self, key: str, value: Any, path: str) -> Any:
        path = f"{path}.{key}"
        if key in _PROSE and isinstance(value, str):
            return self._prose(value, path)
        if key in _DATA:
            return self._data(value, path)
        if key in _NAMES and isinstance(value, dict):
            return {
                self._plain(name, path): self.schema(inner, f"{path}.{name}")
                for name, inner in value.items()
            }
        return self.schema(value, path)

    def _data(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {
                self._plain(key, path): self._data(inner, f"{path}.{key}")
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._data(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
        return self._plain(value, path)

    def _prose(self, text: str, path: str) -> str:
        cleaned = clean(text)
        self.findings += [f"{one_line(path)} {what}" for what in cleaned.findings()]
        return cleaned.text

    def _plain(self, value: Any, path: str) -> Any:
        if isinstance(value, str) and not (value.isascii() and value.isprintable()):
            self._fixed.append((value, path))
        return value

    def check_fixed(self) -> None:
        """Refuse what hides something where it cannot be escaped: a call has to repeat it."""
        if clean("\n".join(text for text, _ in self._fixed)).hidden:
            where = next((path for text, path in self._fixed if clean(text).hidden), "$")
            raise SchemaRefusedError(f"has a schema with hidden characters at {one_line(where)}")
