"""The JSON Schema of the configuration file, for editors and for checks without this package."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import attrs

from dsh_prompt.config.config import Config
from dsh_prompt.layers.tool_order import TOOL_ORDER_REST
from dsh_prompt.structuring import document_keys

_TYPES: dict[object, str] = {bool: "boolean", str: "string", float: "number", int: "integer"}

#: What each key is for, and what its type does not tell.
_KEYS: dict[str, dict[str, Any]] = {
    "include_harness_identity": {"description": "Begin with the section that names the harness."},
    "include_runtime_context": {"description": "Let runtime contexts take part."},
    "persona": {"description": "The text of the persona section."},
    "tool_order": {
        "description": f"Names of tools in their order; {TOOL_ORDER_REST} stands for the others.",
        "uniqueItems": True,
        "contains": {"const": TOOL_ORDER_REST},
    },
    "layout": {
        "description": "Whether sections stand in their order, or those that never change first."
    },
    "hook_timeout": {
        "description": "Seconds that one async hook or provider may take.",
        "exclusiveMinimum": 0,
    },
    "quarantine_after": {
        "description": "Switch a plugin off that makes so many assemblies fail in a row.",
        "minimum": 1,
    },
    "plugins": {"description": "Which installed plugins are loaded, and their settings."},
    "autoload": {"description": "Load all installed plugins."},
    "enable": {"description": "Plugins to load; without autoload, no others are."},
    "disable": {"description": "Plugins not to load."},
    "config": {"description": "A table of settings for each plugin, by its name."},
}


def config_schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what a configuration file may hold.

    It says what `Config.from_dict` accepts; each plugin's own table is left to the plugin.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dsh-prompt.toml, or [tool.dsh-prompt] of pyproject.toml",
        **_table(Config),
    }


def _table(cls: type[Any]) -> dict[str, Any]:
    fields = attrs.fields_dict(attrs.resolve_types(cls))
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _field(fields[name]) for name in document_keys(cls)},
    }


def _field(field: attrs.Attribute[Any]) -> dict[str, Any]:
    schema = _type(field.type)
    default = field.default
    if isinstance(default, tuple):
        schema["default"] = list(default)
    elif default is not None and not isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        schema["default"] = default
    return schema | _KEYS[field.name]


def _type(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is UnionType:
        # TOML has no null: what may be None is left out.
        (kind,) = (choice for choice in arguments if choice is not NoneType)
        return _type(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _type(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(arguments[1])}
    if attrs.has(origin):
        return _table(origin)
    return {} if kind is Any else {"type": _TYPES[kind]}
