"""Tools as OpenAI, Anthropic, Gemini and MCP write them, read as the same `ToolSchema`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dsh_prompt import InvalidContributionError, SystemPrompt, ToolSchema
from dsh_prompt.model.tool_spellings import read_tools

if TYPE_CHECKING:
    from collections.abc import Callable

Json: TypeAlias = dict[str, Any]

WEATHER = ToolSchema(
    "get_weather",
    "Get current temperature for a given location.",
    {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "City and country"},
            "units": {"type": ["string", "null"], "enum": ["celsius", "fahrenheit", None]},
            "days": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        },
        "required": ["location"],
        "additionalProperties": False,
    },
)
LIGHTS = ToolSchema("stop_lights", "", {})
GEMINI_SCHEMA = {"type": "OBJECT", "nullable": True, "properties": {"a": {"type": "STRING"}}}


# How the others write a tool


def openai_chat(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* for Chat Completions."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": {**function, **extra}}


def openai_responses(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* for the Responses API."""
    return {"type": "function", **openai_chat(tool)["function"], **extra}


def anthropic(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* for the Messages API."""
    described = {"name": tool.name, "description": tool.description}
    return {**described, "input_schema": tool.parameters, **extra}


def mcp(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* as an MCP server lists it."""
    described = {"name": tool.name, "description": tool.description}
    return {**described, "inputSchema": tool.parameters, **extra}


def declaration(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* as one of Gemini's declarations."""
    described = {"name": tool.name, "description": tool.description}
    return {**described, "parameters": upper(tool.parameters), **extra}


def gemini(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* for generateContent."""
    return {"functionDeclarations": [declaration(tool, **extra)]}


def gemini_snake(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* as the Python SDK takes it."""
    described = {"name": tool.name, "description": tool.description}
    written = {**described, "parameters": snake(upper(tool.parameters)), **extra}
    return {"function_declarations": [written]}


def gemini_json_schema(tool: ToolSchema, **extra: Any) -> Json:
    """Write *tool* as a declaration with JSON Schema, not in a list of its own."""
    described = {"name": tool.name, "description": tool.description}
    return {**described, "parametersJsonSchema": tool.parameters, **extra}


SPELLINGS: dict[str, Callable[..., Json]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "mcp": mcp,
    "gemini": gemini,
    "gemini-snake": gemini_snake,
    "gemini-json-schema": gemini_json_schema,
}


#: How Gemini writes the keywords that it writes in another way: the inverse of what is tested.
WRITERS: dict[str, Callable[[Any], Json]] = {
    "type": lambda value: (
        {"type": value[0].upper(), "nullable": True}
        if isinstance(value, list)
        else {"type": value.upper()}
    ),
    "enum": lambda value: {"enum": [item for item in value if item is not None]},
    "items": lambda value: {"items": upper(value)},
    "additionalProperties": lambda value: {"additionalProperties": upper(value)},
    "anyOf": lambda value: {"anyOf": [upper(item) for item in value]},
    "prefixItems": lambda value: {"prefixItems": [upper(item) for item in value]},
    "properties": lambda value: {"properties": {key: upper(item) for key, item in value.items()}},
    "$defs": lambda value: {"defs": {key: upper(item) for key, item in value.items()}},
    "$ref": lambda value: {"ref": value.replace("$", "")},
    "minItems": lambda value: {"minItems": str(value)},
    "maxLength": lambda value: {"maxLength": str(value)},
}


def upper(schema: Any) -> Any:
    """Write the JSON *schema* as Gemini does."""
    if not isinstance(schema, dict):
        return schema
    made: Json = {}
    for key, value in schema.items():
        made |= WRITERS[key](value) if key in WRITERS else {key: value}
    return made


SNAKE = {
    "additionalProperties": "additional_properties",
    "anyOf": "any_of",
    "prefixItems": "prefix_items",
    "minItems": "min_items",
    "maxLength": "max_length",
}


def snake(schema: Any) -> Any:
    """Write Gemini's *schema* with the SDK's names of keywords."""
    if not isinstance(schema, dict):
        return schema
    made: Json = {}
    for key, value in schema.items():
        if key in ("properties", "defs"):
            made[key] = {name: snake(item) for name, item in value.items()}
        elif key in ("anyOf", "prefixItems"):
            made[SNAKE[key]] = [snake(item) for item in value]
        else:
            nested = key in ("items", "additionalProperties")
            made[SNAKE.get(key) or key] = snake(value) if nested else value
    return made


def only(data: object) -> ToolSchema:
    """Read the one tool in *data*."""
    (tool,) = read_tools(data)
    return tool


# The same tool in every spelling


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_gives_the_tool(spelling: str) -> None:
    """With its parameters byte for byte, and nothing in its annotations."""
    tools = read_tools([SPELLINGS[spelling](WEATHER), SPELLINGS[spelling](LIGHTS)])
    assert tools == [WEATHER, LIGHTS]
    assert str(tools[0].parameters) == str(WEATHER.parameters)


def assembled(data: object) -> tuple[Json, object]:
    """Give the assembly with the tools in *data*, as JSON, and its fingerprint."""
    with SystemPrompt() as host:
        host.tools(read_tools(data))
        assembly = host.assemble()
        return assembly.to_dict(), assembly.fingerprint()


def test_the_spelling_does_not_show_in_the_assembly() -> None:
    """Nor in its fingerprint, also where every item has another spelling."""
    expected = assembled([WEATHER.to_dict(), LIGHTS.to_dict()])
    assert [tool["name"] for tool in expected[0]["tools"]] == ["get_weather", "stop_lights"]
    for spell in SPELLINGS.values():
        assert assembled([spell(WEATHER), spell(LIGHTS)]) == expected
        assert assembled([spell(WEATHER), LIGHTS.to_dict()]) == expected
    changed = WEATHER.evolve(description="Another.")
    assert assembled([anthropic(changed), LIGHTS.to_dict()]) != expected


def test_a_list_may_mix_the_spellings() -> None:
    """Each item is read on its own, and the order stays."""
    tools = [WEATHER.evolve(name=name) for name in SPELLINGS]
    data = [spell(tool) for tool, spell in zip(tools, SPELLINGS.values(), strict=True)]
    own = WEATHER.evolve(name="own")
    assert read_tools([*data, own.to_dict()]) == [*tools, own]


def test_an_object_of_gemini_may_declare_several() -> None:
    """And an empty one declares none."""
    both = {"functionDeclarations": [declaration(WEATHER), declaration(LIGHTS)]}
    assert read_tools([both, {"function_declarations": []}]) == [WEATHER, LIGHTS]


def test_one_declaration_of_gemini_stands_by_itself() -> None:
    """Its type in capitals gives it away, or a key that no other spelling has."""
    assert only([declaration(WEATHER)]) == WEATHER
    nullable = {"type": "object", "nullable": True}
    for key in ("response", "responseJsonSchema", "response_json_schema", "behavior"):
        tool = only([{"name": "a", "parameters": nullable, key: {}}])
        assert tool == ToolSchema("a", "", {"type": ["object", "null"]}, {key: {}})


def test_only_what_gemini_has_in_its_own_way_is_rewritten() -> None:
    """Not what it takes as JSON Schema, and not what is sent to others."""
    for key in ("parametersJsonSchema", "parameters_json_schema"):
        bare = {"name": "a", key: GEMINI_SCHEMA}
        assert only([bare]) == only([{"functionDeclarations": [bare]}])
        assert only([bare]).parameters == GEMINI_SCHEMA
    tool = ToolSchema("a", "", GEMINI_SCHEMA)
    for spell in (openai_chat, openai_responses, anthropic, mcp):
        assert only([spell(tool, response={})]).parameters == GEMINI_SCHEMA


@pytest.mark.parametrize(
    "wrapper",
    [
        {"nextCursor": "next-page-cursor"},
        {"model": "gpt-5", "input": "Hi", "tool_choice": "auto"},
        {"contents": [], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
    ],
)
def test_a_result_or_request_is_read_for_its_tools(wrapper: Json) -> None:
    """Whatever else it holds."""
    assert read_tools({**wrapper, "tools": [mcp(WEATHER), gemini(LIGHTS)]}) == [WEATHER, LIGHTS]


def test_this_package_s_own_spelling_is_not_altered() -> None:
    """Not even where its parameters look like Gemini's."""
    item = {
        "name": "own",
        "description": "Ours.",
        "parameters": {
            "type": "object",
            "nullable": True,
            "properties": {"a": {"type": "STRING", "minItems": "1", "any_of": None}},
        },
        "annotations": {"input_schema": None},
    }
    assert only([item]).to_dict() == item
    assert only([openai_responses(only([item]))]).parameters == item["parameters"]


def test_what_is_read_stays_as_it_was() -> None:
    """The data belong to the caller."""
    data = [spell(WEATHER.evolve(name=name)) for name, spell in SPELLINGS.items()]
    before = copy.deepcopy(data)
    read_tools(data)
    assert data == before


# What a ToolSchema has no field for


@pytest.mark.parametrize(
    ("item", "annotations"),
    [
        (openai_chat(WEATHER, strict=True), {"strict": True}),
        (openai_chat(WEATHER, strict=False), {"strict": False}),
        (openai_chat(WEATHER, strict=None), {}),
        (openai_chat(WEATHER) | {"cache_control": {"type": "ephemeral"}, "x": None}, None),
        (openai_responses(WEATHER, strict=True, defer_loading=True), None),
        (anthropic(WEATHER, type="custom"), {}),
        (anthropic(WEATHER, type=None), {}),
        (anthropic(WEATHER, type="new"), {"type": "new"}),
        (anthropic(WEATHER, cache_control={"type": "ephemeral", "ttl": "1h"}), None),
        (anthropic(WEATHER, input_examples=[{"location": "Paris"}], strict=True), None),
        (anthropic(WEATHER, allowed_callers=["direct"], surprise=[1]), None),
        (mcp(WEATHER, annotations={"readOnlyHint": True}), {"readOnlyHint": True}),
        (mcp(WEATHER, title="Weather", outputSchema={"type": "object"}, icons=[], _meta={}), None),
        (mcp(WEATHER, title="Weather", annotations={"title": "Weather"}), {"title": "Weather"}),
        (mcp(WEATHER, execution={"taskSupport": "optional"}), None),
        (gemini(WEATHER, response={"type": "STRING"}, behavior="BLOCKING"), None),
        (gemini(WEATHER, responseJsonSchema={"type": "string"}), None),
        (gemini_json_schema(WEATHER, response={"type": "OBJECT", "nullable": True}), None),
    ],
)
def test_what_would_be_lost_is_annotated(item: Json, annotations: Json | None) -> None:
    """As sent, under its own key (None: everything but what a `ToolSchema` has fields for)."""
    if annotations is None:
        fields = item.get("function", {}) | item
        (fields,) = fields.get("functionDeclarations", [fields])
        own = {"name", "description", "parameters", "input_schema", "inputSchema"}
        own |= {"parametersJsonSchema", "function"}
        annotations = {key: fields[key] for key in fields.keys() - own}
        annotations = {k: v for k, v in annotations.items() if v not in ("function", None)}
        assert annotations
    tool = only([item])
    assert tool.annotations == annotations
    assert tool.evolve(annotations={}) == WEATHER


def test_own_annotations_and_what_else_there_is_are_joined() -> None:
    """In every spelling, the item's own ones first."""
    item = anthropic(WEATHER, strict=True, annotations={"readOnlyHint": True})
    assert list(only([item]).annotations.items()) == [("readOnlyHint", True), ("strict", True)]


@pytest.mark.parametrize(
    ("item", "annotations"),
    [
        (
            mcp(LIGHTS, title="A", annotations={"title": "B", "x": 1}),
            {"title": "A", "annotations.title": "B", "x": 1},
        ),
        (
            openai_chat(LIGHTS, strict=True, annotations={"strict": False}),
            {"strict": True, "annotations.strict": False},
        ),
        (mcp(LIGHTS, title="A", annotations={"title": "A"}), {"title": "A"}),
    ],
)
def test_where_the_two_differ_both_are_kept(item: Json, annotations: Json) -> None:
    """MCP lets a tool have a title here and another one there."""
    [tool] = read_tools([item])
    assert tool.annotations == annotations


def test_an_object_of_gemini_may_be_the_whole_file() -> None:
    """It holds a list of its own."""
    assert read_tools({"functionDeclarations": []}) == []
    assert [tool.name for tool in read_tools({"function_declarations": [{"name": "a"}]})] == ["a"]


def test_null_states_nothing() -> None:
    """As the SDKs dump what nobody set."""
    unset = {"parameters_json_schema": None, "response": None, "behavior": None}
    assert only([{"name": "a", "description": None, "parameters": None, **unset}]) == (
        ToolSchema("a", "", {})
    )
    assert only([mcp(WEATHER, title=None, annotations=None)]) == WEATHER
    dumped = {"function_declarations": [declaration(LIGHTS, **unset)], "retrieval": None}
    assert read_tools([dumped]) == [LIGHTS]


# Gemini's schemas


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        ({"type": "NULL", "nullable": True}, {"type": "null"}),
        ({"type": "TYPE_UNSPECIFIED", "nullable": True}, {}),
        ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": ["string", "integer"], "nullable": True},
            {"type": ["string", "integer", "null"]},
        ),
        ({"nullable": True}, {}),
        ({"nullable": "maybe"}, {"nullable": "maybe"}),
        (
            {"type": "STRING", "format": "enum", "enum": ["a", "b"], "nullable": True},
            {"type": ["string", "null"], "format": "enum", "enum": ["a", "b", None]},
        ),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "NULL"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        (
            {"ref": "#/defs/Pet", "nullable": True, "defs": {"Pet": {"type": "OBJECT"}}},
            {
                "$defs": {"Pet": {"type": "object"}},
                "anyOf": [{"$ref": "#/$defs/Pet"}, {"type": "null"}],
            },
        ),
        (
            {"type": "OBJECT", "additionalProperties": {"type": "ARRAY", "maxItems": "5"}},
            {"type": "object", "additionalProperties": {"type": "array", "maxItems": 5}},
        ),
        (
            {"ref": "#/defs/a", "anyOf": [{"type": "STRING"}], "nullable": True},
            {"$ref": "#/$defs/a", "anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"property_ordering": ["a"], "pattern": "1"}, {"propertyOrdering": ["a"], "pattern": "1"}),
        ({"maxLength": "9" * 5000}, {"maxLength": "9" * 5000}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"anyOf": None, "items": None, "default": None}, {"default": None}),
        # Data are no schemas, whatever they look like.
        (
            {
                "default": {"type": "STRING", "nullable": True},
                "enum": ["STRING"],
                "title": "OBJECT",
            },
            {
                "default": {"type": "STRING", "nullable": True},
                "enum": ["STRING"],
                "title": "OBJECT",
            },
        ),
        (
            {"example": {"minItems": "1"}, "minItems": "one"},
            {"example": {"minItems": "1"}, "minItems": "one"},
        ),
        # What is no schema where there should be one is the provider's to refuse.
        (
            {"properties": ["a"], "anyOf": {}, "type": 1},
            {"properties": ["a"], "anyOf": {}, "type": 1},
        ),
    ],
)
def test_a_schema_of_gemini_becomes_json_schema(written: Json, read: Json) -> None:
    """At the top, and wherever a schema may stand in a schema."""
    at_the_top = only([{"functionDeclarations": [{"name": "a", "parameters": written}]}])
    assert at_the_top.parameters == read
    for wrap in (
        lambda schema: {"properties": {"type": schema}},
        lambda schema: {"items": {"items": schema}},
        lambda schema: {"anyOf": [{}, schema]},
        lambda schema: {"prefixItems": [schema]},
        lambda schema: {"additionalProperties": schema},
    ):
        inner = [{"functionDeclarations": [{"name": "a", "parameters": wrap(written)}]}]
        assert only(inner).parameters == wrap(read)


@pytest.mark.parametrize(
    "written",
    [
        {"type": "STRING", "enum": ["a"]},
        {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        {"type": "OBJECT", "anyOf": [{"required": ["a"]}, {"type": "OBJECT"}]},
        {"ref": "#/defs/a", "defs": {"a": {"type": "STRING"}}},
        {"type": ["string", "integer"]},
    ],
)
def test_what_is_nullable_takes_null(written: Json) -> None:
    """And is as strict as before without it."""
    for more, takes_null in (({"nullable": True}, True), ({}, False)):
        tool = only([{"functionDeclarations": [{"name": "a", "parameters": written | more}]}])
        validator = jsonschema.Draft202012Validator(tool.parameters)
        assert validator.is_valid(None) is takes_null
        assert not validator.is_valid([])


def test_properties_may_be_named_like_keywords() -> None:
    """Names are not keywords."""
    names = ["type", "nullable", "properties", "items", "any_of", "ref", "defs", "minItems", "enum"]
    written = {"type": "OBJECT", "properties": {name: {"type": "STRING"} for name in names}}
    tool = only([{"name": "a", "parameters": written}])
    assert tool.parameters["properties"] == {name: {"type": "string"} for name in names}


# Round trips


def properties(schemas: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    names = st.sampled_from(["a", "type", "nullable", "items", "properties", "anyOf", "min_items"])
    return st.dictionaries(names, schemas, max_size=3)


def variants(schemas: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Give schemas that hold other *schemas*."""
    kinds = st.sampled_from(["object", ["object", "null"]])
    more = st.booleans() | schemas
    return (
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": schemas})
        | st.fixed_dictionaries({"type": st.just("array"), "minItems": st.integers(0, 9)})
        | st.fixed_dictionaries({"prefixItems": st.lists(schemas, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"anyOf": st.lists(schemas, min_size=1, max_size=3)})
        | st.fixed_dictionaries(
            {"type": kinds, "properties": properties(schemas)},
            optional={"additionalProperties": more},
        )
    )


leaves: st.SearchStrategy[Json] = st.sampled_from(
    [
        {},
        {"type": "null"},
        {"type": "integer", "format": "int64", "minimum": 1.5},
        {"type": ["boolean", "null"]},
        {"type": "string", "enum": ["a", "OBJECT"], "maxLength": 3},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"$ref": "#/$defs/type"},
        *({"type": "string", "default": value} for value in (None, "STRING", {"type": "OBJECT"})),
    ]
)
schemas = st.recursive(leaves, variants, max_leaves=8)
objects: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={"properties": properties(schemas), "$defs": properties(schemas)},
)
tools = st.builds(ToolSchema, st.text(min_size=1), st.text(), objects)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tools)
@example(WEATHER)
def test_every_spelling_is_read_back(tool: ToolSchema) -> None:
    """A tool written by any of them comes back equal, in valid JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    for spell in SPELLINGS.values():
        (read,) = read_tools([spell(tool)])
        assert read == tool
        assert str(read.parameters) == str(tool.parameters)


@given(tools, st.dictionaries(st.sampled_from(["strict", "x", "_meta"]), st.integers(), min_size=1))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_nothing_is_lost(tool: ToolSchema, extra: dict[str, int]) -> None:
    """In no spelling: what is not a field is an annotation."""
    for spell in SPELLINGS.values():
        assert only([spell(tool, **extra)]) == tool.evolve(annotations=extra)


# As the documentation of the SDKs shows them


def test_tools_of_the_openai_documentation() -> None:
    """A list for Chat Completions, in strict mode."""
    parameters = {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "City and country e.g. Bogotá, Colombia"}
        },
        "required": ["location"],
        "additionalProperties": False,
    }
    description = "Get current temperature for a given location."
    function = {
        "name": "get_weather",
        "description": description,
        "parameters": parameters,
        "strict": True,
    }
    assert read_tools([{"type": "function", "function": function}]) == [
        ToolSchema("get_weather", description, parameters, {"strict": True})
    ]


def test_tools_of_the_gemini_documentation() -> None:
    """A request in the REST spelling; two of the tools take no parameters."""
    rgb = {"rgb_hex": {"type": "string", "description": "The light color as a 6-digit hex string."}}
    color = {"type": "object", "properties": rgb, "required": ["rgb_hex"]}
    declarations = [
        {"name": "enable_lights", "description": "Turn on the lighting system."},
        {"name": "set_light_color", "description": "Set the light color.", "parameters": color},
        {"name": "stop_lights", "description": "Turn off the lighting system."},
    ]
    request = {
        "tools": [{"function_declarations": declarations}],
        "tool_config": {"function_calling_config": {"mode": "auto"}},
        "contents": [{"role": "user", "parts": [{"text": "Turn on the lights please."}]}],
    }
    assert read_tools(request) == [
        ToolSchema("enable_lights", "Turn on the lighting system.", {}),
        ToolSchema("set_light_color", "Set the light color.", color),
        ToolSchema("stop_lights", "Turn off the lighting system.", {}),
    ]


def test_tools_of_the_mcp_specification() -> None:
    """The result of ``tools/list``."""
    schema = {
        "type": "object",
        "properties": {"location": {"type": "string", "description": "City name or zip code"}},
        "required": ["location"],
    }
    icons = [{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}]
    item = {
        "name": "get_weather",
        "title": "Weather Information Provider",
        "description": "Get current weather information for a location",
        "inputSchema": schema,
        "icons": icons,
        "execution": {"taskSupport": "optional"},
    }
    tool = only({"tools": [item], "nextCursor": "next-page-cursor"})
    assert (tool.description, tool.parameters) == (item["description"], schema)
    assert tool.annotations == {key: item[key] for key in ("title", "icons", "execution")}


# What is refused

HOSTED = "is the provider's own, run or defined there, and has no schema; leave it out here"


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        # Tools that the providers run.
        ({"type": "web_search"}, f'[1]: a tool of type "web_search" {HOSTED}'),
        (
            {"type": "bash_20250124", "name": "bash"},
            f'[1]: a tool of type "bash_20250124" {HOSTED}',
        ),
        (
            {"type": "mcp", "server_label": "x", "server_url": "https://x"},
            f'[1]: a tool of type "mcp" {HOSTED}',
        ),
        ({"googleSearch": {}}, f'[1]: a tool of type "googleSearch" {HOSTED}'),
        ({"code_execution": {}}, f'[1]: a tool of type "code_execution" {HOSTED}'),
        (
            {"functionDeclarations": [], "urlContext": {}},
            f'[1]: a tool of type "urlContext" {HOSTED}',
        ),
        # Tools that have no JSON-Schema parameters.
        (
            {"type": "custom", "name": "code", "format": {"type": "text"}},
            '[1]: a tool of type "custom" takes free text instead of parameters',
        ),
        ({"type": "custom", "custom": {"name": "code"}}, '[1]: a tool of type "custom" takes free'),
        (
            {"type": "namespace", "name": "crm", "tools": [openai_responses(LIGHTS)]},
            '[1]: a tool of type "namespace" groups other tools; list those instead',
        ),
        # What contradicts itself.
        (
            {"name": "x", "parameters": {}, "input_schema": {}},
            '[1]: "parameters", "input_schema" mean the same; keep one of them',
        ),
        (
            gemini(LIGHTS, parameters_json_schema={}),
            '[1].functionDeclarations[0]: "parameters", "parameters_json_schema" mean the same',
        ),
        (
            openai_chat(LIGHTS) | {"inputSchema": {}},
            '[1].function: "parameters", "inputSchema" mean the same',
        ),
        (
            openai_chat(LIGHTS, strict=True) | {"strict": False},
            '[1]: "strict" in "function" and beside it differ; keep one of them',
        ),
        # What has the wrong shape.
        (1, "[1]: a tool must be an object, got 1: name, description, parameters and annotations"),
        ("x", "[1]: a tool must be an object, got 'x'"),
        ({}, "[1]: a tool has no name, only nothing"),
        ({"function": "x"}, "[1].function: must be an object, got 'x'"),
        ({"function": {"description": "x"}}, "[1].function.name: missing"),
        ({"type": "function", "nmae": "x"}, "[1].name: missing, but every tool needs a name"),
        ({"function": {"name": 1}}, "[1].function.name: must be a string, got 1"),
        (anthropic(LIGHTS, description=[]), "[1].description: must be a string, got []"),
        (anthropic(LIGHTS, input_schema=True), "[1].input_schema: must be an object, got True"),
        (mcp(LIGHTS, annotations=[1]), "[1].annotations: must be an object, got [1]"),
        ({"functionDeclarations": {}}, "[1].functionDeclarations: must be a list, got {}"),
        ({"function_declarations": [0]}, "[1].function_declarations[0]: a tool must be an object"),
        ({"function_declarations": [{}]}, "[1].function_declarations[0].name: missing"),
        (mcp(LIGHTS, _meta={"a": [float("nan")]}), '[1]: tool "stop_lights" annotations: nan at'),
        # This package's own spelling keeps its help.
        ({"nmae": "x"}, '[1]: tool \'\' has unknown key "nmae"; did you mean "name"?'),
        (
            {"name": "x", "paramters": {}},
            '[1]: tool \'x\' has unknown key "paramters"; did you mean "parameters"?',
        ),
        ({"name": "x", "parameters": None}, '[1]: tool "x": parameters must be an object'),
        ({"name": "x", "parameters": {}, "type": "x"}, "[1]: tool 'x' has unknown key \"type\""),
        ({"name": "x", "googleSearch": {}}, "[1]: tool 'x' has unknown key \"googleSearch\""),
        # What was there already.
        (mcp(WEATHER), '[1]: a second tool "get_weather" (the first is [0])'),
        (
            gemini(WEATHER),
            '[1].functionDeclarations[0]: a second tool "get_weather" (the first is [0])',
        ),
    ],
)
def test_what_is_no_tool_is_refused_with_its_place(item: object, problem: str) -> None:
    """In a list, and in an object that holds the list."""
    for data, where in (([], ""), ({}, "tools")):
        items = [openai_chat(WEATHER), item]
        with pytest.raises(InvalidContributionError) as caught:
            read_tools({"tools": items} if isinstance(data, dict) else items)
        assert str(caught.value).startswith(where + problem.replace("is [0]", f"is {where}[0]"))


@pytest.mark.parametrize(
    "kind",
    [
        *("codeExecution", "computer_use", "enterpriseWebSearch", "file_search", "googleMaps"),
        *("google_search", "googleSearchRetrieval", "mcp_servers", "retrieval", "url_context"),
    ],
)
def test_what_google_runs_is_refused(kind: str) -> None:
    """By itself, and beside declarations."""
    item: Json
    for item in ({kind: {}}, {kind: {}, "functionDeclarations": [{"name": "a"}]}):
        with pytest.raises(InvalidContributionError, match=f'^.0.: a tool of type "{kind}" is the'):
            read_tools([item])


@pytest.mark.parametrize("data", [{}, {"tools": {}}, {"name": "a"}, "tools", None])
def test_what_is_no_list_is_refused(data: object) -> None:
    """With a short look at what it is, and where a list is looked for."""
    with pytest.raises(InvalidContributionError) as caught:
        read_tools(data)
    assert str(caught.value) == (
        f'expected a list of tools, got {data!r}; in an object it stands under "tools"'
    )


def test_the_look_at_what_was_found_is_short() -> None:
    """A file may be large."""
    with pytest.raises(InvalidContributionError) as caught:
        read_tools({f"key {number}": "x" * 1000 for number in range(1000)})
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("depth", [200, 100_000])
def test_too_deep_a_schema_is_refused(spelling: str, depth: int) -> None:
    """However deep it is."""
    schema: Json = {}
    for _ in range(depth):
        schema = {"items": schema}
    item = {
        "openai-chat": {"function": {"name": "a", "parameters": schema}},
        "openai-responses": {"type": "function", "name": "a", "parameters": schema},
        "anthropic": {"name": "a", "input_schema": schema},
        "mcp": {"name": "a", "inputSchema": schema},
        "gemini": {"functionDeclarations": [{"name": "a", "parameters": schema}]},
        "gemini-snake": {"function_declarations": [{"name": "a", "parameters": schema}]},
        "gemini-json-schema": {"name": "a", "parametersJsonSchema": schema},
    }[spelling]
    with pytest.raises(InvalidContributionError, match="nested too deeply"):
        read_tools([item])
