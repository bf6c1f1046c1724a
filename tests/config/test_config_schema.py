"""The published schema of the configuration file says what the code accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from dsh_prompt import TOOL_ORDER_REST, Config, ConfigError
from dsh_prompt.config.schema import config_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLISHED = Path(__file__).parents[2] / "docs" / "dsh-prompt.schema.json"

SCALARS = (
    st.booleans()
    | st.integers(-2, 2)
    | st.floats(-2, 2, allow_nan=False)
    | st.sampled_from(["", "read", "order", "cache-first", TOOL_ORDER_REST])
)
LISTS = st.lists(st.sampled_from(["read", "write", TOOL_ORDER_REST]) | SCALARS, max_size=3)
TABLES = st.dictionaries(st.sampled_from(["git", "x"]), SCALARS | LISTS, max_size=2)
VALUES = SCALARS | LISTS | TABLES


def mostly(right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Give what a key takes, and sometimes anything at all."""
    return st.one_of(right, right, right, VALUES)


STRINGS = st.lists(st.sampled_from(["git", "todo"]), max_size=2)
ORDERS = st.lists(st.sampled_from(["read", "write", TOOL_ORDER_REST]), max_size=4)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "include_harness_identity": mostly(st.booleans()),
        "include_runtime_context": mostly(st.booleans()),
        "persona": mostly(st.text(max_size=3)),
        "tool_order": mostly(ORDERS),
        "layout": mostly(st.sampled_from(["order", "cache-first"])),
        "hook_timeout": mostly(st.floats(0.1, 5)),
        "quarantine_after": mostly(st.integers(1, 5)),
        "plugins": mostly(
            st.fixed_dictionaries(
                {},
                optional={
                    "autoload": mostly(st.booleans()),
                    "enable": mostly(STRINGS),
                    "disable": mostly(STRINGS),
                    "config": mostly(st.dictionaries(st.sampled_from(["git", "x"]), TABLES)),
                },
            )
        ),
    },
) | st.dictionaries(st.sampled_from(["personna", "file", "persona"]), VALUES, max_size=2)


def test_the_published_schema_is_that_of_the_code() -> None:
    """`dsh-prompt schema > docs/dsh-prompt.schema.json` writes it anew."""
    schema = json.loads(PUBLISHED.read_text("utf-8"))
    assert schema == config_schema()
    Draft202012Validator.check_schema(schema)


@given(DOCUMENTS)
@example({"tool_order": [TOOL_ORDER_REST, TOOL_ORDER_REST]})
@example({"hook_timeout": 0})
@example({"hook_timeout": True})
@example({"quarantine_after": 0})
@example({"quarantine_after": True})
@example({"quarantine_after": 1.5})
def test_the_schema_accepts_what_the_code_accepts(document: dict[str, Any]) -> None:
    """Nothing more, and nothing less."""
    try:
        Config.from_dict(document)
    except ConfigError:
        accepted = False
    else:
        accepted = True
    assert Draft202012Validator(config_schema()).is_valid(document) is accepted


def described(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each key of a table with its schema, at any depth."""
    for key, inner in schema.get("properties", {}).items():
        yield key, inner
        yield from described(inner)


@pytest.mark.parametrize(("key", "schema"), list(described(config_schema())))
def test_every_key_is_described_and_has_its_default(key: str, schema: dict[str, Any]) -> None:
    """An editor shows both."""
    assert schema["description"].endswith(".")
    without = {"tool_order", "hook_timeout", "quarantine_after", "plugins", "config"}
    assert ("default" in schema) is (key not in without)
