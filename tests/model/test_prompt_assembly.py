"""The product of one run: what may be done with it, and what it turns into."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    ConfigError,
    InvalidContributionError,
    Key,
    PromptAssembly,
    Source,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import DisposableContext


def full_host() -> SystemPrompt:
    """Make a host with something of every kind, static and not."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name="static", order=10, text="Static {{who}}.", title="Title")
            ctx.section(name="called", order=20.5, text=lambda: "Called.", literal=True)
            ctx.section(name="empty", order=30, text="", title="T", strategy="always")
            ctx.context(name="state", order=1, text="State.", requires_tools=["read"])
            ctx.variable("who", "Ann")
            ctx.variable("nothing", lambda: None)
            ctx.tool(ToolSchema("read", "Reads.", {"type": "object"}, {"readOnlyHint": True}))
            ctx.tools(lambda: [{"name": "write", "parameters": {"required": ["path"]}}])

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="plugin")
    prompt.on_assemble(lambda assembly: assembly.deny("write", "read-only"))
    return prompt


# Editing


def test_the_four_parts_are_lists_and_a_dict() -> None:
    """Real ones, and always the same object until they are assigned."""
    assembly = full_host().assemble()
    for name in ("sections", "contexts", "tools"):
        assert type(getattr(assembly, name)) is list
        assert getattr(assembly, name) is getattr(assembly, name)
    assert type(assembly.variables) is dict
    assert assembly.variables is assembly.variables


def test_the_four_parts_may_be_edited_in_place() -> None:
    """Whoever gets the result may go on with it as a listener does."""
    assembly = full_host().assemble()
    assembly.sections[:] = [AssembledSection("x", "{{x}}")]
    assembly.contexts.append(AssembledContext("x", "Added {{x}}."))
    assembly.tools.pop()
    assembly.variables["x"] = "value"
    assert render_prompt(assembly) == "value"
    assert render_context_snapshot(assembly).endswith("State.\n\nAdded value.")
    assert [tool.name for tool in assembly.tools] == ["read"]


def test_the_four_parts_may_be_assigned() -> None:
    """Any iterable and any mapping will do; a copy is kept."""
    assembly = PromptAssembly()
    sections, variables = [AssembledSection("x", "{{x}}")], {"x": "value"}
    assembly.sections = sections
    assembly.contexts = iter([AssembledContext("x", "")])
    assembly.tools = (ToolSchema("x", "", {}),)
    assembly.variables = variables
    sections.clear()
    variables.clear()
    assert render_prompt(assembly) == "value"
    assert [len(assembly.contexts), len(assembly.tools)] == [1, 1]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "new"),
        ("text", "new"),
        ("order", 5),
        ("title", "new"),
        ("literal", True),
        ("cacheable", True),
        ("requires_tools", ("new",)),
        ("source", Source("new")),
    ],
)
def test_every_field_of_a_section_and_a_context_may_be_changed(field: str, value: object) -> None:
    """They are mutable; only a section knows whether it can be cached."""
    assembly = full_host().assemble()
    blocks: list[Any] = [assembly.sections[0], assembly.contexts[0]]
    for block in blocks[: 1 if field == "cacheable" else 2]:
        setattr(block, field, value)
        assert getattr(block, field) == value


@pytest.mark.parametrize("cls", [AssembledSection, AssembledContext])
def test_an_assembled_block_needs_a_name_and_a_text(cls: type[Any]) -> None:
    """All else is keyword and has the defaults of something that came from nowhere."""
    block = cls("x", "text")
    assert (block.order, block.title, block.literal, block.source) == (None, None, False, None)
    assert block.requires_tools == ()
    assert cls("x", "text", requires_tools=["read"]).requires_tools == ("read",)
    with pytest.raises(TypeError, match="positional"):
        cls("x", "text", 1)


def test_an_assembled_section_is_not_cacheable_unless_it_says_so() -> None:
    """Nobody knows what a listener made its text of."""
    assert AssembledSection("x", "text").cacheable is False
    assert AssembledSection("x", "text", cacheable=True).cacheable is True


@pytest.mark.parametrize("cls", [AssembledSection, AssembledContext])
def test_required_tools_are_a_list_for_listeners_too(cls: type[Any]) -> None:
    """One name alone is refused, when it is made and when it is set."""
    with pytest.raises(InvalidContributionError, match="not the str 'read'"):
        cls("x", "", requires_tools="read")
    block = cls("x", "")
    with pytest.raises(InvalidContributionError, match="not the str 'read'"):
        block.requires_tools = "read"


def test_an_assembly_has_no_other_attributes() -> None:
    """A misspelt one is an error, not a new one."""
    with pytest.raises(AttributeError):
        PromptAssembly().section = []  # type: ignore[attr-defined]


# Sharing nothing


@pytest.mark.parametrize(
    "spoil",
    [
        lambda assembly: assembly.sections.clear(),
        lambda assembly: setattr(assembly.sections[2], "text", "spoilt"),
        lambda assembly: setattr(assembly.sections[3], "literal", False),
        lambda assembly: assembly.contexts.clear(),
        lambda assembly: setattr(assembly.contexts[0], "text", "spoilt"),
        lambda assembly: assembly.tools.clear(),
        lambda assembly: assembly.variables.update(who="spoilt", new="spoilt"),
        lambda assembly: assembly.deny("read", "spoilt"),
        lambda assembly: assembly.__setitem__(Key("spoilt"), 1),
    ],
)
def test_two_assemblies_share_nothing_that_can_be_changed(
    spoil: Callable[[PromptAssembly], object],
) -> None:
    """Whatever is done to one, by a listener or afterwards, another is as it was."""
    prompt = full_host()
    expected = prompt.assemble().to_dict()
    one, two = prompt.assemble(), prompt.assemble()
    spoil(one)
    assert two.to_dict() == prompt.assemble().to_dict() == expected


def test_a_listener_cannot_reach_what_a_provider_holds() -> None:
    """Nor the list that it returned, nor the schemas in it."""
    schemas = [ToolSchema("a", "", {"required": ["x"]}), ToolSchema("b", "", {})]
    prompt = SystemPrompt()
    prompt.tools(lambda: schemas)
    assembly = prompt.assemble()
    assembly.tools.reverse()
    with pytest.raises(TypeError, match="immutable"):
        assembly.tools[-1].parameters["required"].append("y")
    assert [schema.name for schema in schemas] == ["a", "b"]
    assert schemas[0].parameters == {"required": ["x"]}


def test_what_a_provider_changes_later_does_not_reach_an_assembly() -> None:
    """A dict that it returned is copied."""
    parameters: dict[str, Any] = {"type": "object"}
    prompt = SystemPrompt()
    prompt.tools(lambda: [{"name": "x", "parameters": parameters}])
    assembly = prompt.assemble()
    parameters["type"] = "array"
    assert assembly.tools[0].parameters == {"type": "object"}
    assert prompt.assemble().tools[0].parameters == {"type": "array"}


# Denials


def test_a_denied_tool_is_masked_and_stays_in_the_list() -> None:
    """The tools are, byte for byte, what they were."""
    prompt = SystemPrompt()
    prompt.tool({"name": "write"})
    before, after = prompt.assemble(), prompt.assemble()
    after.deny("write", "read-only")
    assert after.tools == before.tools
    assert after.fingerprint() == before.fingerprint()
    assert dict(after.denied) == {"write": "read-only"}


def test_authorize_gives_the_reason_to_refuse_a_call() -> None:
    """None for a tool that may run; a reason for a denied one, and for one that is not there."""
    assembly = full_host().assemble()
    assert assembly.authorize("read") is None
    assert assembly.authorize("write") == "read-only"
    assert assembly.authorize("missing") == 'tool "missing" is not available in this assembly'
    assembly.tools.clear()
    assert assembly.authorize("read") == 'tool "read" is not available in this assembly'
    assert assembly.authorize("write") == "read-only"


def test_the_last_denial_of_a_tool_gives_the_reason() -> None:
    """A name need not be in the list to be denied."""
    assembly = PromptAssembly()
    assembly.deny("write", "first")
    assembly.deny("write", "second")
    assert assembly.authorize("write") == "second"


def test_the_mapping_of_denied_tools_cannot_be_changed() -> None:
    """Only ``deny`` adds to it, and nothing takes away."""
    assembly: Any = PromptAssembly()
    assert assembly.denied == {}
    assembly.deny("write", "read-only")
    with pytest.raises(TypeError):
        assembly.denied["read"] = "too"
    with pytest.raises(AttributeError):
        assembly.denied = {}


@pytest.mark.parametrize("arguments", [("write", ""), ("write", None), (5, "reason")])
def test_a_denial_needs_a_name_and_a_reason(arguments: tuple[Any, Any]) -> None:
    """A reason is what an agent loop tells the model."""
    with pytest.raises(TypeError, match=r"deny\(\) takes a tool name and a reason"):
        PromptAssembly().deny(*arguments)


# Comparing


def test_assemblies_compare_by_their_parts() -> None:
    """Sections, contexts, tools, variables and denials."""
    prompt = full_host()
    assert prompt.assemble() == prompt.assemble()
    other = prompt.assemble()
    other.deny("read", "too")
    assert prompt.assemble() != other
    assert prompt.assemble() != "assembly"
    with pytest.raises(TypeError, match="unhashable"):
        hash(other)


def test_an_assembly_shows_its_names() -> None:
    """And not its texts."""
    shown = repr(full_host().assemble())
    for name in ("static", "called", "state", "read", "write"):
        assert name in shown
    assert "Static" not in shown


# JSON


def test_a_document_is_plain_json() -> None:
    """It goes through ``json`` unchanged, and its keys have one order."""
    data = full_host().assemble().to_dict()
    assert json.loads(json.dumps(data)) == data
    parts = ["sections", "contexts", "tools", "variables", "variable_sources", "denied"]
    assert list(data) == [*parts, "generation", "keys", "left_out"]
    assert list(data["variables"]) == ["nothing", "who"]


def test_a_document_does_not_depend_on_the_order_of_changes() -> None:
    """Variables, denials and keys are sorted."""
    one, two = PromptAssembly(), PromptAssembly()
    for assembly, names in ((one, "ab"), (two, "ba")):
        for name in names:
            assembly.variables[name] = name
            assembly.deny(name, name)
            assembly[Key(name)] = name
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())


@pytest.mark.parametrize("through_text", [False, True])
def test_an_assembly_comes_back_from_its_document(*, through_text: bool) -> None:
    """With sources, denials, generation and fingerprint."""
    assembly = full_host().assemble()
    data = assembly.to_dict()
    back = PromptAssembly.from_dict(json.loads(json.dumps(data)) if through_text else data)
    assert back == assembly
    assert back.to_dict() == data
    assert back.fingerprint() == assembly.fingerprint()
    assert back.generation == assembly.generation
    assert back.authorize("write") == "read-only"
    for kind, name in (("section", "static"), ("tool", "read"), ("variable", "who")):
        assert back.source_of(kind, name) == Source("plugin")  # type: ignore[arg-type]


def test_an_assembly_made_by_hand_comes_back_too() -> None:
    """Without sources and generation."""
    assembly = PromptAssembly(
        [AssembledSection("x", "text")], [], [ToolSchema("x", "", {})], {"x": None}
    )
    back = PromptAssembly.from_dict(assembly.to_dict())
    assert back == assembly
    assert (back.generation, back.source_of("tool", "x")) == (None, None)


def test_a_document_shares_nothing_with_its_assembly() -> None:
    """It may be changed freely."""
    assembly = full_host().assemble()
    data = assembly.to_dict()
    data["tools"][0]["parameters"]["type"] = "spoilt"
    data["variables"]["who"] = "spoilt"
    data["sections"][0]["requires_tools"].append("spoilt")
    assert assembly.to_dict() == full_host().assemble().to_dict() | {
        "generation": assembly.generation
    }


class Shout:
    """A codec that says everything louder."""

    def encode(self, value: str) -> str:
        return value.upper()

    def decode(self, data: str) -> str:
        return data.lower()


def test_values_of_keys_go_through_their_codecs() -> None:
    """Both ways, where the key is given."""
    key = Key[str]("who", Shout())
    assembly = PromptAssembly()
    assembly[key] = "ann"
    data = assembly.to_dict()
    assert (data["keys"], data["left_out"]) == ({"who": "ANN"}, [])
    assert PromptAssembly.from_dict(data, [key])[key] == "ann"


def test_values_of_keys_without_a_codec_are_listed_as_left_out() -> None:
    """They stay in the process."""
    assembly = PromptAssembly()
    for name in ("b", "a"):
        assembly[Key[object](name)] = object()
    data = assembly.to_dict()
    assert (data["keys"], data["left_out"]) == ({}, ["a", "b"])
    assert PromptAssembly.from_dict(data).to_dict() == data


def test_values_of_keys_that_are_not_given_are_kept_for_later() -> None:
    """Who passes a document on needs not know them."""
    key = Key[str]("who", Shout())
    assembly = PromptAssembly()
    assembly[key] = "ann"
    data = assembly.to_dict()
    passed_on = PromptAssembly.from_dict(data)
    assert key not in passed_on
    assert passed_on.to_dict() == data
    passed_on[key] = "eve"
    assert passed_on.to_dict()["keys"] == {"who": "EVE"}


def test_two_keys_of_one_name_cannot_both_be_written() -> None:
    """Keys differ by identity, documents by name: losing a value is an error, or is listed."""
    one, two = Key[str]("who", Shout()), Key[str]("who", Shout())
    assembly = PromptAssembly()
    assembly[one], assembly[two] = "ann", "eve"
    data = assembly.to_dict()
    assert "who" in data["left_out"]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("tools"),
        lambda data: data.update(sections=5),
        lambda data: data.update(sections=[{"name": "x"}]),
        lambda data: data["sections"][0].update(unknown=1),
        lambda data: data["sections"][0].update(source={"unknown": 1}),
        lambda data: data.update(keys=None),
        lambda data: data["sections"][0].update(text=5),
        lambda data: data["sections"][0].update(literal="false"),
        lambda data: data.update(variables={"v": 3}),
        lambda data: data.update(denied={"t": 5}),
        lambda data: data.update(generation="x"),
        lambda data: data.update(left_out=[1]),
        lambda data: data.update(variables="text"),
        lambda data: data["tools"][0].update(name=5),
        lambda data: data["sections"][0].update(requires_tools="read"),
    ],
)
def test_another_document_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    """What ``to_dict`` would not give raises a ConfigError."""
    data = full_host().assemble().to_dict()
    change(data)
    with pytest.raises(ConfigError, match="not an assembly as to_dict gives it"):
        PromptAssembly.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "text", 5])
def test_what_is_no_document_is_refused(data: Any) -> None:
    """It raises a ConfigError too."""
    with pytest.raises(ConfigError, match="not an assembly"):
        PromptAssembly.from_dict(data)
