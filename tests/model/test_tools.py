"""Tool schemas: immutable through and through, and JSON to everybody."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs
import jsonschema  # type: ignore[import-untyped]
import pytest

from dsh_prompt import InvalidContributionError, SystemPrompt, ToolProviderResult, ToolSchema

if TYPE_CHECKING:
    from collections.abc import Callable

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}},
    "required": ["path"],
    "additionalProperties": False,
}


def schema() -> ToolSchema:
    """Make a schema with objects, lists and scalars of all kinds in it."""
    parameters = {**PARAMETERS, "examples": [{"path": "/", "depth": 1.5}, [None, True]]}
    return ToolSchema("read", "Reads.", parameters, {"readOnlyHint": True, "tags": ["fs"]})


# Immutable


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.__setitem__("type", "array"),
        lambda value: value.__delitem__("type"),
        lambda value: value.__ior__({"type": "array"}),
        lambda value: value.clear(),
        lambda value: value.pop("type"),
        lambda value: value.pop("missing", None),
        lambda value: value.popitem(),
        lambda value: value.setdefault("type", "array"),
        lambda value: value.setdefault("missing", 1),
        lambda value: value.update(type="array"),
        lambda value: value.update({}),
        lambda value: setattr(value, "attribute", 1),
    ],
)
def test_objects_refuse_every_change(change: Callable[[Any], object]) -> None:
    """At the top, and inside lists and other objects."""
    tool = schema()
    values = [tool.parameters, tool.parameters["properties"], tool.parameters["examples"][0]]
    for value in [*values, tool.annotations]:
        before = dict(value)
        with pytest.raises((TypeError, AttributeError)):
            change(value)
        assert value == before


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.__setitem__(0, "x"),
        lambda value: value.__setitem__(slice(None), []),
        lambda value: value.__delitem__(0),
        lambda value: value.__delitem__(slice(None)),
        lambda value: value.__iadd__(["x"]),
        lambda value: value.__imul__(0),
        lambda value: value.append("x"),
        lambda value: value.clear(),
        lambda value: value.extend(["x"]),
        lambda value: value.insert(0, "x"),
        lambda value: value.pop(),
        lambda value: value.remove(value[0]),
        lambda value: value.reverse(),
        lambda value: value.sort(key=str),
        lambda value: setattr(value, "attribute", 1),
    ],
)
def test_lists_refuse_every_change(change: Callable[[Any], object]) -> None:
    """Wherever they stand."""
    tool = schema()
    values = [tool.parameters["required"], tool.parameters["examples"]]
    for value in [*values, tool.parameters["examples"][1], tool.annotations["tags"]]:
        before = list(value)
        with pytest.raises((TypeError, AttributeError)):
            change(value)
        assert value == before


def test_no_mutating_method_is_forgotten() -> None:
    """All methods that change a dict or a list are ones that refuse."""
    readers = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for value in (schema().parameters, schema().parameters["required"]):
        base: type[Any] = type(value).__mro__[1]
        inherited = {
            name
            for name in vars(base)
            if not name.startswith("_") and getattr(type(value), name) is getattr(base, name)
        }
        assert inherited <= readers | {"fromkeys"}


@pytest.mark.parametrize("key", ["properties", "required"])
def test_a_second_initialisation_changes_nothing(key: str) -> None:
    """``__init__`` is a way to change a dict or a list as well."""
    value: Any = schema().parameters[key]
    before = copy.copy(value) if isinstance(value, dict) else list(value)
    with pytest.raises(TypeError):
        value.__init__({"x": 1}.items())
    assert value == before


def test_the_fields_cannot_be_assigned() -> None:
    """A schema is a value."""
    tool: Any = schema()
    for field in ("name", "description", "parameters", "annotations", "other"):
        with pytest.raises(AttributeError):
            setattr(tool, field, "x")


def test_what_it_was_made_of_may_change_later() -> None:
    """The schema has copies of its own, all the way down."""
    parameters: dict[str, Any] = {"properties": {"x": {"enum": ["a"]}}}
    annotations: dict[str, Any] = {"tags": ["a"]}
    tool = ToolSchema("x", "", parameters, annotations)
    parameters["properties"]["x"]["enum"].append("b")
    annotations["tags"].clear()
    assert tool.parameters == {"properties": {"x": {"enum": ["a"]}}}
    assert tool.annotations == {"tags": ["a"]}


def test_evolve_gives_another_tool() -> None:
    """With what is given, and the rest as it was; the first one stays."""
    tool = schema()
    other = tool.evolve(description="Reads less.")
    assert (other.name, other.description) == ("read", "Reads less.")
    assert other.parameters == tool.parameters
    assert tool.description == "Reads."
    narrowed = tool.evolve(parameters={**tool.parameters, "required": []})
    with pytest.raises(TypeError, match="immutable"):
        narrowed.parameters["required"].append("x")
    with pytest.raises(TypeError, match="descripton"):
        tool.evolve(descripton="x")


# JSON


def test_json_and_validators_take_parameters_as_they_are() -> None:
    """They are dicts and lists."""
    tool = ToolSchema("read", "", PARAMETERS)
    assert isinstance(tool.parameters, dict)
    assert isinstance(tool.parameters["required"], list)
    assert json.dumps(tool.parameters) == json.dumps(PARAMETERS)
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    jsonschema.validate({"path": "/", "depth": 1}, tool.parameters)
    with pytest.raises(jsonschema.ValidationError, match="'path' is a required property"):
        jsonschema.validate({}, tool.parameters)


@pytest.mark.parametrize(
    "clone",
    [
        copy.copy,
        copy.deepcopy,
        lambda tool: pickle.loads(pickle.dumps(tool)),
        lambda tool: pickle.loads(pickle.dumps(tool, protocol=2)),
        lambda tool: ToolSchema.from_dict(tool.to_dict()),
        attrs.evolve,
    ],
    ids=["copy", "deepcopy", "pickle", "old pickle", "dict", "evolve"],
)
def test_a_copy_is_equal_and_just_as_immutable(clone: Callable[[ToolSchema], ToolSchema]) -> None:
    """However it is copied."""
    tool = schema()
    other: Any = clone(tool)
    assert other == tool
    assert hash(other) == hash(tool)
    assert json.dumps(other.to_dict()) == json.dumps(tool.to_dict())
    with pytest.raises(TypeError, match="immutable"):
        other.parameters["examples"][1].append(1)


def test_a_document_is_plain_and_may_be_changed() -> None:
    """``to_dict`` gives all four fields, as ordinary dicts and lists."""
    tool = schema()
    data = tool.to_dict()
    assert list(data) == ["name", "description", "parameters", "annotations"]
    assert type(data["parameters"]) is type(data["parameters"]["properties"]) is dict
    assert type(data["parameters"]["required"]) is list
    data["parameters"]["required"].append("x")
    assert tool == schema()


def test_copying_a_part_gives_an_ordinary_one() -> None:
    """``dict.copy``, slices and the like are how a listener starts an edit."""
    parameters: Any = schema().parameters
    changed = parameters | {"type": "array"}
    changed["more"] = 1
    copied = parameters.copy()
    copied["more"] = 1
    assert [*parameters["required"][:], "x"] == ["path", "x"]
    assert parameters == schema().parameters


def test_only_the_name_is_needed_in_a_dict() -> None:
    """Everything else has an empty default."""
    assert ToolSchema.from_dict({"name": "x"}) == ToolSchema("x", "", {})


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"name": "x", "parameter": {}}, 'tool \'x\' has unknown key "parameter"; did you mean "p'),
        ({"description": "x"}, "a tool has no name"),
        ({"name": "x", "parameters": []}, 'tool "x": parameters must be an object, not list'),
        ({"name": "x", "annotations": 5}, 'tool "x": annotations must be an object, not int'),
        ({"name": 5}, "tool 5: name must be a str, not int"),
        ({"name": "x", "description": None}, "tool 'x': description must be a str, not None"),
    ],
)
def test_a_dict_that_is_no_tool_is_refused(data: dict[str, Any], match: str) -> None:
    """The error names the tool, what is wrong, and the nearest key."""
    with pytest.raises(InvalidContributionError, match=match):
        SystemPrompt().tool(data)


@pytest.mark.parametrize("tool", [None, "read", 5, ["read"]])
def test_what_is_neither_a_schema_nor_a_dict_is_refused(tool: Any) -> None:
    """It is shown."""
    with pytest.raises(InvalidContributionError, match="a tool must be a ToolSchema or a dict, no"):
        SystemPrompt().tool(tool)


class Opaque:
    """Something that is not JSON."""


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (Opaque(), r"Opaque at \$\.a\[1\]\.b is not JSON"),
        ({1, 2}, r"set at \$\.a\[1\]\.b is not JSON"),
        (b"", r"bytes at \$\.a\[1\]\.b is not JSON"),
        (1j, r"complex at \$\.a\[1\]\.b is not JSON"),
        (math.nan, r"nan at \$\.a\[1\]\.b is not JSON"),
        (-math.inf, r"-inf at \$\.a\[1\]\.b is not JSON"),
        ({5: "x"}, r"key 5 at \$\.a\[1\]\.b is not a string"),
        ({None: "x"}, r"key None at \$\.a\[1\]\.b is not a string"),
        ({"c": [Opaque]}, r"type at \$\.a\[1\]\.b\.c\[0\] is not JSON"),
    ],
)
@pytest.mark.parametrize("field", ["parameters", "annotations"])
def test_what_is_not_json_is_refused(field: str, value: object, match: str) -> None:
    """At construction, naming the tool, the field and the path."""
    fields: dict[str, Any] = {"parameters": {}, field: {"a": [1, {"b": value}]}}
    with pytest.raises(InvalidContributionError, match=f'^tool "x" {field}: {match}'):
        ToolSchema("x", "", **fields)


def test_what_holds_itself_is_refused() -> None:
    """It has no end as JSON; what occurs twice side by side is fine."""
    shared = {"type": "string"}
    assert ToolSchema("x", "", {"a": shared, "b": [shared, shared]}).parameters["a"] == shared
    endless: dict[str, Any] = {"a": []}
    endless["a"].append(endless)
    with pytest.raises(InvalidContributionError, match=r"the value at \$\.a\[0\] holds itself"):
        ToolSchema("x", "", endless)


def test_what_is_nested_too_deeply_is_refused() -> None:
    """A schema from elsewhere must not fail with anything but the package's own error."""
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(InvalidContributionError, match="nested too deeply"):
        ToolSchema("x", "", deep)
    while deep:
        deep = deep.pop("a")


def test_tuples_and_other_mappings_become_json() -> None:
    """A tuple is a list, an ordered dict is a dict, at the top any mapping is."""
    tool = ToolSchema("x", "", MappingProxyType({"a": (1, 2), "b": OrderedDict(c=1)}))
    assert json.dumps(tool.parameters) == '{"a": [1, 2], "b": {"c": 1}}'


def test_annotations_never_reach_a_provider() -> None:
    """They are no part of what is sent, hence of no digest."""
    one, two = SystemPrompt(), SystemPrompt()
    one.tool(ToolSchema("x", "", {}, {"readOnlyHint": True}))
    two.tool(ToolSchema("x", "", {}))
    assert one.assemble().fingerprint() == two.assemble().fingerprint()
    assert one.assemble().tools[0].annotations == {"readOnlyHint": True}


# ToolProviderResult


def test_known_names_default_to_those_of_the_schemas() -> None:
    """In their order."""
    result = ToolProviderResult([{"name": "b"}, ToolSchema("a", "", {})])
    assert result.names == ("b", "a")
    assert result.known_names is None


def test_known_names_replace_those_of_the_schemas() -> None:
    """Also when there are none."""
    assert ToolProviderResult([{"name": "a"}], ["b"]).names == ("b",)
    assert ToolProviderResult([{"name": "a"}], []).names == ()


def test_known_names_are_a_list() -> None:
    """One name alone is refused, as in ``requires_tools`` and ``restrict``."""
    with pytest.raises(InvalidContributionError, match="not the str 'read'"):
        ToolProviderResult([], "read")
