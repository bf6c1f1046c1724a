"""The quick look at a schema says what the whole one says, and nothing that is hidden passes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dsh_prompt_mcp.schemas import SchemaRefusedError, usable_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

_LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "string", "#", "["])
)
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner)
)
_RIGHT: dict[str, Any] = {
    "type": st.sampled_from(["string", "object", ["null", "array"]]),
    "enum": st.lists(_JSON, max_size=3),
    "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
    "minLength": st.integers(0, 3),
    "maximum": st.integers(),
    "pattern": st.sampled_from(["a+", "b"]),
    "description": st.text(max_size=3),
    "uniqueItems": st.booleans(),
}


def _tables(inner: Any) -> Any:
    deeper = {
        "properties": st.dictionaries(st.sampled_from(["a", "type", "$ref"]), inner, max_size=2),
        "items": inner,
        "additionalProperties": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
    }
    return st.fixed_dictionaries({}, optional=_RIGHT | deeper)


_SCHEMAS = st.recursive(st.booleans() | st.fixed_dictionaries({}, optional=_RIGHT), _tables)
_SOME_WRONG = _tables(_SCHEMAS | _JSON) | st.dictionaries(
    st.sampled_from([*_RIGHT, "properties", "items", "anyOf", "$ref", "default", "title"]), _JSON
)


@settings(deadline=None, max_examples=50)
@given(_SOME_WRONG)
def test_same_verdict(schema: dict[str, Any]) -> None:
    """A schema that is accepted is a JSON Schema; one that is right and refers to nothing is."""
    schema = schema | {"type": "object"}
    right = Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)
    refusal = _refusal(schema)
    if right:
        assert not refusal or "refers to" in refusal or "hidden" in refusal
    else:
        assert refusal


def _refusal(schema: dict[str, Any]) -> str:
    try:
        usable_schema(schema, 10_000)
    except SchemaRefusedError as error:
        return str(error)
    return ""


@settings(deadline=None)
@given(st.text(max_size=5), st.sampled_from("\u200b\u202e\u2066\U000e0041\ufeff\x1b"))
def test_nothing_hidden(text: str, hidden: str) -> None:
    """A hidden character is escaped where it may be, and refused where it may not."""
    whole = f"{text}{hidden}x"
    cleaned, findings = usable_schema({"type": "object", "description": whole}, 10_000)
    assert hidden not in json.dumps(cleaned, ensure_ascii=False)
    assert findings
    places: tuple[dict[str, Any], ...] = (
        {"enum": [whole]},
        {"properties": {whole: {}}},
        {"x-other": [{"y": whole}]},
    )
    for fixed in places:
        with pytest.raises(SchemaRefusedError, match="hidden characters"):
            usable_schema({"type": "object", **fixed}, 10_000)


@pytest.mark.parametrize(
    "schema",
    [
        {"required": [1, {"a": 1}]},
        {"$defs": {"a": {"type": [["string"]]}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": [2]}},
    ],
)
def test_slow_lists(schema: dict[str, Any]) -> None:
    """A list that would take hours to look through is refused by a look at its items."""
    with pytest.raises(SchemaRefusedError, match="holds what is no name"):
        usable_schema({"type": "object", **schema}, 10_000)
