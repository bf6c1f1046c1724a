"""Texts that name a hidden tool: which tools are hidden, by whom, and what counts as a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledSection,
    Config,
    PromptAssembly,
    PromptSection,
    Source,
    SystemPrompt,
    ToolProviderResult,
    ToolSchema,
    UnknownVariableError,
    hookimpl,
)
from dsh_prompt.tool_mentions import hidden_tool_mentions, hidden_tools, requiring

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import CallNext


def host(*tools: str) -> SystemPrompt:
    """Make a host without an identity, with the *tools*."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    for name in tools:
        prompt.tool({"name": name})
    return prompt


class Narrow:
    """A plugin that takes tools out."""

    def __init__(self, *names: str) -> None:
        self.names = names

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        """Take them out."""
        assembly.tools = [tool for tool in assembly.tools if tool.name not in self.names]


def mentions(assembly: PromptAssembly) -> list[tuple[str, str, str]]:
    """Give kind, name and tool of each mention."""
    return [(one.kind, one.name, one.tool) for one in hidden_tool_mentions(assembly)]


# Which tools are hidden


def test_a_tool_that_a_listener_took_out_is_hidden_by_it() -> None:
    """The finding has all that is needed to mend it."""
    prompt = host("read", "write")
    prompt.load(Narrow("write"), name="narrow")
    prompt.section(name="guide", order=100, text="Use write to save.")
    [finding] = hidden_tool_mentions(prompt.assemble())
    assert (finding.kind, finding.name, finding.tool) == ("section", "guide", "write")
    assert finding.source == Source()
    assert finding.hidden_by is not None
    assert finding.hidden_by.plugin == "narrow"
    assert finding.way_out == 'requires_tools=("write",)'


def test_the_way_out_is_one() -> None:
    """With what it says, there is nothing to find, with the tool and without it."""
    prompt = host("read", "write")
    prompt.section(name="guide", order=100, text="Use write.", requires_tools=("write",))
    assert mentions(prompt.assemble()) == []
    prompt.load(Narrow("write"), name="narrow")
    assert mentions(prompt.assemble()) == []


def test_the_way_out_of_several_tools_is_one_argument() -> None:
    """As it would be written."""
    assert requiring(["a", 'b"']) == 'requires_tools=("a", "b\\"")'


def test_a_listener_may_name_what_it_takes_out_in_a_text_that_it_adds() -> None:
    """It knows what it does, and without the tool its text is needed all the more."""

    class Plan:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.tools = []
            assembly.sections.append(AssembledSection("plan", "Do not write."))

    prompt = host("write")
    prompt.load(Plan(), name="plan")
    assert mentions(prompt.assemble()) == []
    prompt.section(name="guide", order=1, text="Use write.")
    assert mentions(prompt.assemble()) == [("section", "guide", "write")]


def test_the_last_of_several_that_took_it_out_hid_it() -> None:
    """One that put it back did not."""

    def put_back(assembly: PromptAssembly) -> None:
        assembly.tools.append(ToolSchema("write", "", {}))

    prompt = host("write", "other")
    prompt.load(Narrow("write"), name="first")
    prompt.on_assemble(put_back)
    assert hidden_tools(prompt.assemble()) == {}
    prompt.load(Narrow("write"), name="last")
    prompt.load(Narrow("other"), name="another")
    hidden = hidden_tools(prompt.assemble())
    assert {name: source and source.plugin for name, source in hidden.items()} == {
        "write": "last",
        "other": "another",
    }


def test_a_restricted_tool_is_hidden_by_the_owner_of_the_restriction() -> None:
    """In the scope and below it, and nowhere else."""
    prompt = host("read", "write")
    prompt.context(name="guide", order=1, text="Use write.")
    farther = prompt.create_scope("team")
    scope = prompt.create_scope("agent-1", parent=farther)
    prompt.create_scope("other").restrict(allow=())
    farther.restrict(allow=("read", "write"))
    scope.restrict(deny=("write",))
    child = prompt.create_scope("child", parent=scope)
    assert hidden_tools(prompt.assemble()) == {}
    for inner in (scope, child):
        assembly = prompt.assemble(scope=inner)
        assert hidden_tools(assembly) == {"write": Source(scope="agent-1")}
        assert mentions(assembly) == [("context", "guide", "write")]
    child.tool({"name": "write"})
    assert hidden_tools(prompt.assemble(scope=child)) == {}


def test_a_tool_that_its_provider_knows_and_does_not_give_is_hidden_by_the_provider() -> None:
    """Unless another one gives it."""

    class Deferring:
        @hookimpl
        def contribute_sections(self) -> list[PromptSection]:
            return [PromptSection("guide", 1, "First search, then deploy.")]

        @hookimpl
        def contribute_tools(self) -> Callable[[], ToolProviderResult]:
            shown = [ToolSchema("search", "", {})]
            return lambda: ToolProviderResult(shown, ("search", "deploy"))

    prompt = host()
    prompt.load(Deferring(), name="deferring")
    [finding] = hidden_tool_mentions(prompt.assemble())
    assert finding.hidden_by is not None
    assert (finding.tool, finding.hidden_by.plugin) == ("deploy", "deferring")
    prompt.tool({"name": "deploy"})
    assert mentions(prompt.assemble()) == []


def test_a_denied_tool_is_not_hidden() -> None:
    """It stays in the list; so is one that nobody knows: it cannot be told from a word."""
    prompt = host("write")
    prompt.on_assemble(lambda assembly: assembly.deny("write", "not now"))
    prompt.section(name="guide", order=1, text="Use write and unknown_tool.")
    assert mentions(prompt.assemble()) == []


def test_a_tool_that_a_listener_changed_is_not_hidden() -> None:
    """Another schema of the same name is the same tool."""

    def describe(assembly: PromptAssembly) -> None:
        assembly.tools = [tool.evolve(description="Better.") for tool in assembly.tools]

    prompt = host("write")
    prompt.on_assemble(describe)
    assert hidden_tools(prompt.assemble()) == {}


def another(assembly: PromptAssembly) -> PromptAssembly:
    """Give another assembly, without tools."""
    return PromptAssembly(assembly.sections, assembly.contexts, (), assembly.variables)


def restored(assembly: PromptAssembly) -> PromptAssembly:
    """Give one that went through JSON, without tools."""
    restored = PromptAssembly.from_dict(assembly.to_dict())
    restored.tools = []
    return restored


def around(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
    """Take the tools out after the rest."""
    result = call_next(another(assembly))
    result.tools.clear()
    return result


@pytest.mark.parametrize("listener", [another, restored, around])
def test_an_assembly_in_place_of_another_knows_what_that_one_knew(listener: Any) -> None:
    """Whichever way a listener gives it."""

    class Replacing:
        system_prompt_assemble = staticmethod(hookimpl(listener))

    prompt = host("write")
    scope = prompt.create_scope("agent-1")
    scope.tool({"name": "own"})
    scope.restrict(deny=("write",))
    prompt.load(Replacing(), name="replacing")
    culprits = hidden_tools(prompt.assemble(scope=scope))
    assert culprits.pop("write") == Source(scope="agent-1")
    assert {name: source and source.plugin for name, source in culprits.items()} == {
        "own": "replacing"
    }


def test_who_takes_tools_out_of_a_finished_assembly_is_not_known() -> None:
    """That the tool is gone is."""
    assembly = host("write").assemble()
    assembly.tools.clear()
    assert hidden_tools(assembly) == {"write": None}


def test_an_assembly_made_by_hand_knows_of_no_tools() -> None:
    """It has no more than it has."""
    assert hidden_tools(PromptAssembly()) == {}
    assert mentions(PromptAssembly()) == []


# What counts as a name


@pytest.mark.parametrize(
    "text",
    [
        "Use read.",
        "read",
        "`read`",
        "(read, write)",
        "**read**: reads",
        "first read; then",
        '"read"',
        "read()",
        "Call read\nagain",
        "path/read",
        "- read",
    ],
)
def test_a_name_that_stands_alone_is_found(text: str) -> None:
    """Whatever punctuation is around it."""
    prompt = host("read")
    prompt.load(Narrow("read"), name="narrow")
    prompt.section(name="guide", order=1, text=text)
    assert mentions(prompt.assemble()) == [("section", "guide", "read")]


@pytest.mark.parametrize(
    "text",
    [
        "read_file",
        "reading",
        "thread",
        "Read",
        "read-only",
        "pre-read",
        "--read",
        "os.read",
        "read.me",
        "mcp__fs__read",
        "read2",
        "\u00e9read",
        "",
    ],
)
def test_a_name_within_a_longer_one_is_not(text: str) -> None:
    """That may be another tool, or a word."""
    prompt = host("read")
    prompt.load(Narrow("read"), name="narrow")
    prompt.section(name="guide", order=1, text=text)
    assert mentions(prompt.assemble()) == []


def test_names_that_hold_others_are_told_apart() -> None:
    """The longest counts, and what is a pattern elsewhere is a name here."""
    names = ("fs.read", "fs", "read", "a", "a+b", "(x)")
    prompt = host(*names)
    prompt.load(Narrow(*names), name="narrow")
    prompt.section(name="guide", order=1, text="fs.read, a+b and (x)")
    assert [tool for _, _, tool in mentions(prompt.assemble())] == ["(x)", "a+b", "fs.read"]


def test_rendered_texts_are_looked_at_with_titles_and_values() -> None:
    """Each tool once in each text, sections first."""
    prompt = host("read", "write")
    prompt.variable("tool", "read")
    prompt.load(Narrow("read", "write"), name="narrow")
    prompt.context(name="state", order=1, text="nothing", title="After write")
    prompt.section(name="guide", order=1, text="{{tool}} {{tool}} write")
    assert mentions(prompt.assemble()) == [
        ("section", "guide", "read"),
        ("section", "guide", "write"),
        ("context", "state", "write"),
    ]


def test_a_text_that_cannot_be_rendered_raises() -> None:
    """As it would when it is sent."""
    prompt = host()
    prompt.section(name="guide", order=1, text="{{nobody}}")
    with pytest.raises(UnknownVariableError):
        hidden_tool_mentions(prompt.assemble())
