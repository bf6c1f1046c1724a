"""Whatever goes through JSON comes back as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import (
    AssembleContext,
    InvalidContributionError,
    Key,
    PromptAssembly,
    PromptError,
    RuntimeState,
    ToolSchema,
    render_context_snapshot,
    render_prompt,
)
from tests.laws import strategies
from tests.laws.world import NAMED_KINDS, Item, World

Json = dict[str, Any]
DICT_CHANGES: dict[str, tuple[Any, ...]] = {
    "__init__": ({"new": 1},),
    "__setitem__": ("new", 1),
    "__delitem__": ("present",),
    "__ior__": ({"new": 1},),
    "clear": (),
    "pop": ("present", None),
    "popitem": (),
    "setdefault": ("new", 1),
    "update": ({"new": 1},),
}
LIST_CHANGES: dict[str, tuple[Any, ...]] = {
    "__init__": (["new"],),
    "__setitem__": (0, "new"),
    "__delitem__": (0,),
    "__iadd__": (["new"],),
    "__imul__": (2,),
    "append": ("new",),
    "clear": (),
    "extend": (["new"],),
    "insert": (0, "new"),
    "pop": (),
    "remove": ("present",),
    "reverse": (),
    "sort": (),
}


def through_json(value: Any) -> Any:
    """Write *value* as JSON and read it back."""
    return json.loads(json.dumps(value, allow_nan=False))


@given(items=st.lists(strategies.items(NAMED_KINDS), max_size=10), reason=st.text(min_size=1))
def test_an_assembly_round_trips(items: list[Item], reason: str) -> None:
    """An assembly written as JSON and read back shows, renders and denies the same."""
    world = World()
    world.add_all([*items, Item("tool", 0, "denied"), Item("context", 2, "clock")])
    assembly = world.prompt.assemble(scope=world.child)
    assembly.deny("denied", reason)
    assembly[Key[str]("left-out")] = "value"
    written = through_json(assembly.to_dict())
    restored = PromptAssembly.from_dict(written)
    assert through_json(restored.to_dict()) == written
    assert restored.fingerprint() == assembly.fingerprint()
    assert render_prompt(restored) == render_prompt(assembly)
    assert render_context_snapshot(restored) == render_context_snapshot(assembly)
    assert restored.authorize("denied") == assembly.authorize("denied")
    assert restored.source_of("context", "clock") == assembly.source_of("context", "clock")


@given(items=st.lists(strategies.items(NAMED_KINDS), max_size=10))
def test_the_key_order_of_an_assembly_is_stable(items: list[Item]) -> None:
    """The text of an assembly's JSON is the same after a round trip."""
    world = World()
    world.add_all(items)
    written = json.dumps(world.prompt.assemble(scope=world.child).to_dict())
    restored = PromptAssembly.from_dict(json.loads(written))
    assert json.dumps(restored.to_dict()) == written


def test_a_key_without_a_codec_is_listed_as_left_out() -> None:
    """A value that cannot be written is left out, and its key named."""
    key = Key[str]("secret-key")
    assembly = World().prompt.assemble()
    assembly[key] = "secret value"
    written = json.dumps(assembly.to_dict())
    assert "secret value" not in written
    assert "secret-key" in written


@given(fields=strategies.runtime_states)
def test_a_runtime_state_round_trips(fields: Json) -> None:
    """A runtime state holds what it was given and survives JSON."""
    state = RuntimeState.from_dict(fields)
    written = through_json(state.to_dict())
    assert {name: written[name] for name in fields} == fields
    assert RuntimeState.from_dict(written) == state
    assert AssembleContext(state=state).state is state


@given(parameters=strategies.json_objects, annotations=strategies.json_objects)
def test_a_tool_schema_holds_any_json(parameters: Json, annotations: Json) -> None:
    """Any JSON object can be a tool's parameters, and is written as it was given."""
    schema = ToolSchema("tool", "text", parameters, annotations)
    assert schema.parameters == parameters
    assert through_json(schema.parameters) == through_json(parameters)
    assert through_json(schema.annotations) == through_json(annotations)
    assert schema == ToolSchema("tool", "text", through_json(parameters), annotations)


@given(parameters=strategies.json_objects)
def test_a_tool_schema_shares_nothing_with_its_maker(parameters: Json) -> None:
    """Changing what a schema was made of does not change the schema."""
    original = through_json(parameters)
    listed: list[Any] = [parameters]
    schema = ToolSchema("tool", "text", {"nested": parameters, "list": listed})
    parameters["changed"] = True
    listed.append("changed")
    assert schema.parameters == {"nested": original, "list": [original]}


@pytest.mark.parametrize("change", DICT_CHANGES)
@settings(max_examples=20)
@given(value=strategies.json_values)
def test_no_object_inside_a_schema_changes(change: str, value: Any) -> None:
    """Every way to change a dict raises, at any depth, and changes nothing."""
    plain = {"present": value, "inner": [{"present": value}]}
    schema = ToolSchema("tool", "text", plain)
    for target in (schema.parameters, schema.parameters["inner"][0]):
        with pytest.raises((TypeError, AttributeError)):
            getattr(target, change)(*DICT_CHANGES[change])
    assert schema.parameters == plain


@pytest.mark.parametrize("change", LIST_CHANGES)
@settings(max_examples=20)
@given(value=strategies.json_values)
def test_no_list_inside_a_schema_changes(change: str, value: Any) -> None:
    """Every way to change a list raises, at any depth, and changes nothing."""
    plain = {"list": ["present", value, ["present"]]}
    schema = ToolSchema("tool", "text", plain)
    for target in (schema.parameters["list"], schema.parameters["list"][2]):
        with pytest.raises((TypeError, AttributeError)):
            getattr(target, change)(*LIST_CHANGES[change])
    assert schema.parameters == plain


@pytest.mark.parametrize("field", ["name", "description", "parameters", "annotations"])
def test_the_fields_of_a_schema_do_not_change(field: str) -> None:
    """A tool schema refuses assignment and evolves into another one instead."""
    schema = ToolSchema("tool", "text", {})
    with pytest.raises(AttributeError):
        setattr(schema, field, {})
    evolved = schema.evolve(description="other")
    assert (schema.description, evolved.description) == ("text", "other")
    assert (evolved.name, evolved.parameters) == (schema.name, schema.parameters)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1, 2}, b"bytes", object(), {1: "key"}, print]
)
def test_what_is_not_json_is_refused(value: object) -> None:
    """Parameters that are not JSON raise, naming the tool and the place."""
    with pytest.raises(InvalidContributionError, match=r"(?s)my_tool.*here") as caught:
        ToolSchema("my_tool", "text", {"properties": [{"here": value}]})
    assert isinstance(caught.value, PromptError)
