"""What a provider would refuse is told before: all of it, with the owner and the way out."""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt import AssembledSection, PromptAssembly, PromptError, SystemPrompt, ToolSchema
from dsh_prompt.adapters import Figure, PreflightError, openai_chat
from tests.adapters.cases import ADAPTERS, HISTORY, READ, WRITE, assembly

if TYPE_CHECKING:
    from dsh_prompt.adapters import Adapter, Problem

Json = dict[str, Any]


def problems(adapter: Adapter, *tools: ToolSchema) -> tuple[Problem, ...]:
    """Give the problems that *adapter* finds."""
    with pytest.raises(PreflightError) as caught:
        adapter(assembly(*tools), model="m")
    return caught.value.problems


def with_schema(parameters: Json) -> ToolSchema:
    """Give a tool that has these parameters."""
    return ToolSchema("odd", "", parameters)


def with_property(schema: Any) -> ToolSchema:
    """Give a tool with one parameter, ``a``."""
    return with_schema({"type": "object", "properties": {"a": schema}})


OPENAI = ("openai_chat", "openai_responses")
ALL = tuple(ADAPTERS)


@pytest.mark.parametrize(
    ("tool", "adapters", "message"),
    [
        (with_schema({"type": "string"}), ALL, "parameters.type is 'string': arguments are"),
        (with_schema({"type": ["object", "null"]}), ALL, "parameters.type is ['object', 'null']"),
        (with_schema({"anyOf": [{}]}), (*OPENAI, "anthropic_messages"), '"anyOf" may not stand'),
        (with_schema({"enum": [{}]}), OPENAI, '"enum" may not stand at the root'),
        (with_schema({"not": {}}), OPENAI, '"not" may not stand at the root'),
        (
            with_schema({"properties": {"filter[id]": {}}}),
            ("anthropic_messages",),
            "the name of parameter 'filter[id]' does not match",
        ),
        (
            with_property({"type": "array"}),
            OPENAI,
            'parameters.properties.a is an array that does not say what its items are: add "items"',
        ),
        (with_property({"type": ["array", "null"]}), OPENAI, "parameters.properties.a is an array"),
        (with_property({"enum": []}), ALL, "parameters.properties.a.enum is empty: leave it out"),
        (with_property({"anyOf": []}), ALL, "parameters.properties.a.anyOf is empty"),
        (with_property({"type": []}), ALL, "parameters.properties.a.type is empty"),
        (with_property({"type": "str"}), ALL, "parameters.properties.a.type: 'str' is none of"),
        (with_property({"oneOf": {}}), ALL, "parameters.properties.a.oneOf must be a list"),
        (with_property(1), ALL, "parameters.properties.a must be a schema"),
        (with_property({"items": [{}]}), ALL, "parameters.properties.a.items must be a schema"),
        (with_schema({"properties": []}), ALL, "parameters.properties must be an object"),
        (with_schema({"$defs": {"x": {"enum": []}}}), ALL, "parameters.$defs.x.enum is empty"),
        (
            with_property({"anyOf": [{}, {"enum": []}]}),
            ALL,
            "parameters.properties.a.anyOf[1].enum is empty",
        ),
    ],
)
def test_a_schema_that_would_be_refused_is_found(
    tool: ToolSchema, adapters: tuple[str, ...], message: str
) -> None:
    """By those adapters whose provider says so, and by no other."""
    for name, adapter in ADAPTERS.items():
        if name in adapters:
            [problem] = problems(adapter, tool)
            assert (problem.tool, problem.message[: len(message)]) == ("odd", message)
            assert problem.source
        else:
            adapter(assembly(tool), model="m")


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}, {"properties": {}}])
@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_a_tool_without_parameters_is_fine(adapter: Adapter, parameters: Json) -> None:
    """Type and properties, which providers miss, are filled in."""
    request = adapter(assembly(with_schema(parameters)), model="m")
    assert "{'type': 'object', 'properties': {}}" in repr(request.to_dict())


@pytest.mark.parametrize(
    ("adapter", "most"),
    [("openai_chat", 128), ("openai_responses", 128), ("gemini_generate", 512)],
)
def test_there_may_be_so_many_tools(adapter: str, most: int) -> None:
    """Each one too many is a problem."""
    tools = [ToolSchema(f"tool{number:03}", "", {}) for number in range(most + 2)]
    found = problems(ADAPTERS[adapter], *tools)
    assert [problem.tool for problem in found] == [f"tool{most:03}", f"tool{most + 1:03}"]
    assert found[0].message.startswith(f"one tool too many, {most} are taken")
    ADAPTERS[adapter](assembly(*tools[:most]), model="m")
    request = ADAPTERS[adapter](assembly(*tools), model="m", on_invalid="skip")
    assert len(request.names) == most


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_two_tools_of_one_name_are_refused(adapter: Adapter) -> None:
    """A call could not be told from one of the other."""
    [problem] = problems(adapter, READ, attrs.evolve(READ, description="Another one."))
    assert problem.message == "a second tool of that name: rename one of them"


def test_all_problems_are_told_at_once_with_tool_owner_and_way_out() -> None:
    """So that one run is enough to find them."""

    class Shop:
        def contribute_tools(self, ctx: object) -> list[Json]:
            return [{"name": "buy", "parameters": {"type": "string", "anyOf": [{}]}}]

    prompt = SystemPrompt()
    prompt.load(_hooked(Shop()), name="shop")
    prompt.tool({"name": "sell", "parameters": {"properties": {"a": {"type": "array"}}}})
    with pytest.raises(PreflightError) as caught:
        openai_chat(prompt.assemble(), model="m")
    assert str(caught.value) == (
        "openai_chat would refuse this request:\n"
        '- tool "buy" of plugin "shop": parameters.type is \'string\': arguments are an "object" '
        "(source: https://json-schema.org/draft/2020-12/schema)\n"
        '- tool "buy" of plugin "shop": "anyOf" may not stand at the root of the parameters: '
        "describe it in words, or move it into a property "
        "(source: https://github.com/goruck/home-generative-agent/pull/545)\n"
        '- tool "sell" of the host: parameters.properties.a is an array that does not say what '
        'its items are: add "items" (source: https://github.com/PrefectHQ/fastmcp/issues/2464)\n'
        'or leave out "buy", "sell" with on_invalid="skip"'
    )
    assert [problem.owner for problem in caught.value.problems] == [
        *['plugin "shop"'] * 2,
        "the host",
    ]
    assert caught.value.adapter == "openai_chat"


def _hooked(plugin: Any) -> Any:
    from dsh_prompt import hookimpl  # noqa: PLC0415

    type(plugin).contribute_tools = hookimpl(type(plugin).contribute_tools)
    return plugin


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_a_bad_tool_can_be_left_out(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and the request says so; the others are sent."""
    made = assembly(READ, with_property({"enum": []}), WRITE)
    with caplog.at_level(logging.WARNING, "dsh_prompt.adapters"):
        request = adapter(made, model="m", on_invalid="skip")
    assert list(request.names.values()) == ["read", "write"]
    [problem] = request.skipped
    assert problem.tool == "odd"
    logged = f'{adapter.name} leaves out tool "odd" of an unknown owner: {problem.message}'
    assert [record.getMessage() for record in caplog.records] == [
        f"{logged} (source: {problem.source})"
    ]


def test_there_is_no_other_way_to_take_it() -> None:
    """A word that is mistyped must not switch the checks off."""
    with pytest.raises(ValueError, match=r'on_invalid must be "raise" or "skip", not .ignore'):
        openai_chat(assembly(), model="m", on_invalid="ignore")  # type: ignore[arg-type]


def test_a_system_prompt_that_is_too_long_is_refused() -> None:
    """Whatever becomes of bad tools."""
    limits = attrs.evolve(openai_chat.limits, system_characters=Figure(10, "a test"))
    small = attrs.evolve(openai_chat, limits=limits)
    long = PromptAssembly([AssembledSection("a", "x" * 11)])
    with pytest.raises(PreflightError, match=r"has 11 characters of 10: set a budget \(source: a"):
        small(long, model="m", on_invalid="skip")
    small(PromptAssembly([AssembledSection("a", "x" * 10)]), model="m")


def test_a_request_that_is_too_large_is_refused() -> None:
    """Anthropic takes 32 MB."""
    adapter = ADAPTERS["anthropic_messages"]
    with pytest.raises(PreflightError, match="of 32000000: shorten the history"):
        adapter(assembly(), [adapter.user_message("x" * 32_000_000)], model="m")


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_half_a_surrogate_pair_is_refused(adapter: Adapter) -> None:
    """No client could encode it; the place is shown."""
    bad = PromptAssembly([AssembledSection("a", "name: \udcff")])
    with pytest.raises(PreflightError, match=r"name: .udcff', is no text"):
        adapter(bad, model="m")


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_nothing_is_sent_of_an_empty_assembly(adapter: Adapter) -> None:
    """No empty list of tools, no empty text."""
    request = adapter(PromptAssembly(), model="m")
    assert {*request} <= {"model", "max_tokens", HISTORY[adapter.name]}


def test_the_error_is_one_of_the_library() -> None:
    """Who handles all of them handles it, too."""
    assert issubclass(PreflightError, PromptError)


def test_the_error_can_be_pickled() -> None:
    """As process pools do."""
    [problem] = problems(openai_chat, with_property({"enum": []}))
    again = pickle.loads(pickle.dumps(PreflightError("text", adapter="a", problems=(problem,))))
    assert (again.problems, again.adapter) == ((problem,), "a")
