"""The guard: what must be true of a finished assembly, and who is told of when it is not."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    Config,
    InvalidContributionError,
    InvariantError,
    PromptAssembly,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import CallNext, DisposableContext

every_block = pytest.mark.parametrize("block", ["section", "context"])
ITEMS: dict[str, type[Any]] = {"section": AssembledSection, "context": AssembledContext}


def with_listener(
    edit: Callable[[PromptAssembly], object], prompt: SystemPrompt | None = None
) -> SystemPrompt:
    """Load a plugin named "editor" whose listener runs *edit*."""

    class Plugin:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            edit(assembly)

    prompt = prompt or SystemPrompt(Config(include_harness_identity=False))
    prompt.load(Plugin(), name="editor")
    return prompt


def blocks(assembly: PromptAssembly, block: str) -> list[Any]:
    """Give the list of sections or contexts itself."""
    lists: dict[str, list[Any]] = {"section": assembly.sections, "context": assembly.contexts}
    return lists[block]


def with_block(block: str, **fields: Any) -> SystemPrompt:
    """Make a host to which a plugin named "contributor" has contributed one section or context."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            register: Callable[..., object] = getattr(ctx, block)
            register(**{"name": "x", "order": 1, "text": "text", **fields})

    prompt = SystemPrompt(Config(include_harness_identity=False))
    prompt.load(Plugin(), name="contributor")
    return prompt


# Of what was contributed


@every_block
@pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])
def test_an_empty_name_is_caught(block: str, way: str) -> None:
    """It may be registered, and fails the assembly, naming the contributor."""
    prompt = with_block(block, name="")
    match = f'^assembled {block} names must be non-empty; it came from plugin "contributor"$'
    in_loop = partial(anyio.run, prompt.assemble_async, backend=way)
    with pytest.raises(InvariantError, match=match):
        _ = prompt.assemble() if way == "sync" else in_loop()


def test_an_empty_tool_name_is_caught() -> None:
    """Tools need names as well."""
    prompt = SystemPrompt()
    prompt.tools(lambda: [{"name": ""}])
    match = "^assembled tool names must be non-empty; it came from the host$"
    with pytest.raises(InvariantError, match=match):
        prompt.assemble()


@every_block
def test_the_guard_looks_at_what_is_left_in_the_end(block: str) -> None:
    """What a listener repairs, or pruning drops, is no breach."""
    prompt = with_block(block, name="")

    def repair(assembly: PromptAssembly) -> None:
        blocks(assembly, block)[-1].name = "repaired"

    with_listener(repair, prompt)
    assert blocks(prompt.assemble(), block)[-1].name == "repaired"
    dropped = with_block(block, name="", requires_tools=["missing"])
    assert "" not in [item.name for item in blocks(dropped.assemble(), block)]


def test_an_assembly_without_any_breach_is_untouched() -> None:
    """Equal tool names, variables without a value and empty texts are all fine."""
    prompt = SystemPrompt()
    prompt.tools(lambda: [{"name": "x"}, {"name": "x"}])
    prompt.variable("x", None)
    prompt.section(name="x", order=1, text="")
    prompt.context(name="x", order=1, text="")
    assert len(prompt.assemble().tools) == 2


# Of what a listener put there


@every_block
@pytest.mark.parametrize(
    ("fields", "match"),
    [
        (("", "text"), "names must be non-empty"),
        ((5, "text"), "names must be non-empty"),
        ((None, "text"), "names must be non-empty"),
        (("new", 5), '"new" text must be a string'),
        (("new", None), '"new" text must be a string'),
        (("x", "text"), 'name "x" is duplicated'),
    ],
)
def test_a_bad_block_of_a_listener_is_caught(
    block: str, fields: tuple[Any, Any], match: str
) -> None:
    """The error names what is wrong, and the listener's plugin."""
    prompt = with_block(block)
    with_listener(lambda assembly: blocks(assembly, block).append(ITEMS[block](*fields)), prompt)
    match = f'^assembled {block} {match}; it came from plugin "editor"$'
    with pytest.raises(InvariantError, match=match):
        prompt.assemble()


@every_block
@pytest.mark.parametrize("front", [True, False])
def test_a_duplicate_is_blamed_on_the_listener_wherever_it_stands(
    block: str, *, front: bool
) -> None:
    """The one that was contributed is not the newcomer."""
    prompt = with_block(block)

    def add(assembly: PromptAssembly) -> None:
        items = blocks(assembly, block)
        items.insert(0 if front else len(items), ITEMS[block]("x", "text"))

    with_listener(add, prompt)
    with pytest.raises(InvariantError, match='"x" is duplicated; it came from plugin "editor"'):
        prompt.assemble()


@every_block
@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("text", 5, '"x" text must be a string'),
        ("text", None, '"x" text must be a string'),
        ("name", "", "names must be non-empty"),
        ("name", 5, "names must be non-empty"),
    ],
)
def test_a_contributed_block_that_a_listener_spoils_is_the_listeners_fault(
    block: str, field: str, value: object, match: str
) -> None:
    """The contributor, though still its source, is not blamed."""
    prompt = with_block(block)
    with_listener(lambda assembly: setattr(blocks(assembly, block)[-1], field, value), prompt)
    with pytest.raises(InvariantError, match=f'{match}; it came from plugin "editor"'):
        prompt.assemble()


@every_block
def test_a_block_of_another_type_is_caught(block: str) -> None:
    """Only assembled sections and contexts stand in their lists."""
    other = ITEMS["context" if block == "section" else "section"]("x", "text")
    for item in (None, "text", {"name": "x"}, other, SimpleNamespace(name="x", text="")):

        def add(assembly: PromptAssembly, item: object = item) -> None:
            blocks(assembly, block).append(item)

        prompt = with_listener(add)
        match = rf'assembled {block} .* must be an Assembled\w+; it came from plugin "editor"$'
        with pytest.raises(InvariantError, match=match):
            prompt.assemble()


@pytest.mark.parametrize("tool", [{"name": "read"}, "read", None, SimpleNamespace(name="read")])
def test_a_tool_of_another_type_is_caught(tool: Any) -> None:
    """A dict, which registering takes, is not a schema here."""
    prompt = with_listener(lambda assembly: assembly.tools.append(tool))
    match = 'assembled tool .* must be a ToolSchema; it came from plugin "editor"$'
    with pytest.raises(InvariantError, match=match):
        prompt.assemble()


def test_a_tool_that_a_listener_makes_nameless_is_its_fault() -> None:
    """The evolved tool is the listener's."""
    prompt = SystemPrompt()
    prompt.tool({"name": "read"})

    def edit(assembly: PromptAssembly) -> None:
        assembly.tools[0] = assembly.tools[0].evolve(name="")

    with_listener(edit, prompt)
    match = 'assembled tool names must be non-empty; it came from plugin "editor"'
    with pytest.raises(InvariantError, match=match):
        prompt.assemble()


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("Bad", "", 'variable name "Bad" is invalid'),
        ("x\n", "", 'variable name "x\n" is invalid'),
        ("", "", 'variable name "" is invalid'),
        (5, "", 'variable name "5" is invalid'),
        ("x", 5, 'variable "x" must be a string or undefined'),
        ("new", b"", 'variable "new" must be a string or undefined'),
    ],
)
def test_a_bad_variable_of_a_listener_is_caught(name: Any, value: Any, match: str) -> None:
    """Names are valid, values are texts or None."""
    prompt = SystemPrompt()
    prompt.variable("x", "text")
    with_listener(lambda assembly: assembly.variables.update({name: value}), prompt)
    with pytest.raises(InvariantError, match=f'^assembled {match}; it came from plugin "editor"$'):
        prompt.assemble()


def test_a_bad_part_of_a_returned_assembly_is_caught() -> None:
    """The listener that returned it is named."""

    class Plugin:
        @hookimpl
        def system_prompt_assemble(self) -> PromptAssembly:
            text: Any = 5
            return PromptAssembly([AssembledSection("x", text)])

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="editor")
    match = '"x" text must be a string; it came from plugin "editor"'
    with pytest.raises(InvariantError, match=match):
        prompt.assemble()


@pytest.mark.parametrize("attribute", ["sections", "contexts", "tools"])
def test_an_assigned_text_is_caught_as_its_letters(attribute: str) -> None:
    """Whatever is iterable may be assigned; what it holds is checked."""
    prompt = with_listener(lambda assembly: setattr(assembly, attribute, "ab"))
    with pytest.raises(InvariantError, match=r"of type str must be an? .* from plugin \"editor\""):
        prompt.assemble()


def test_a_listener_of_a_scope_is_named_with_its_scope() -> None:
    """The owner says which of several copies of a plugin it was."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent-1")
    scope.on_assemble(lambda assembly: assembly.sections.append(AssembledSection("", "")))
    with pytest.raises(InvariantError, match='it came from the host in scope "agent-1"'):
        prompt.assemble(scope=scope)


# Whose fault it is, in less simple cases


@every_block
def test_a_block_that_a_listener_renames_to_a_taken_name_is_its_fault(block: str) -> None:
    """Both were contributed; the listener made them clash."""
    prompt = with_block(block)
    getattr(prompt, block)(name="y", order=2, text="")
    with_listener(lambda assembly: setattr(blocks(assembly, block)[-1], "name", "x"), prompt)
    with pytest.raises(InvariantError, match='"x" is duplicated; it came from plugin "editor"'):
        prompt.assemble()


@every_block
def test_a_block_that_a_listener_lists_twice_is_its_fault(block: str) -> None:
    """It was contributed once."""
    prompt = with_block(block)
    with_listener(lambda assembly: blocks(assembly, block).extend(blocks(assembly, block)), prompt)
    with pytest.raises(InvariantError, match='is duplicated; it came from plugin "editor"'):
        prompt.assemble()


def test_who_spoils_what_was_repaired_is_named() -> None:
    """A fault that is mended is forgotten."""
    prompt = with_block("section")
    values: list[Any] = [5, "mended", 6]
    for number, value in enumerate(values):

        class Plugin:
            value: Any

            @hookimpl
            def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
                assembly.sections[-1].text = self.value

        plugin = Plugin()
        plugin.value = value
        prompt.load(plugin, name=f"editor-{number}")
    with pytest.raises(InvariantError, match='it came from plugin "editor-2"'):
        prompt.assemble()


@pytest.mark.parametrize("part", ["section", "edit", "tool", "variable"])
def test_an_edit_after_the_rest_is_the_middlewares_fault(part: str) -> None:
    """Also through a list that middleware got hold of before it called the rest."""

    class Plugin:
        @hookimpl
        def system_prompt_assemble(
            self, assembly: PromptAssembly, call_next: CallNext
        ) -> PromptAssembly:
            sections, tools, variables = assembly.sections, assembly.tools, assembly.variables
            result = call_next()
            anything: Any = 5
            if part == "section":
                sections.append(AssembledSection("", ""))
            elif part == "edit":
                sections[-1].text = anything
            elif part == "tool":
                tools.append(anything)
            else:
                variables["x"] = anything
            return result

    prompt = with_block("section")
    prompt.load(Plugin(), name="editor")
    with pytest.raises(InvariantError, match='it came from plugin "editor"'):
        prompt.assemble()


@pytest.mark.parametrize(
    ("field", "value"), [("title", 5), ("order", "1"), ("literal", "no"), ("cacheable", None)]
)
def test_the_other_fields_are_of_their_declared_types(field: str, value: object) -> None:
    """A title that is no text, an order that is no number, and the like are breaches too."""
    prompt = with_block("section")
    with_listener(lambda assembly: setattr(assembly.sections[-1], field, value), prompt)
    with pytest.raises(InvariantError, match=f'"x" {field} must be'):
        prompt.assemble()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda assembly: assembly.tools.append(SimpleNamespace(name=[])),
        lambda assembly: assembly.sections.append(SimpleNamespace(requires_tools=5)),
        lambda assembly: assembly.sections.append(("name", "text")),
    ],
)
def test_what_is_of_no_type_at_all_reaches_the_guard(spoil: Any) -> None:
    """Nothing before it trips over a listener's foreign objects."""
    prompt = with_block("section")
    prompt.section(name="needs", order=2, text="", requires_tools=["read"])
    with_listener(spoil, prompt)
    with pytest.raises(InvariantError, match='plugin "editor"'):
        prompt.assemble()


@pytest.mark.parametrize("tools", [5, [5], [["read"]]])
def test_requires_tools_are_names(tools: Any) -> None:
    """Anything else is refused when it is registered."""
    with pytest.raises(InvalidContributionError, match="list of tool names"):
        SystemPrompt().section(name="x", order=1, text="", requires_tools=tools)
