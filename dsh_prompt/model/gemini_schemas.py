"""Gemini's own way to write the schema of a tool's parameters, made into JSON Schema.

It is a subset of OpenAPI 3.0's. Source: the reference of Schema in the Gemini API, and that of
Vertex AI for ``ref`` and ``defs``.
"""

from __future__ import annotations

import re
from typing import Any

_INT64 = re.compile("[0-9]{1,19}")
_GEMINI_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_COUNTS = {
    f"{end}_{what.lower()}": f"{end}{what}"
    for end in ("min", "max")
    for what in ("Items", "Length", "Properties")
}
_GEMINI_KEYWORDS: dict[str, str] = {
    "additional_properties": "additionalProperties",
    "any_of": "anyOf",
    "defs": "$defs",
    "prefix_items": "prefixItems",
    "property_ordering": "propertyOrdering",
    "ref": "$ref",
    **_COUNTS,
}


def is_gemini_schema(schema: object) -> bool:
    """Tell whether *schema* is one of an object as Gemini writes it: in upper case."""
    return isinstance(schema, dict) and schema.get("type") in _GEMINI_TYPES


def json_schema(schema: Any) -> Any:
    """Give one of Gemini's schemas, a subset of OpenAPI 3.0's, as JSON Schema.

    Only keywords are changed: what is data, or the name of a property, stays.
    """
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for spelled, value in schema.items():
        key = _GEMINI_KEYWORDS.get(spelled) or spelled
        # Null leaves a field unset, but is a value for these two.
        if value is not None or key in ("default", "example"):
            made[key] = _keyword(key, value)
    if made.get("type") == "TYPE_UNSPECIFIED":
        del made["type"]
    if isinstance(made.get("nullable"), bool) and made.pop("nullable"):
        _admit_null(made)
    return made


def _keyword(key: str, value: Any) -> Any:
    """Give the *value* of a keyword as JSON Schema has it."""
    if key == "type" and value in _GEMINI_TYPES:
        value = value.lower()
    elif key == "$ref" and isinstance(value, str):
        value = value.replace("#/defs/", "#/$defs/")
    elif key in ("items", "additionalProperties"):
        value = json_schema(value)
    elif key in ("anyOf", "prefixItems") and isinstance(value, list):
        value = [json_schema(item) for item in value]
    elif key in ("properties", "$defs") and isinstance(value, dict):
        value = {name: json_schema(item) for name, item in value.items()}
    elif key in _COUNTS.values() and isinstance(value, str) and _INT64.fullmatch(value):
        # Google's JSON has integers of 64 bits in strings.
        value = int(value)
    return value


def _admit_null(schema: dict[str, Any]) -> None:
    """Let *schema* take null, whatever else restricts it."""
    if "$ref" in schema and "anyOf" not in schema:
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}]
    if isinstance(kind := schema.get("type"), str) and kind != "null":
        schema["type"] = [kind]
    # Gemini's enum holds nothing but strings: nullable is its only way to say that null is one.
    for key, null in (("type", "null"), ("enum", None), ("anyOf", {"type": "null"})):
        if isinstance(values := schema.get(key), list) and null not in values:
            schema[key] = [*values, null]
