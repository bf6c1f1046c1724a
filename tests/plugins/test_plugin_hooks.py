"""Hooks: what a plugin can implement, with which arguments, and what it gives."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, assert_type

import pytest

from dsh_prompt import (
    AssembleContext,
    AssembledSection,
    DisposableContext,
    InvalidContributionError,
    PluginConflictError,
    PluginLoadError,
    PromptAssembly,
    PromptContext,
    PromptSection,
    SystemPrompt,
    ToolProviderResult,
    ToolSchema,
    hookimpl,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from dsh_prompt import CallNext, ChangeEvent


def plugin(**hooks: Any) -> SimpleNamespace:
    """Make a plugin of functions by hook name, each marked as an implementation."""
    return SimpleNamespace(**{name: hookimpl(function) for name, function in hooks.items()})


def loaded(**hooks: Any) -> SystemPrompt:
    """Give a host that has loaded a plugin of *hooks*, as "p"."""
    prompt = SystemPrompt()
    prompt.load(plugin(**hooks), name="p")
    return prompt


def noted(calls: list[object], call: object, result: Any) -> Any:
    """Note a *call* among *calls* and give its *result*."""
    calls.append(call)
    return result


# The marker


def test_the_marker_gives_the_function_back_with_its_type() -> None:
    """With and without options, so that a type checker knows what it was."""

    def bare(ctx: DisposableContext) -> dict[str, str]:
        return {"host": str(ctx)}

    marked = hookimpl(bare)
    optioned = hookimpl(tryfirst=True, before=["audit"])(bare)
    expected: Callable[[DisposableContext], dict[str, str]] = marked
    assert_type(marked(SystemPrompt()), dict[str, str])
    assert_type(optioned(SystemPrompt()), dict[str, str])
    assert marked is optioned is bare is expected


@pytest.mark.parametrize("option", ["before", "after"])
def test_a_lone_name_to_stand_around_is_refused(option: str) -> None:
    """A ``str`` is a mistake, not a list of letters."""
    options: dict[str, Any] = {option: "audit"}
    with pytest.raises(InvalidContributionError, match=option):
        hookimpl(**options)


def test_a_marked_function_can_still_be_called() -> None:
    """Tests of a plugin need no host."""

    @hookimpl
    def contribute_variables() -> dict[str, str]:
        return {"v": "value"}

    assert contribute_variables() == {"v": "value"}


# Arguments


@pytest.mark.parametrize(
    "hook",
    [
        "activate",
        "deactivate",
        "contribute_sections",
        "contribute_contexts",
        "contribute_tools",
        "contribute_variables",
    ],
)
def test_a_hook_takes_its_context_or_nothing(hook: str) -> None:
    """As in any pluggy plugin, an implementation names the arguments that it wants."""
    calls: list[object] = []
    result: Any = {} if hook == "contribute_variables" else []
    for implementation in (
        lambda: noted(calls, None, result),
        lambda ctx: noted(calls, type(ctx.plugin.name), result),
        lambda ctx=None: noted(calls, ctx, result),
    ):
        prompt = loaded(**{hook: implementation})
        prompt.assemble()
        prompt.unload("p")
    assert calls == [None, str, None]


class Noting:
    """Notes the names of the arguments that a waterfall implementation got."""

    def __init__(self) -> None:
        self.got: dict[str, object] = {}

    def implementation(self, names: tuple[str, ...]) -> Callable[..., object]:
        arguments = ", ".join(names)
        result = "call_next()" if "call_next" in names else "None"
        source = f"lambda {arguments}: (note({arguments}), {result})[1]"

        def note(*values: object) -> None:
            self.got = dict(zip(names, values, strict=True))

        function: Callable[..., object] = eval(source, {"note": note})
        return function


@pytest.mark.parametrize(
    "names",
    [
        (),
        ("assembly",),
        ("context",),
        ("call_next",),
        ("context", "assembly"),
        ("call_next", "assembly"),
        ("assembly", "context", "call_next"),
    ],
    ids=",".join,
)
def test_a_waterfall_implementation_takes_any_of_three_arguments(names: tuple[str, ...]) -> None:
    """In any order."""
    noting = Noting()
    prompt = loaded(system_prompt_assemble=noting.implementation(names))
    context = AssembleContext()
    prompt.assemble(context)
    kinds = {name: type(value) for name, value in noting.got.items() if name != "call_next"}
    assert set(noting.got) == set(names)
    assert noting.got.get("context", context) is context
    assert kinds.get("assembly", PromptAssembly) is PromptAssembly


def test_a_change_hook_takes_the_event_or_nothing() -> None:
    """It is called for every change in every scope, that of its own load included."""
    kinds: list[str] = []
    counts: list[int] = []
    prompt = loaded(system_prompt_change=lambda event: kinds.append(event.kind))
    prompt.load(plugin(system_prompt_change=lambda: counts.append(1)), name="q")
    prompt.create_scope("agent").variable("v", "value")
    prompt.unload("q")
    prompt.unload("p")
    assert kinds == ["loaded", "loaded", "registered", "unloaded"]
    assert counts == [1, 1]


@pytest.mark.parametrize(
    ("hook", "implementation"),
    [
        ("activate", lambda context: None),
        ("contribute_sections", lambda ctx, extra: []),
        ("contribute_variables", lambda assembly: {}),
        ("system_prompt_assemble", lambda assemby: None),
        ("system_prompt_assemble", lambda ctx: None),
        ("system_prompt_change", lambda change: None),
        ("deactivate", lambda event: None),
    ],
)
def test_an_unknown_argument_is_refused_at_load(
    hook: str, implementation: Callable[..., object]
) -> None:
    """The error names plugin, hook and argument."""
    argument = list(inspect.signature(implementation).parameters)[-1]
    with pytest.raises(PluginLoadError) as caught:
        loaded(**{hook: implementation})
    for word in ("p", hook, argument):
        assert word in str(caught.value)


def test_methods_static_methods_and_class_methods_are_implementations() -> None:
    """What is bound is not counted as an argument."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("a", "method")

        @staticmethod
        @hookimpl
        def contribute_variables(ctx: DisposableContext) -> dict[str, str]:
            return {"b": "static"}

        @classmethod
        @hookimpl
        def contribute_sections(cls) -> list[PromptSection]:
            return [PromptSection(cls.__name__, 1, "")]

    prompt = SystemPrompt()
    prompt.load(Plugin())
    assembly = prompt.assemble()
    assert assembly.variables == {"a": "method", "b": "static"}
    assert assembly.sections[-1].name == "Plugin"


def test_an_implementation_may_have_another_name() -> None:
    """The option ``specname`` says which hook it is; one hook may have several."""

    class Plugin:
        @hookimpl(specname="contribute_variables")
        def some(self) -> dict[str, str]:
            return {"a": "1"}

        @hookimpl(specname="contribute_variables")
        def more(self) -> dict[str, str]:
            return {"b": "2"}

    prompt = SystemPrompt()
    prompt.load(Plugin())
    assert prompt.assemble().variables == {"a": "1", "b": "2"}


# What is refused


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("contribute_section", "contribute_sections"),
        ("activated", "activate"),
        ("system_prompt_asemble", "system_prompt_assemble"),
    ],
)
def test_an_unknown_hook_is_refused_with_the_nearest_known_one(name: str, nearest: str) -> None:
    """The plugin is not loaded, for it would not do what its author meant."""
    with pytest.raises(PluginLoadError, match=rf'"p".*"{name}"; did you mean "{nearest}"'):
        loaded(**{name: lambda ctx: None})


def test_an_unknown_hook_that_nothing_resembles_is_refused_too() -> None:
    """Without a proposal."""
    with pytest.raises(PluginLoadError, match=r'unknown hook "xyz"$'):
        loaded(xyz=lambda: None)


def test_an_optional_hook_may_be_unknown() -> None:
    """A plugin for several versions of the library marks it so."""
    optional = SimpleNamespace(from_the_future=hookimpl(optionalhook=True)(lambda ctx: None))
    assert SystemPrompt().load(optional, name="p").hooks == ()


def test_a_function_without_a_mark_is_no_implementation() -> None:
    """Whatever it is called."""
    prompt = SystemPrompt()
    prompt.load(SimpleNamespace(contribute_variables=lambda: {"v": "value"}), name="p")
    assert prompt.assemble().variables == {}


def old_style_wrapper() -> Iterator[None]:
    """Wrap the others as pluggy did of old."""
    yield


async def async_generator(assembly: PromptAssembly) -> AsyncIterator[None]:
    """Be neither a wrapper nor a middleware."""
    yield


@pytest.mark.parametrize("hook", ["activate", "system_prompt_assemble", "system_prompt_change"])
def test_an_old_style_wrapper_is_refused(hook: str) -> None:
    """The error names the new style."""
    marked = hookimpl(hookwrapper=True)  # type: ignore[call-overload]
    with pytest.raises(PluginLoadError, match=rf"{hook}.*wrapper=True"):
        SystemPrompt().load(SimpleNamespace(**{hook: marked(old_style_wrapper)}), name="p")


@pytest.mark.parametrize("hook", ["system_prompt_assemble"])
def test_an_async_generator_is_refused(hook: str) -> None:
    """The error says what to write instead."""
    with pytest.raises(PluginLoadError, match=rf"{hook}.*async generator.*call_next"):
        loaded(**{hook: async_generator})


@pytest.mark.parametrize("hook", ["activate", "contribute_sections", "system_prompt_change"])
def test_a_wrapper_is_refused_where_there_is_nothing_to_wrap(hook: str) -> None:
    """Only the waterfall is a chain."""
    marked = hookimpl(wrapper=True)(old_style_wrapper)
    with pytest.raises(PluginLoadError, match=f"{hook}.*wrapper"):
        SystemPrompt().load(SimpleNamespace(**{hook: marked}), name="p")


def test_a_wrapper_that_takes_call_next_is_refused() -> None:
    """It is around-middleware in one of two ways, not in both."""

    def both(call_next: CallNext) -> Iterator[None]:
        yield

    with pytest.raises(PluginLoadError, match="call_next"):
        SystemPrompt().load(
            SimpleNamespace(system_prompt_assemble=hookimpl(wrapper=True)(both)), name="p"
        )


@pytest.mark.parametrize(
    "hook",
    [
        "contribute_sections",
        "contribute_contexts",
        "contribute_tools",
        "contribute_variables",
        "system_prompt_change",
    ],
)
def test_an_async_implementation_is_refused_where_nothing_awaits_it(hook: str) -> None:
    """The error names the hooks that may be async."""

    async def implementation() -> None: ...

    with pytest.raises(PluginLoadError, match=rf"{hook}.*async.*activate"):
        loaded(**{hook: implementation})


def test_a_cycle_of_before_and_after_raises_a_conflict_at_load() -> None:
    """The error names the plugins; the one that would close the cycle is not loaded."""

    class Plugin:
        def __init__(self, other: str) -> None:
            self.system_prompt_assemble = hookimpl(before=[other])(lambda assembly: None)

    prompt = SystemPrompt()
    prompt.load(Plugin("b"), name="a")
    with pytest.raises(PluginConflictError, match=r"a.*b"):
        prompt.load(Plugin("a"), name="b")


def test_a_cycle_of_before_and_after_leaves_the_host_working() -> None:
    """The plugin that would close it is not loaded, the others go on."""
    prompt = SystemPrompt()
    order: list[str] = []

    def load(name: str, other: str) -> None:
        hook = hookimpl(before=[other])(lambda assembly: order.append(name))
        prompt.load(SimpleNamespace(system_prompt_assemble=hook), name=name)

    load("a", "b")
    with pytest.raises((PluginLoadError, PluginConflictError), match="cycle"):
        load("b", "a")
    load("c", "a")
    prompt.assemble()
    assert order == ["c", "a"]


def test_a_cycle_of_before_and_after_ends_with_one_of_its_plugins() -> None:
    """What was refused before is loaded then."""
    prompt = SystemPrompt()

    def load(name: str, other: str) -> None:
        hook = hookimpl(before=[other])(lambda assembly: None)
        prompt.load(SimpleNamespace(system_prompt_assemble=hook), name=name)

    load("a", "b")
    with pytest.raises((PluginLoadError, PluginConflictError), match="cycle"):
        load("b", "a")
    prompt.unload("a")
    load("b", "a")
    assert [info.name for info in prompt.plugins] == ["b"]


# What the hooks give


def test_sections_and_contexts_are_contributed_as_any_iterable() -> None:
    """A list, a tuple, a generator."""
    section, context = PromptSection("s", 1, "section"), PromptContext("c", 1, "context")
    for wrap in (list, tuple, iter):
        prompt = loaded(
            contribute_sections=lambda wrap=wrap: wrap([section]),
            contribute_contexts=lambda wrap=wrap: wrap([context]),
        )
        assembly = prompt.assemble()
        assert render_prompt(assembly).endswith("section")
        assert render_context_snapshot(assembly).endswith("context")


def test_contributions_may_be_generators() -> None:
    """A hook that yields its contributions is no wrapper."""

    class Plugin:
        @hookimpl
        def contribute_sections(self) -> Iterator[PromptSection]:
            yield PromptSection("a", 1, "")
            yield PromptSection("b", 2, "")

    prompt = SystemPrompt()
    prompt.load(Plugin())
    assert [section.name for section in prompt.assemble().sections[2:]] == ["a", "b"]


READ = ToolSchema("read", "", {})


@pytest.mark.parametrize(
    ("tools", "registered"),
    [
        ([READ], True),
        ([{"name": "read"}], True),
        ((tool for tool in [READ]), True),
        (lambda: [READ], False),
        (lambda context: ToolProviderResult([READ]), False),
        (ToolProviderResult([READ], ["other"]), False),
    ],
    ids=["schemas", "dicts", "generator", "provider", "with context", "result"],
)
def test_tools_are_contributed_as_schemas_or_a_provider(tools: Any, *, registered: bool) -> None:
    """Schemas go into the registry, a callable stays a provider."""
    prompt = loaded(contribute_tools=lambda: tools)
    assert [tool.name for tool in prompt.assemble().tools] == ["read"]
    assert bool(prompt.registry.schemas()) is registered
    prompt.unload("p")
    assert prompt.assemble().tools == []


def test_variables_are_contributed_as_a_mapping_of_constants_and_providers() -> None:
    """A provider gets the context if it asks for it."""
    prompt = loaded(
        contribute_variables=lambda: {
            "constant": "a",
            "provided": lambda: "b",
            "scope": lambda context: str(context.scope),
        }
    )
    assert prompt.assemble().variables == {"constant": "a", "provided": "b", "scope": "None"}


def test_contributions_follow_activation() -> None:
    """So that `activate` can prepare what they need."""
    order: list[object] = []

    def note(name: str, result: Any) -> Callable[[], Any]:
        return lambda: noted(order, name, result)

    loaded(
        contribute_variables=note("variables", {}),
        contribute_tools=note("tools", []),
        contribute_contexts=note("contexts", []),
        contribute_sections=note("sections", []),
        activate=note("activate", None),
    )
    assert order == ["activate", "sections", "contexts", "tools", "variables"]


def test_contributing_hooks_are_called_once_per_load() -> None:
    """Not per assembly: what changes is a provider's business."""
    calls: list[int] = []

    def contribute() -> list[PromptSection]:
        calls.append(1)
        return []

    prompt = loaded(contribute_sections=contribute)
    prompt.assemble()
    prompt.assemble()
    assert calls == [1]


@pytest.mark.parametrize(
    ("hook", "result"),
    [
        ("contribute_sections", None),
        ("contribute_sections", "rules"),
        ("contribute_sections", [{"name": "rules"}]),
        ("contribute_sections", PromptSection("s", 1, "")),
        ("contribute_sections", [PromptContext("c", 1, "")]),
        ("contribute_contexts", [PromptSection("s", 1, "")]),
        ("contribute_contexts", None),
        ("contribute_tools", None),
        ("contribute_tools", READ),
        ("contribute_tools", "read"),
        ("contribute_tools", [5]),
        ("contribute_variables", None),
        ("contribute_variables", [("a", "b")]),
        ("contribute_variables", {"Bad": "b"}),
        ("contribute_variables", {"a": 5}),
    ],
)
def test_a_result_of_the_wrong_type_fails_the_load(hook: str, result: object) -> None:
    """It is contained like any other failure."""
    with pytest.raises(PluginLoadError, match='"p"'):
        loaded(**{hook: lambda: result})


def test_what_a_plugin_contributes_carries_its_name() -> None:
    """Of sections, contexts, tools, variables and what its listener adds."""
    prompt = loaded(
        contribute_sections=lambda: [PromptSection("s", 1, "")],
        contribute_contexts=lambda: [PromptContext("c", 1, "")],
        contribute_tools=lambda: [READ],
        contribute_variables=lambda: {"v": ""},
        system_prompt_assemble=lambda assembly: assembly.sections.append(AssembledSection("h", "")),
    )
    assembly = prompt.assemble()
    named: list[tuple[Any, str]] = [("section", "s"), ("context", "c"), ("tool", "read")]
    for kind, name in [*named, ("variable", "v"), ("section", "h")]:
        source = assembly.source_of(kind, name)
        assert source is not None
        assert (source.plugin, source.how == "waterfall") == ("p", name == "h")


# Order in the waterfall


def test_implementations_run_in_load_order_with_first_and_last_ones_around() -> None:
    """The latest ``tryfirst`` comes first, ``trylast`` ones stay in load order."""
    prompt = SystemPrompt()
    order: list[str] = []
    first, last = {"tryfirst": True}, {"trylast": True}
    marks: dict[str, Any] = {"l1": last, "a": {}, "f1": first, "b": {}, "l2": last, "f2": first}
    for name, options in marks.items():
        hook = hookimpl(**options)(lambda assembly, name=name: order.append(name))
        prompt.load(SimpleNamespace(system_prompt_assemble=hook), name=name)
    prompt.assemble()
    assert order == ["f2", "f1", "a", "b", "l1", "l2"]


def test_an_implementation_can_stand_before_and_after_plugins_by_name() -> None:
    """Names that are not loaded are ignored."""
    prompt = SystemPrompt()
    order: list[str] = []
    marks: dict[str, Any] = {
        "a": {"after": ("c", "nobody")},
        "b": {},
        "c": {},
        "d": {"before": ["b"]},
    }
    for name, options in marks.items():
        hook = hookimpl(**options)(lambda assembly, name=name: order.append(name))
        prompt.load(SimpleNamespace(system_prompt_assemble=hook), name=name)
    prompt.assemble()
    assert order == ["d", "b", "c", "a"]


def test_a_wrapper_stands_outside_the_others() -> None:
    """The last one loaded is the outermost."""
    prompt = SystemPrompt()
    order: list[str] = []

    def wrapper(name: str) -> SimpleNamespace:
        @hookimpl(wrapper=True)
        def around() -> Iterator[None]:
            order.append(f"{name} in")
            result = yield
            order.append(f"{name} out")
            return result

        return SimpleNamespace(system_prompt_assemble=around)

    prompt.load(wrapper("inner"), name="inner")
    prompt.load(wrapper("outer"), name="outer")
    prompt.load(plugin(system_prompt_assemble=lambda assembly: order.append("plain")), name="p")
    prompt.assemble()
    assert order == ["outer in", "inner in", "plain", "inner out", "outer out"]


def test_an_unloaded_plugin_s_hooks_do_not_run() -> None:
    """Neither the waterfall's nor the change hook."""
    calls: list[str] = []

    def change(event: ChangeEvent) -> None:
        calls.append(event.kind)

    prompt = loaded(
        system_prompt_assemble=lambda assembly: calls.append("assembled"),
        system_prompt_change=change,
    )
    prompt.assemble()
    prompt.unload("p")
    prompt.assemble()
    prompt.variable("v", "value")
    assert calls == ["loaded", "assembled"]
