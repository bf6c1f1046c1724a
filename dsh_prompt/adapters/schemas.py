"""The JSON Schema of a tool's parameters, as providers want it, and what they refuse in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dsh_prompt.model.frozen_json import FrozenDict, frozen_dict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dsh_prompt.adapters.limits import Limits

_ONE = (
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
_NO_PROPERTIES = frozen_dict({})

#: What is wrong, with the way out, and where that is said.
Complaint = tuple[str, str]


def sent_schema(parameters: Mapping[str, Any]) -> FrozenDict:
    """Give *parameters* with a ``type`` and with ``properties``, which providers ask for.

    OpenAI refuses an object without properties ("object schema missing properties":
    https://github.com/spring-projects/spring-ai/issues/4776), Anthropic's `input_schema` has to
    have the type (anthropic 2.14: `InputSchemaTyped`).
    """
    return frozen_dict({"type": "object", "properties": _NO_PROPERTIES, **parameters})


def complaints(schema: Mapping[str, Any], limits: Limits) -> Iterator[Complaint]:
    """Tell what in *schema*, as `sent_schema` gave it, is against the *limits*."""
    if schema["type"] != "object":
        yield f'parameters.type is {schema["type"]!r}: arguments are an "object"', _JSON_SCHEMA
    if refused := limits.root_refuses:
        for keyword in filter(schema.__contains__, refused.value):
            problem = f'"{keyword}" may not stand at the root of the parameters: describe it'
            yield f"{problem} in words, or move it into a property", refused.source
    if (wanted := limits.parameter_name) and isinstance(schema["properties"], dict):
        for name in schema["properties"]:
            if not re.fullmatch(wanted.value, name):
                problem = f"the name of parameter {name!r} does not match {wanted.value}"
                yield f"{problem}: rename it", wanted.source
    yield from _inside(schema, "parameters", limits)


def _inside(schema: Any, path: str, limits: Limits) -> Iterator[Complaint]:
    """Look at a schema, and at all schemas in it."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{path} must be a schema: an object, or a boolean", _JSON_SCHEMA
        return
    yield from _own(schema, path, limits)
    for key, value in schema.items():
        if key in _ONE:
            yield from _inside(value, f"{path}.{key}", limits)
        elif key in _LISTS and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _inside(item, f"{path}.{key}[{index}]", limits)
        elif key in _BY_NAME and isinstance(value, dict):
            for name, item in value.items():
                yield from _inside(item, f"{path}.{key}.{name}", limits)


def _own(schema: Mapping[str, Any], path: str, limits: Limits) -> Iterator[Complaint]:
    """Look at the keywords of one schema."""
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    yield from _malformed(schema, types, path)
    if never_empty := limits.not_empty:
        for keyword, value in schema.items():
            if value == [] and keyword in never_empty.value:
                problem = f"{path}.{keyword} is empty: leave it out, or say what it allows"
                yield problem, never_empty.source
    if (rule := limits.items_required) and "array" in types and "items" not in schema:
        problem = f'{path} is an array that does not say what its items are: add "items"'
        yield problem, rule.source


def _malformed(schema: Mapping[str, Any], types: list[Any], path: str) -> Iterator[Complaint]:
    for keyword, value in schema.items():
        if keyword in (*_LISTS, "enum", "required") and not isinstance(value, list):
            yield f"{path}.{keyword} must be a list", _JSON_SCHEMA
        if keyword in _BY_NAME and not isinstance(value, dict):
            yield f"{path}.{keyword} must be an object", _JSON_SCHEMA
    for name in types:
        if name not in _TYPES:
            yield f"{path}.type: {name!r} is none of {', '.join(_TYPES)}", _JSON_SCHEMA
