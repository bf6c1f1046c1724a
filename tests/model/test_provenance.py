"""Where each part of an assembly came from."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    PromptAssembly,
    Source,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from dsh_prompt import CallNext, DisposableContext

    Edit = Callable[[PromptAssembly], object]

KINDS = ("section", "context", "tool", "variable")


def contribute(ctx: DisposableContext) -> None:
    """Contribute an "x" of every kind."""
    ctx.section(name="x", order=1, text="text")
    ctx.context(name="x", order=1, text="text")
    ctx.tool({"name": "x"})
    ctx.variable("x", "text")


class Contributor:
    """A plugin that contributes an "x" of every kind."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        contribute(ctx)


def sources(assembly: PromptAssembly, name: str = "x") -> list[Source | None]:
    """Give the source of each kind's *name*."""
    return [assembly.source_of(kind, name) for kind in KINDS]  # type: ignore[arg-type]


def add_everything(assembly: PromptAssembly) -> None:
    """Add an "x" of every kind to an assembly."""
    assembly.sections.append(AssembledSection("x", ""))
    assembly.contexts.append(AssembledContext("x", ""))
    assembly.tools.append(ToolSchema("x", "", {}))
    assembly.variables["x"] = "text"


def editing(edit: Edit) -> object:
    """Make a plugin whose listener runs *edit*."""

    class Plugin:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            edit(assembly)

    return Plugin()


# Contributed


def test_what_the_host_contributes_has_no_plugin() -> None:
    """Its sources say so, and that it was contributed."""
    prompt = SystemPrompt()
    contribute(prompt)
    assembly = prompt.assemble()
    assert sources(assembly) == [Source()] * 4
    assert assembly.source_of("section", "harness:identity") == Source(how="contributed")


def test_what_a_plugin_contributes_names_it() -> None:
    """A plugin that is no installed distribution has neither distribution nor version."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")
    assert sources(prompt.assemble()) == [Source("git", None, None, None, "contributed")] * 4


def test_what_a_scope_contributes_names_it() -> None:
    """By the scope's name, plugin or not; what it inherits keeps its own source."""
    prompt = SystemPrompt()
    scope, other = prompt.create_scope("agent-1"), prompt.create_scope("agent-2")
    contribute(scope)
    prompt.load(Contributor(), name="git", scope=other)
    assert sources(prompt.assemble(scope=scope)) == [Source(scope="agent-1")] * 4
    assert sources(prompt.assemble(scope=other)) == [Source("git", scope="agent-2")] * 4
    child = prompt.create_scope("child", parent=other)
    assert sources(prompt.assemble(scope=child)) == [Source("git", scope="agent-2")] * 4


def test_what_an_installed_plugin_contributes_names_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the version that was loaded; the hooks' results and what activate registers alike."""
    (tmp_path / "installed_for_provenance.py").write_text(
        "from dsh_prompt import PromptSection, hookimpl\n\n\n@hookimpl\n"
        "def contribute_sections():\n    return [PromptSection('x', 1, 'text')]\n"
    )
    info = tmp_path / "some_dist-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-dist\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[dsh_prompt]\nsome = installed_for_provenance\n")
    monkeypatch.syspath_prepend(tmp_path)
    prompt = SystemPrompt()
    prompt.load("some")
    source = prompt.assemble().source_of("section", "x")
    assert source == Source("some", "some-dist", "1.2", None, "contributed")
    assert source.owner == 'plugin "some" (some-dist 1.2)'
    prompt.unload("some", purge=True)


def test_tools_name_whoever_provides_them() -> None:
    """Each provider of a layer its own, and the registry's tools who registered them."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")

    class Provider:
        @hookimpl
        def contribute_tools(self) -> Any:
            return lambda: [{"name": "b"}]

    prompt.tools(lambda: [{"name": "a"}])
    prompt.load(Provider(), name="provider")
    scope.tools([{"name": "c"}])
    assembly = prompt.assemble(scope=scope)
    found = [assembly.source_of("tool", name) for name in "abc"]
    assert found == [Source(), Source("provider"), Source(scope="agent")]


@pytest.mark.parametrize(
    ("source", "owner"),
    [
        (Source(), "the host"),
        (Source(scope="a"), 'the host in scope "a"'),
        (Source("git"), 'plugin "git"'),
        (Source("git", scope="a"), 'plugin "git" (in scope "a")'),
        (Source("git", "dist", "1.0"), 'plugin "git" (dist 1.0)'),
        (Source("git", "dist", "1.0", "a"), 'plugin "git" (dist 1.0, in scope "a")'),
    ],
)
def test_a_source_names_its_owner(source: Source, owner: str) -> None:
    """As error messages do."""
    assert source.owner == owner


def test_a_source_is_an_immutable_value() -> None:
    """Sources compare by what they say, and give it as JSON."""
    source = Source("git", "dist", "1.0", "agent", "waterfall")
    assert source == Source(**source.to_dict())
    assert list(source.to_dict()) == ["plugin", "distribution", "version", "scope", "how"]
    with pytest.raises(AttributeError):
        source.plugin = "other"  # type: ignore[misc]


# From the waterfall


def test_what_a_listener_adds_is_its_own() -> None:
    """It came by the waterfall, from the plugin and scope of the listener."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(editing(add_everything), name="editor", scope=scope)
    expected = Source("editor", scope="agent", how="waterfall")
    assert sources(prompt.assemble(scope=scope)) == [expected] * 4


def test_each_listener_owns_what_it_added() -> None:
    """In a chain of several, before and after the rest of the chain, wrappers included."""
    prompt = SystemPrompt()

    def adds(assembly: PromptAssembly, name: str) -> None:
        assembly.sections.append(AssembledSection(name, ""))
        assembly.variables[name] = ""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(
            self, assembly: PromptAssembly
        ) -> Generator[None, PromptAssembly, PromptAssembly]:
            adds(assembly, "a")
            result = yield
            adds(result, "e")
            return result

    class Middleware:
        @hookimpl
        def system_prompt_assemble(
            self, assembly: PromptAssembly, call_next: CallNext
        ) -> PromptAssembly:
            adds(assembly, "b")
            result = call_next()
            adds(result, "d")
            return result

    prompt.load(Wrapper(), name="wrapper")
    prompt.load(Middleware(), name="middleware")
    prompt.load(editing(lambda assembly: adds(assembly, "c")), name="plain")
    assembly = prompt.assemble()
    for kind in ("section", "variable"):
        found = [assembly.source_of(kind, name) for name in "abcde"]
        owners = [source and source.plugin for source in found]
        assert owners == ["wrapper", "middleware", "plain", "middleware", "wrapper"]


def test_what_a_listener_leaves_alone_keeps_its_source() -> None:
    """Sorting, removing and assigning the lists anew is not adding."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")

    def shuffle(assembly: PromptAssembly) -> None:
        assembly.sections = assembly.sections[::-1]
        assembly.contexts = [context for context in assembly.contexts if context.name]
        assembly.tools.sort(key=lambda tool: tool.description)
        assembly.variables = dict(assembly.variables)

    prompt.load(editing(shuffle), name="editor")
    assert sources(prompt.assemble()) == [Source("git")] * 4


def test_a_section_with_another_text_is_still_its_contributors() -> None:
    """Editing is not adding; replacing by a new object is."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")

    def edit(assembly: PromptAssembly) -> None:
        assembly.sections[-1].text = "edited"
        assembly.contexts[-1] = AssembledContext("x", "replaced")

    prompt.load(editing(edit), name="editor")
    assembly = prompt.assemble()
    assert assembly.source_of("section", "x") == Source("git")
    assert assembly.source_of("context", "x") == Source("editor", how="waterfall")


def test_an_evolved_tool_and_a_changed_variable_are_the_listeners() -> None:
    """Both are values, so a change is a new one."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")

    def edit(assembly: PromptAssembly) -> None:
        assembly.tools = [tool.evolve(description="narrowed") for tool in assembly.tools]
        assembly.variables["x"] = "changed"

    prompt.load(editing(edit), name="editor")
    assembly = prompt.assemble()
    editor = Source("editor", how="waterfall")
    assert [assembly.source_of("tool", "x"), assembly.source_of("variable", "x")] == [editor] * 2


def test_a_variable_that_is_set_to_the_same_value_keeps_its_source() -> None:
    """Nothing was changed."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")
    prompt.load(editing(lambda assembly: assembly.variables.update(x="text")), name="editor")
    assert prompt.assemble().source_of("variable", "x") == Source("git")


def test_a_source_that_a_listener_gives_is_kept() -> None:
    """Who adds on behalf of somebody else may say so."""
    prompt = SystemPrompt()
    source = Source("somebody", how="waterfall")
    section = AssembledSection("x", "", source=source)
    prompt.load(editing(lambda assembly: assembly.sections.append(section)), name="editor")
    assert prompt.assemble().source_of("section", "x") == source


def test_sources_carry_over_to_a_returned_assembly() -> None:
    """What it has from the one before keeps its source; what is new is the listener's."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")

    class Replacer:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> PromptAssembly:
            new = [*assembly.tools, ToolSchema("new", "", {})]
            variables = {**assembly.variables, "new": ""}
            return PromptAssembly(assembly.sections, assembly.contexts, new, variables)

    prompt.load(Replacer(), name="replacer")
    assembly = prompt.assemble()
    assert sources(assembly) == [Source("git")] * 4
    assert assembly.source_of("tool", "new") == Source("replacer", how="waterfall")
    assert assembly.source_of("variable", "new") == Source("replacer", how="waterfall")


def test_sources_carry_over_to_the_assembly_that_the_rest_is_given() -> None:
    """``call_next(other)`` is no different."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")

    class Middleware:
        @hookimpl
        def system_prompt_assemble(
            self, assembly: PromptAssembly, call_next: CallNext
        ) -> PromptAssembly:
            return call_next(PromptAssembly(tools=[*assembly.tools, ToolSchema("new", "", {})]))

    prompt.load(Middleware(), name="middleware")
    assembly = prompt.assemble()
    assert assembly.source_of("tool", "x") == Source("git")
    assert assembly.source_of("tool", "new") == Source("middleware", how="waterfall")


def test_the_generation_carries_over_to_a_returned_assembly() -> None:
    """It was made from the same state of the host."""
    prompt = SystemPrompt()
    prompt.on_assemble(lambda: PromptAssembly())  # noqa: PLW0108 - a class has other arguments
    generation = prompt.assemble().generation
    prompt.variable("x", "")
    assert generation is not None
    assert prompt.assemble().generation == generation + 1


# What is asked for


def test_a_part_that_is_not_there_has_no_source() -> None:
    """Asking for it raises a KeyError, for another kind a ValueError."""
    assembly = SystemPrompt().assemble()
    for kind in KINDS:
        with pytest.raises(KeyError, match=f'no {kind} "x" in this assembly'):
            assembly.source_of(kind, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 'sections'"):
        assembly.source_of("sections", "x")  # type: ignore[arg-type]


def test_an_assembly_made_by_hand_has_no_sources() -> None:
    """Nobody said where its parts came from."""
    assembly = PromptAssembly()
    add_everything(assembly)
    assert sources(assembly) == [None] * 4


def test_asking_for_a_source_does_not_disturb_the_assembly() -> None:
    """A caller may edit the result afterwards."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")
    assembly = prompt.assemble()
    assert sources(assembly) == [Source("git")] * 4
    assembly.sections.append(AssembledSection("mine", ""))
    assembly.tools.append(ToolSchema("mine", "", {}))
    assert assembly.source_of("section", "mine") is assembly.source_of("tool", "mine") is None
    assert sources(assembly) == [Source("git")] * 4


# Less simple cases


@pytest.mark.parametrize("kind", ["section", "tool", "variable"])
def test_what_middleware_adds_to_a_list_it_held_is_its_own(kind: Any) -> None:
    """Also after the rest, through lists that it got hold of before it called the rest."""

    class Middleware:
        @hookimpl
        def system_prompt_assemble(
            self, assembly: PromptAssembly, call_next: CallNext
        ) -> PromptAssembly:
            sections, tools, variables = assembly.sections, assembly.tools, assembly.variables
            result = call_next()
            sections.append(AssembledSection("x", ""))
            tools.append(ToolSchema("x", "", {}))
            variables["x"] = ""
            return result

    prompt = SystemPrompt()
    prompt.load(Middleware(), name="middleware")
    source = prompt.assemble().source_of(kind, "x")
    assert source == Source("middleware", how="waterfall")


def test_one_schema_of_two_plugins_has_two_sources() -> None:
    """Two providers may share a schema; each entry of the list names its own."""
    schema = ToolSchema("x", "", {})

    class Provider:
        @hookimpl
        def contribute_tools(self) -> Any:
            return lambda: [schema]

    prompt = SystemPrompt()
    prompt.load(Provider(), name="one")
    prompt.load(Provider(), name="two")
    tools = prompt.assemble().to_dict()["tools"]
    assert [tool["source"]["plugin"] for tool in tools] == ["one", "two"]


def test_a_deep_copy_of_an_assembly_keeps_its_sources() -> None:
    """A listener that works on a copy has added nothing."""
    prompt = SystemPrompt()
    prompt.load(Contributor(), name="git")
    prompt.load(editing(lambda assembly: assembly.tools.reverse()), name="editor")

    class Copier:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> PromptAssembly:
            return copy.deepcopy(assembly)

    prompt.load(Copier(), name="copier")
    assert sources(prompt.assemble()) == [Source("git")] * 4


def test_what_middleware_adds_to_an_assembly_it_made_is_its_own() -> None:
    """Also after the rest, through a list of the assembly that it gave to the rest."""

    class Middleware:
        @hookimpl
        def system_prompt_assemble(self, call_next: CallNext) -> PromptAssembly:
            other = PromptAssembly()
            sections = other.sections
            result = call_next(other)
            sections.append(AssembledSection("x", ""))
            return result

    prompt = SystemPrompt()
    prompt.load(Middleware(), name="middleware")
    source = prompt.assemble().source_of("section", "x")
    assert source == Source("middleware", how="waterfall")


def test_what_a_listener_edited_once_does_not_make_a_section_changing() -> None:
    """Cacheable is a matter of what was contributed, whoever rendered what before."""
    prompt = SystemPrompt()
    prompt.section(name="rules", order=10, text="static")
    prompt.variable("dynamic", lambda: "value")
    edited = prompt.on_assemble(
        lambda assembly: setattr(assembly.sections[-1], "text", "{{dynamic}}")
    )
    render_prompt(prompt.assemble())
    edited.dispose()
    assert prompt.assemble().sections[-1].cacheable


def test_rendered_values_of_an_unloaded_plugin_are_garbage() -> None:
    """Neither the texts nor the values that it gave are kept anywhere."""

    class Text(str):
        __slots__ = ("__weakref__",)

    class Plugin:
        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            value = Text("secret")
            references.append(weakref.ref(value))
            return {"secret": value}

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.sections[0].text = edit = Text("edited")
            references.append(weakref.ref(edit))

    references: list[weakref.ref[Text]] = []
    prompt = SystemPrompt()
    prompt.section(name="host", order=10, text="{{secret}}")
    prompt.load(Plugin())
    render_prompt(prompt.assemble())
    prompt.unload("Plugin")
    gc.collect()
    assert [reference() for reference in references] == [None, None]
