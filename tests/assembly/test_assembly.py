"""The pipeline: who takes part, in which order, and what is restored at the end."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    IDENTITY_SECTION,
    PERSONA_SECTION,
    AssembleContext,
    AssembledContext,
    AssembledSection,
    Config,
    InvalidContributionError,
    MultipleCompleteSectionsError,
    PromptAssembly,
    PromptContext,
    PromptSection,
    ScopeError,
    SectionOrder,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dsh_prompt import CallNext, DisposableContext, Registration, Scope

every_way = pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])
every_block = pytest.mark.parametrize("block", ["section", "context"])


def assembled(prompt: SystemPrompt, way: str, scope: Scope | None = None) -> PromptAssembly:
    """Assemble without an event loop, or in one."""
    if way == "sync":
        return prompt.assemble(scope=scope)
    return anyio.run(partial(prompt.assemble_async, scope=scope), backend=way)


def bare(**options: Any) -> SystemPrompt:
    """Make a host without an identity, so that tests see their own sections."""
    return SystemPrompt(Config(include_harness_identity=False, **options))


def names(items: Iterable[Any]) -> list[str]:
    """Give the names of *items*, without the persona's."""
    return [item.name for item in items if item.name != PERSONA_SECTION]


def blocks(assembly: PromptAssembly, block: str) -> list[Any]:
    """Give the sections or contexts."""
    return list(assembly.sections if block == "section" else assembly.contexts)


def contribute(ctx: DisposableContext, block: str, name: str, **fields: Any) -> Registration:
    """Register a section or context that says its name."""
    register: Callable[..., Registration] = ctx.section if block == "section" else ctx.context
    return register(**{"name": name, "order": 1, "text": name, **fields})


# What is there at first


def test_a_host_starts_with_its_two_sections() -> None:
    """The identity and an empty persona, which is dropped only when rendered."""
    assembly = SystemPrompt().assemble()
    assert [section.name for section in assembly.sections] == [IDENTITY_SECTION, PERSONA_SECTION]
    assert [section.order for section in assembly.sections] == [-1000, 0]
    assert render_prompt(assembly) == "You are an AI agent powered by DeepSeek Harness."
    assert (assembly.contexts, assembly.tools, assembly.variables) == ([], [], {})


def test_built_in_sections_can_be_shadowed_by_name() -> None:
    """They are ordinary entries of the global layer."""
    prompt = SystemPrompt(Config(persona="Be kind."))
    scope = prompt.create_scope("agent")
    scope.section(name=PERSONA_SECTION, order=SectionOrder.PERSONA, text="Be brief.")
    scope.section(name=IDENTITY_SECTION, order=SectionOrder.IDENTITY, text="You are Ann.")
    assert render_prompt(prompt.assemble(scope=scope)) == "You are Ann.\n\nBe brief."
    assert render_prompt(prompt.assemble()).endswith("\n\nBe kind.")


# Merging and sorting


@every_block
def test_the_nearest_entry_of_a_name_replaces_the_others_whole(block: str) -> None:
    """Nothing of the farther one is left: neither its text, order nor title."""
    prompt = bare()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    contribute(prompt, block, "x", text="global", order=1, title="Global", literal=True)
    contribute(parent, block, "x", text="parent", order=3)
    contribute(parent, block, "y", order=2)
    contribute(child, block, "y", text="child", order=4)
    shown = [
        [(item.text, item.order, item.title) for item in blocks(prompt.assemble(scope=s), block)]
        for s in (None, parent, child)
    ]
    persona = [("", 0, None)] if block == "section" else []
    assert shown == [
        [*persona, ("global", 1, "Global")],
        [*persona, ("y", 2, None), ("parent", 3, None)],
        [*persona, ("parent", 3, None), ("child", 4, None)],
    ]


@every_block
def test_blocks_are_sorted_by_order_then_by_name(block: str) -> None:
    """Orders are numbers of any sign and size; equal ones are settled by the name."""
    prompt = bare()
    scope = prompt.create_scope("agent")
    contribute(scope, block, "b", order=1)
    contribute(prompt, block, "a", order=1.0)
    contribute(prompt, block, "half", order=0.5)
    contribute(scope, block, "first", order=-1e300)
    contribute(prompt, block, "last", order=10**400)
    contribute(prompt, block, "c", order=1)
    shown = names(blocks(prompt.assemble(scope=scope), block))
    assert shown == ["first", "half", "a", "b", "c", "last"]


@every_block
def test_names_compare_by_utf16_code_units(block: str) -> None:
    """A character outside of the basic plane stands before the last ones of it."""
    prompt = bare()
    for name in ("\uff5e", "\U0001f600", "z", "Z", "é"):
        contribute(prompt, block, name)
    assert names(blocks(prompt.assemble(), block)) == ["Z", "z", "é", "\U0001f600", "\uff5e"]


def test_sections_contexts_variables_and_tools_have_names_of_their_own() -> None:
    """One name may stand in all four of them."""
    prompt = bare()
    prompt.section(name="x", order=1, text="{{x}}")
    prompt.context(name="x", order=1, text="{{x}}")
    prompt.variable("x", "value")
    prompt.tool({"name": "x"})
    assembly = prompt.assemble()
    assert names(assembly.sections) == names(assembly.contexts) == names(assembly.tools) == ["x"]


def test_the_nearest_variable_of_a_name_wins() -> None:
    """Constant or not."""
    prompt = bare()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    prompt.variable("x", "global")
    prompt.variable("y", lambda: "global")
    parent.variable("x", lambda: "parent")
    child.variable("y", "child")
    shown = [prompt.assemble(scope=scope).variables for scope in (None, parent, child)]
    assert shown == [
        {"x": "global", "y": "global"},
        {"x": "parent", "y": "global"},
        {"x": "parent", "y": "child"},
    ]


def test_tools_of_all_layers_are_collected_farthest_first() -> None:
    """Providers add, they do not shadow: equal names keep the order of layers."""
    prompt = bare()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    for number, layer in enumerate((child, parent, prompt, child, prompt)):
        schema = ToolSchema("x", str(number), {})
        layer.tools(partial(list, [schema]))
    shown = [tool.description for tool in prompt.assemble(scope=child).tools]
    assert shown == ["2", "4", "1", "0", "3"]


def test_a_disposed_scope_sees_what_its_ancestors_hold() -> None:
    """It stays a valid key, of an empty layer."""
    prompt = bare()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    contribute(parent, "section", "parent's")
    contribute(child, "section", "child's")
    child.dispose()
    assert names(prompt.assemble(scope=child).sections) == ["parent's"]
    parent.dispose()
    assert names(prompt.assemble(scope=child).sections) == []


@every_way
def test_a_scope_of_another_host_is_refused(way: str) -> None:
    """So is what is no scope at all."""
    prompt, foreign = bare(), bare().create_scope("foreign")
    anything: Any = "agent"
    for scope in (foreign, anything):
        with pytest.raises(ScopeError, match="is no scope of this host"):
            assembled(prompt, way, scope)


def test_a_context_is_an_assemble_context() -> None:
    """Anything else in its place is refused, with what it was."""
    context: Any = {"scope": None}
    with pytest.raises(TypeError, match=r"expected an AssembleContext, not \{'scope': None\}"):
        bare().assemble(context)


def test_a_state_is_a_runtime_state() -> None:
    """A mapping in its place is refused, with the way to make one of it."""
    state: Any = {"model": "m"}
    with pytest.raises(TypeError, match=r"not dict; RuntimeState.from_dict\(\) builds one"):
        bare().assemble(state=state)
    with pytest.raises(TypeError, match="RuntimeState"):
        AssembleContext(None, state)


# The snapshot of who takes part


@every_way
def test_what_a_provider_registers_shows_in_the_next_assembly(way: str) -> None:
    """Whatever kind it is, and however early the provider runs."""
    prompt, first = bare(), [True]

    def variable() -> str:
        if first.pop():
            contribute(prompt, "section", "new")
            contribute(prompt, "context", "new")
            prompt.variable("new", "value")
            prompt.tool({"name": "new"})
            prompt.on_assemble(lambda assembly: assembly.deny("new", "listener"))
        first.append(False)
        return ""

    prompt.variable("first", variable)
    assembly = assembled(prompt, way)
    assert names(assembly.sections) + names(assembly.contexts) + names(assembly.tools) == []
    assert (list(assembly.variables), assembly.denied) == (["first"], {})
    assembly = assembled(prompt, way)
    assert names(assembly.sections) == names(assembly.contexts) == names(assembly.tools) == ["new"]
    assert (set(assembly.variables), list(assembly.denied)) == ({"new", "first"}, ["new"])


@every_way
def test_what_a_provider_disposes_still_takes_part(way: str) -> None:
    """Its text is evaluated, its listener runs, once more."""
    prompt = bare()
    doomed: list[Registration] = []

    def variable() -> str:
        while doomed:
            doomed.pop().dispose()
        return ""

    prompt.variable("first", variable)
    doomed.append(contribute(prompt, "section", "old", text=lambda: "old"))
    doomed.append(prompt.tools(lambda: [{"name": "old"}]))
    doomed.append(prompt.on_assemble(lambda assembly: assembly.deny("old", "listener")))
    assembly = assembled(prompt, way)
    assert names(assembly.sections) == names(assembly.tools) == list(assembly.denied) == ["old"]
    assembly = assembled(prompt, way)
    assert names(assembly.sections) == names(assembly.tools) == list(assembly.denied) == []


@every_way
def test_a_suppressor_that_a_provider_registers_waits(way: str) -> None:
    """Contexts are left out from the next assembly on."""
    prompt, once = bare(), [True]

    def variable() -> str:
        if once:
            once.clear()
            prompt.suppress_runtime_context()
        return ""

    prompt.variable("first", variable)
    contribute(prompt, "context", "x")
    assert names(assembled(prompt, way).contexts) == ["x"]
    assert names(assembled(prompt, way).contexts) == []


def test_an_assembly_has_the_number_of_the_state_it_was_made_from() -> None:
    """Each change makes a new generation, and assembling makes none."""
    prompt = bare()
    before = prompt.assemble().generation
    assert before is not None
    assert prompt.assemble().generation == before
    registration = contribute(prompt, "section", "x")
    assert prompt.assemble().generation == before + 1
    registration.dispose()
    assert prompt.assemble().generation == before + 2


# Complete sections


@every_way
def test_a_complete_section_becomes_the_only_one(way: str) -> None:
    """The identity goes too; contexts, tools and variables stay."""
    prompt = SystemPrompt()
    contribute(prompt, "section", "all", complete=True, text="All of {{it}}.")
    contribute(prompt, "section", "other")
    contribute(prompt, "context", "state")
    prompt.variable("it", "this")
    prompt.tool({"name": "tool"})
    assembly = assembled(prompt, way)
    assert render_prompt(assembly) == "All of this."
    assert names(assembly.contexts) + names(assembly.tools) == ["state", "tool"]


@every_way
def test_a_complete_section_is_restored_after_the_waterfall(way: str) -> None:
    """As it was before: what listeners did to it, or beside it, is undone."""
    prompt = bare()
    contribute(prompt, "section", "all", complete=True, text=lambda: "{{x}}", title="Title")

    def listener(assembly: PromptAssembly) -> None:
        section = next(section for section in assembly.sections if section.name == "all")
        section.name, section.text, section.title = "renamed", "edited", None
        assembly.sections.append(AssembledSection("added", "Added."))
        assembly.variables["x"] = "from the waterfall"
        assembly.contexts.append(AssembledContext("added", "Added."))

    prompt.on_assemble(listener)
    assembly = assembled(prompt, way)
    assert [(section.name, section.text) for section in assembly.sections] == [("all", "{{x}}")]
    assert render_prompt(assembly) == "## Title\n\nfrom the waterfall"
    assert names(assembly.contexts) == ["added"]


@pytest.mark.parametrize("style", ["cleared", "replaced", "skipped"])
def test_a_complete_section_survives_whatever_listeners_return(style: str) -> None:
    """Removing it, returning another assembly, or skipping the rest changes nothing."""
    prompt = bare()
    contribute(prompt, "section", "all", complete=True)
    if style == "cleared":
        prompt.on_assemble(lambda assembly: assembly.sections.clear())
    elif style == "replaced":
        prompt.on_assemble(lambda: PromptAssembly([AssembledSection("mine", "Mine.")]))
    else:
        prompt.on_assemble(lambda call_next: PromptAssembly())
    assert render_prompt(prompt.assemble()) == "all"


def test_listeners_see_all_sections_beside_a_complete_one() -> None:
    """The texts of the others are evaluated, and only displaced at the end."""
    prompt = bare()
    seen: list[str] = []
    contribute(prompt, "section", "all", complete=True)
    contribute(prompt, "section", "other", text=lambda: "evaluated")
    prompt.on_assemble(lambda assembly: seen.extend(s.text for s in assembly.sections[1:]))
    assert names(prompt.assemble().sections) == ["all"]
    assert seen == ["all", "evaluated"]


@every_way
def test_two_complete_sections_are_an_error(way: str) -> None:
    """The error names them in their order, and their owners."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            contribute(ctx, "section", "a", complete=True, order=2)

    prompt = bare()
    prompt.load(Plugin(), name="persona")
    contribute(prompt, "section", "é", complete=True, order=1)
    match = '^multiple complete prompt sections are active: "é", "a" .*the host, plugin "persona"'
    with pytest.raises(MultipleCompleteSectionsError, match=match) as caught:
        assembled(prompt, way)
    assert caught.value.names == ("é", "a")


def test_complete_sections_that_take_no_part_do_not_count() -> None:
    """Shadowed ones, and those whose ``when`` is false."""
    prompt = bare()
    scope = prompt.create_scope("agent")
    contribute(prompt, "section", "a", complete=True)
    contribute(scope, "section", "a", text="ordinary")
    contribute(scope, "section", "b", complete=True, when=lambda: False)
    contribute(scope, "section", "c", complete=True, text="complete")
    assert render_prompt(prompt.assemble(scope=scope)) == "complete"


def test_an_empty_complete_section_gives_an_empty_prompt() -> None:
    """Nothing else takes its place."""
    prompt = SystemPrompt()
    contribute(prompt, "section", "all", complete=True, text="")
    assert render_prompt(prompt.assemble()) == ""


# Suppressed contexts


@every_way
@pytest.mark.parametrize("layer", ["config", "global", "parent", "own"])
def test_a_suppressor_anywhere_in_the_chain_leaves_contexts_out(layer: str, way: str) -> None:
    """No provider of theirs is called, neither for the text nor for ``when``."""
    prompt = bare(include_runtime_context=layer != "config")
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    contribute(prompt, "context", "x", text=lambda: 1 / 0, when=lambda: 1 / 0)
    if layer != "config":
        {"global": prompt, "parent": parent, "own": child}[layer].suppress_runtime_context()
    assert assembled(prompt, way, child).contexts == []


def test_a_suppressor_of_another_scope_is_not_heard() -> None:
    """Neither a sibling's nor a child's."""
    prompt = bare()
    parent = prompt.create_scope("parent")
    prompt.create_scope("sibling").suppress_runtime_context()
    prompt.create_scope("child", parent=parent).suppress_runtime_context()
    contribute(prompt, "context", "x")
    assert names(prompt.assemble(scope=parent).contexts) == ["x"]
    assert names(prompt.assemble().contexts) == ["x"]


def test_contexts_return_with_the_last_suppressor_gone() -> None:
    """Each suppressor counts, and each is withdrawn alone."""
    prompt = bare()
    contribute(prompt, "context", "x")
    one, two = prompt.suppress_runtime_context(), prompt.suppress_runtime_context()
    one.dispose()
    assert names(prompt.assemble().contexts) == []
    two.dispose()
    assert names(prompt.assemble().contexts) == ["x"]


@every_way
def test_contexts_that_listeners_add_are_suppressed_too(way: str) -> None:
    """After the waterfall they are empty again."""
    prompt = bare()
    prompt.suppress_runtime_context()
    seen: list[int] = []

    def listener(assembly: PromptAssembly) -> None:
        seen.append(len(assembly.contexts))
        assembly.contexts.append(AssembledContext("added", "Added."))

    contribute(prompt, "context", "x")
    prompt.on_assemble(listener)
    assert assembled(prompt, way).contexts == []
    assert seen == [0]


# requires_tools


@every_way
@every_block
def test_a_block_that_requires_a_missing_tool_is_dropped(block: str, way: str) -> None:
    """All of the tools that it names must be there."""
    prompt = bare()
    prompt.tool({"name": "read"})
    contribute(prompt, block, "one", requires_tools=["read"])
    contribute(prompt, block, "two", requires_tools=["read", "write"], text=lambda: "two")
    contribute(prompt, block, "three", requires_tools=("write",))
    assert names(blocks(assembled(prompt, way), block)) == ["one"]


@every_block
def test_required_tools_are_looked_for_after_the_waterfall(block: str) -> None:
    """What listeners add and remove counts; listeners still see what is dropped later."""
    prompt = bare()
    seen: list[str] = []

    def listener(assembly: PromptAssembly) -> None:
        seen.extend(names(blocks(assembly, block)))
        assembly.tools[:] = [ToolSchema("write", "", {})]

    prompt.tool({"name": "read"})
    contribute(prompt, block, "reads", requires_tools=["read"])
    contribute(prompt, block, "writes", requires_tools=["write"])
    prompt.on_assemble(listener)
    assert names(blocks(prompt.assemble(), block)) == ["writes"]
    assert seen == ["reads", "writes"]


@every_block
def test_a_denied_tool_still_counts_as_there(block: str) -> None:
    """It is masked, not removed, so that the prompt stays as it was."""
    prompt = bare()
    prompt.tool({"name": "write"})
    contribute(prompt, block, "writes", requires_tools=["write"])
    prompt.on_assemble(lambda assembly: assembly.deny("write", "read-only"))
    assert names(blocks(prompt.assemble(), block)) == ["writes"]


def test_what_listeners_add_may_require_tools() -> None:
    """Also where nothing that was contributed does, and in an assembly they return."""
    prompt = bare()
    section = AssembledSection("writes", "", requires_tools=["write"])
    context = AssembledContext("writes", "", requires_tools=["write"])
    prompt.on_assemble(lambda assembly: assembly.sections.append(section))
    assert names(prompt.assemble().sections) == []
    prompt.on_assemble(lambda: PromptAssembly([section], [context]))
    assembly = prompt.assemble()
    assert (assembly.sections, assembly.contexts) == ([], [])


def test_a_listener_may_lift_a_requirement() -> None:
    """The field of the assembled section is what counts."""
    prompt = bare()
    contribute(prompt, "section", "writes", requires_tools=["write"])

    def lift(assembly: PromptAssembly) -> None:
        assembly.sections[-1].requires_tools = ()

    prompt.on_assemble(lift)
    assert names(prompt.assemble().sections) == ["writes"]


def test_a_hidden_tool_is_missing() -> None:
    """A restriction removes the tool, and with it what requires it."""
    prompt = bare()
    scope = prompt.create_scope("agent")
    prompt.tool({"name": "write"})
    contribute(prompt, "section", "writes", requires_tools=["write"])
    scope.restrict(deny=["write"])
    assert names(prompt.assemble().sections) == ["writes"]
    assert names(prompt.assemble(scope=scope).sections) == []


# Middleware sees the end of the chain, not of the assembly


def test_restoring_and_pruning_come_after_the_waterfall() -> None:
    """The outermost middleware still gets everything that the rest left."""
    prompt = bare()
    seen: list[list[str]] = []

    def outer(call_next: CallNext) -> PromptAssembly:
        result = call_next()
        seen.append(names(result.sections))
        return result

    contribute(prompt, "section", "all", complete=True)
    contribute(prompt, "section", "writes", requires_tools=["write"])
    prompt.on_assemble(outer)
    assert names(prompt.assemble().sections) == ["all"]
    assert seen == [["all", "writes"]]


# The fields of what is contributed


@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
def test_a_block_is_given_as_an_object_or_by_its_fields(cls: type[Any]) -> None:
    """Both mean the same, with every field; together they are refused."""
    fields: dict[str, Any] = {"name": "x", "order": 1, "text": "{{", "title": "Title"}
    fields |= {"literal": True, "when": lambda: True, "requires_tools": [], "blocking": True}
    if cls is PromptSection:
        fields |= {"complete": True, "cacheable": False, "strategy": "always"}
    assemblies = []
    for short in (True, False):
        prompt = bare()
        register: Callable[..., object] = prompt.section if cls is PromptSection else prompt.context
        _ = register(**fields) if short else register(cls(**fields))
        with pytest.raises(TypeError, match="not both"):
            register(cls(**fields), name="y")
        assemblies.append(prompt.assemble())
    assert assemblies[0] == assemblies[1]


def test_a_section_is_no_context() -> None:
    """Nor the other way round; a mapping is neither."""
    prompt = bare()
    section, context = PromptSection("x", 1, ""), PromptContext("x", 1, "")
    pairs: list[tuple[Callable[..., object], object]]
    pairs = [(prompt.section, context), (prompt.context, section)]
    for register, value in pairs:
        for wrong in (value, {"name": "x"}, "x"):
            with pytest.raises(InvalidContributionError, match=r"expected a Prompt\w+, not"):
                register(wrong)


@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"name": 5}, "name must be a str, not 5"),
        ({"text": 5}, '"x" text must be a str or a callable that returns one, not int'),
        ({"when": True}, '"x" when must be a callable, not True'),
        ({"title": 5}, '"x" title must be a str, not 5'),
        ({"requires_tools": "read"}, "must be a list of tool names, not the str 'read'"),
    ],
)
def test_what_could_never_be_assembled_is_refused(
    cls: type[Any], fields: dict[str, Any], match: str
) -> None:
    """Wrong fields fail where the section or context is made, naming it."""
    with pytest.raises(InvalidContributionError, match=match):
        cls(**{"name": "x", "order": 1, "text": "", **fields})


@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
@pytest.mark.parametrize(
    "order", [float("nan"), float("inf"), float("-inf"), True, "1", None, 1j], ids=repr
)
def test_an_order_is_a_finite_number(cls: type[Any], order: object) -> None:
    """NaN, infinities, booleans and everything else raise, naming the section or context."""
    with pytest.raises(InvalidContributionError, match='"x" order must be a finite number, not'):
        cls(name="x", order=order, text="")


def test_a_strategy_is_one_of_two() -> None:
    """Another one is refused, naming the section."""
    strategy: Any = "never"
    match = '"x" strategy must be "when_non_empty" or "always", not \'never\''
    with pytest.raises(InvalidContributionError, match=match):
        PromptSection(name="x", order=1, text="", strategy=strategy)


def test_a_complete_section_requires_no_tools() -> None:
    """It is the whole prompt in any case, so it cannot be pruned."""
    with pytest.raises(InvalidContributionError, match='"x" is complete, so it may not have'):
        PromptSection(name="x", order=1, text="", complete=True, requires_tools=["read"])


@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
def test_the_further_fields_are_keywords(cls: type[Any]) -> None:
    """Only name, order and text may be given by position."""
    parameters = signature(cls).parameters.values()
    given = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    assert given == ["name", "order", "text"]
    assert [p.name for p in parameters if p.default is p.empty] == given
