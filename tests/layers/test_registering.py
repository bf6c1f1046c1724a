"""Registering: what a host, a scope and a plugin's context take, and what they refuse."""

from __future__ import annotations

import functools
import json
import math
import threading
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    IDENTITY_SECTION,
    PERSONA_SECTION,
    AssembleContext,
    AssembledSection,
    Config,
    DisposableContext,
    DuplicateContributionError,
    InvalidContributionError,
    InvariantError,
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
    from collections.abc import Callable, Iterable, Iterator

    from dsh_prompt import Registration, Scope

#: One registration of every kind.
KINDS: dict[str, Callable[[DisposableContext], Registration]] = {
    "section": lambda ctx: ctx.section(name="x", order=1, text="text"),
    "context": lambda ctx: ctx.context(name="x", order=1, text="text"),
    "tools": lambda ctx: ctx.tools(lambda: [ToolSchema("x", "", {})]),
    "tool": lambda ctx: ctx.tool(ToolSchema("x", "", {})),
    "variable": lambda ctx: ctx.variable("x", "value"),
    "suppressor": lambda ctx: ctx.suppress_runtime_context(),
    "listener": lambda ctx: ctx.on_assemble(add_a_section),
}
NAMED = ("section", "context", "tool", "variable")

every_kind = pytest.mark.parametrize("register", KINDS.values(), ids=KINDS)
named_kinds = pytest.mark.parametrize("kind", NAMED)


def add_a_section(assembly: PromptAssembly) -> None:
    """Listen to the waterfall, visibly."""
    assembly.sections.append(AssembledSection("listener", "was here"))


def told(prompt: SystemPrompt, scope: Scope | None = None) -> tuple[str, str, list[str]]:
    """Give all that a model is told: system prompt, snapshot, names of the tools."""
    assembly = prompt.assemble(scope=scope)
    names = [tool.name for tool in assembly.tools] + sorted(assembly.variables)
    return render_prompt(assembly), render_context_snapshot(assembly), names


# What a host starts with


def test_a_new_host_has_the_two_built_in_sections_and_no_plugins() -> None:
    """Identity stands at -1000 and the persona at 0, by default."""
    prompt = SystemPrompt()
    sections = prompt.assemble().sections
    assert [(s.name, s.order) for s in sections] == [
        (IDENTITY_SECTION, -1000),
        (PERSONA_SECTION, 0),
    ]
    assert prompt.plugins == []


def test_a_new_host_tells_no_tools_contexts_or_variables() -> None:
    """Everything but the two sections is for others to contribute."""
    assembly = SystemPrompt().assemble()
    assert (assembly.contexts, assembly.tools, assembly.variables) == ([], [], {})


@pytest.mark.parametrize("name", [IDENTITY_SECTION, PERSONA_SECTION])
def test_a_built_in_section_is_an_ordinary_registration(name: str) -> None:
    """A second global one is a duplicate, a scoped one takes its place."""
    prompt = SystemPrompt()
    with pytest.raises(DuplicateContributionError, match="the host"):
        prompt.section(name=name, order=1, text="mine")
    scope = prompt.create_scope("agent")
    scope.section(name=name, order=1, text="mine")
    assert "mine" in render_prompt(prompt.assemble(scope=scope))


# The forms


def test_a_section_is_given_as_an_object_or_as_its_fields() -> None:
    """Both forms of the call register the same."""
    one, other = SystemPrompt(), SystemPrompt()
    one.section(PromptSection(name="rules", order=10, text="Be precise.", title="Rules"))
    other.section(name="rules", order=10, text="Be precise.", title="Rules")
    assert one.assemble() == other.assemble()


def test_a_context_is_given_as_an_object_or_as_its_fields() -> None:
    """Both forms of the call register the same."""
    one, other = SystemPrompt(), SystemPrompt()
    one.context(PromptContext(name="git", order=20, text=lambda: "main", title="Git"))
    other.context(name="git", order=20, text=lambda: "main", title="Git")
    assert one.assemble() == other.assemble()


def test_an_object_and_fields_together_are_refused() -> None:
    """It would not be clear which of them counts."""
    prompt: Any = SystemPrompt()
    with pytest.raises(TypeError, match="not both"):
        prompt.section(PromptSection(name="a", order=1, text=""), name="b")


@pytest.mark.parametrize("kind", ["section", "context"])
def test_a_misspelt_field_is_all_that_the_error_tells(kind: str) -> None:
    """Without a word of how the fields are looked at."""
    fields: dict[str, Any] = {"nme": "a", "order": 1, "text": ""}
    with pytest.raises(TypeError, match="'nme'") as caught:
        getattr(SystemPrompt(), kind)(**fields)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("given", ["rules", None, {"name": "x"}, PromptContext("x", 1, "")])
def test_anything_but_a_section_is_refused(given: object) -> None:
    """A section is a `PromptSection`, and nothing that looks a little like one."""
    prompt: Any = SystemPrompt()
    with pytest.raises((InvalidContributionError, TypeError)):
        prompt.section(given)
    assert len(prompt.assemble().sections) == 2


READ = ToolSchema("read", "Reads.", {"type": "object"})


STATIC_FORMS = ("list", "tuple", "dicts", "generator", "keys", "result")
TOOL_FORMS = (
    *STATIC_FORMS,
    *(f"{form} function" for form in ("list", "dicts", "generator", "result")),
)


@pytest.mark.parametrize(
    "tools",
    [
        [READ],
        (READ,),
        [READ.to_dict()],
        (tool for tool in [READ]),
        {READ: "as keys"}.keys(),
        ToolProviderResult([READ]),
        lambda: [READ],
        lambda: [READ.to_dict()],
        lambda: (tool for tool in [READ]),
        lambda context: ToolProviderResult([READ]),
    ],
    ids=TOOL_FORMS,
)
def test_tools_take_a_provider_or_any_iterable_of_schemas(tools: Any) -> None:
    """A schema is a `ToolSchema` or a dict, and comes singly or through a callable."""
    prompt = SystemPrompt()
    prompt.tools(tools)
    assert prompt.assemble().tools == [READ]
    assert prompt.assemble().tools == [READ]


@pytest.mark.parametrize("tools", ["read", READ, READ.to_dict(), 5, None, [5], ["read"]])
def test_tools_refuse_what_is_no_provider_and_no_iterable_of_schemas(tools: Any) -> None:
    """A single schema is what `tool` is for, and a name alone is no schema."""
    prompt = SystemPrompt()
    with pytest.raises(InvalidContributionError):
        prompt.tools(tools)
    assert prompt.assemble().tools == []


def test_an_iterable_of_schemas_goes_into_the_registry_and_a_callable_stays_a_provider() -> None:
    """The registry knows the static ones alone."""
    prompt = SystemPrompt()
    prompt.tools([ToolSchema("static", "", {})])
    prompt.tools(lambda: [ToolSchema("dynamic", "", {})])
    assert [tool.name for tool in prompt.registry.schemas()] == ["static"]
    assert [tool.name for tool in prompt.assemble().tools] == ["dynamic", "static"]


@pytest.mark.parametrize("schema", [READ, READ.to_dict(), {"name": "read"}])
def test_a_single_tool_is_a_schema_or_a_dict(schema: Any) -> None:
    """Of a dict only the name is needed."""
    prompt = SystemPrompt()
    prompt.tool(schema)
    assert prompt.registry.get("read") is not None


def test_a_variable_is_a_constant_or_a_provider() -> None:
    """A provider gives a ``str``, or None where there is no value."""
    prompt = SystemPrompt()
    prompt.variable("constant", "a")
    prompt.variable("provided", lambda: "b")
    prompt.variable("absent", lambda: None)
    assert prompt.assemble().variables == {"constant": "a", "provided": "b", "absent": None}


@pytest.mark.parametrize("value", [5, b"bytes", ["a"]])
def test_a_variable_of_another_type_is_refused(value: Any) -> None:
    """What could never be assembled is refused where it is registered."""
    with pytest.raises(InvalidContributionError, match="cwd"):
        SystemPrompt().variable("cwd", value)


def test_a_listener_takes_part_without_a_plugin_object() -> None:
    """`on_assemble` puts a plain function into the waterfall."""
    prompt = SystemPrompt()
    prompt.on_assemble(add_a_section)
    assert render_prompt(prompt.assemble()).endswith("was here")


def test_a_prepended_listener_stands_before_the_others() -> None:
    """The latest of several prepended ones comes first."""
    prompt = SystemPrompt()
    order: list[str] = []
    for name, prepend in (("a", False), ("b", True), ("c", True)):
        prompt.on_assemble(lambda assembly, n=name: order.append(n), prepend=prepend)
    prompt.assemble()
    assert order == ["c", "b", "a"]


def test_a_listener_may_stand_before_or_after_a_plugin() -> None:
    """`on_assemble` takes names of plugins to stand around."""
    prompt = SystemPrompt()
    order: list[str] = []

    class Audit:
        @hookimpl
        def system_prompt_assemble(self) -> None:
            order.append("audit")

    prompt.on_assemble(lambda assembly: order.append("after"), after=["audit"])
    prompt.load(Audit(), name="audit")
    prompt.on_assemble(lambda assembly: order.append("before"), before=["audit", "not-loaded"])
    prompt.assemble()
    assert order == ["before", "audit", "after"]


def generator(assembly: PromptAssembly) -> Iterator[None]:
    """Be a wrapper."""
    yield


@pytest.mark.parametrize("listener", [None, "add_a_section", generator])
def test_a_listener_is_a_function(listener: Any) -> None:
    """A generator is a wrapper, which needs a plugin and its mark."""
    with pytest.raises(InvalidContributionError, match="wrapper=True"):
        SystemPrompt().on_assemble(listener)


def test_suppressed_contexts_are_left_out() -> None:
    """A suppressor empties the contexts of the assemblies that see it."""
    prompt = SystemPrompt()
    prompt.context(name="git", order=1, text="main")
    prompt.suppress_runtime_context()
    assert prompt.assemble().contexts == []


# The undo


@every_kind
def test_a_registration_is_withdrawn_by_its_undo(
    register: Callable[[DisposableContext], Registration],
) -> None:
    """After it the host tells what it told before, and calling it again is harmless."""
    prompt = SystemPrompt()
    prompt.context(name="always", order=1, text="there")
    before = told(prompt)
    registration = register(prompt)
    assert told(prompt) != before
    registration.dispose()
    registration.dispose()
    registration()
    assert told(prompt) == before


@named_kinds
def test_an_undo_takes_out_its_own_insertion_only(kind: str) -> None:
    """A name that was registered anew stays when the old undo is called again."""
    prompt = SystemPrompt()
    old = KINDS[kind](prompt)
    old()
    KINDS[kind](prompt)
    after = told(prompt)
    old()
    assert told(prompt) == after


def test_equal_providers_and_suppressors_are_entries_of_their_own() -> None:
    """They have no names, so each of two is withdrawn singly."""
    prompt = SystemPrompt()
    prompt.context(name="git", order=1, text="main")
    first, second = prompt.suppress_runtime_context(), prompt.suppress_runtime_context()
    first()
    assert prompt.assemble().contexts == []
    second()
    assert len(prompt.assemble().contexts) == 1


# Names


@named_kinds
def test_a_second_one_of_a_name_is_refused_at_the_global_level(kind: str) -> None:
    """The error names the contribution, its owner and the way out: a scope."""
    prompt = SystemPrompt()

    class Owner:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            KINDS[kind](ctx)

    prompt.load(Owner(), name="owner")
    with pytest.raises(DuplicateContributionError) as caught:
        KINDS[kind](prompt)
    assert '"x" is already registered' in str(caught.value)
    assert 'plugin "owner"' in str(caught.value)
    assert "scope" in str(caught.value)
    assert (caught.value.kind, caught.value.name, caught.value.plugin) == (kind, "x", "owner")


@named_kinds
def test_a_second_one_of_a_name_is_refused_in_a_scope(kind: str) -> None:
    """The error says that the scope holds the name already, and whose it is."""
    scope = SystemPrompt().create_scope("agent")
    KINDS[kind](scope)
    with pytest.raises(DuplicateContributionError, match=r'"x" .* in this scope') as caught:
        KINDS[kind](scope)
    assert "the host" in str(caught.value)
    assert caught.value.plugin is None


@named_kinds
def test_a_refused_duplicate_leaves_nothing_behind(kind: str) -> None:
    """No event is fired, no generation begun, and the first one is as it was."""
    prompt = SystemPrompt()
    registration = KINDS[kind](prompt)
    before, generation = told(prompt), prompt.assemble().generation
    events: list[object] = []
    prompt.on_change(events.append)
    with pytest.raises(DuplicateContributionError):
        KINDS[kind](prompt)
    assert (told(prompt), prompt.assemble().generation, events) == (before, generation, [])
    registration()
    KINDS[kind](prompt)


@pytest.mark.parametrize("names", [["b", "x"], ["b", "b"]])
def test_of_several_tools_all_are_registered_or_none(names: list[str]) -> None:
    """One name that is taken refuses the whole call."""
    prompt = SystemPrompt()
    prompt.tool({"name": "x"})
    with pytest.raises(DuplicateContributionError):
        prompt.tools([{"name": name} for name in names])
    assert [tool.name for tool in prompt.assemble().tools] == ["x"]


def test_kinds_have_names_of_their_own() -> None:
    """A section, a context, a tool and a variable may share a name."""
    prompt = SystemPrompt()
    for kind in NAMED:
        KINDS[kind](prompt)
    assert told(prompt)[2] == ["x", "x"]


@pytest.mark.parametrize("order", [-5, 0, 2**70, 0.5, -1e300])
def test_an_order_is_any_finite_number(order: float) -> None:
    """Negative ones, fractions and huge ones included."""
    prompt = SystemPrompt()
    prompt.section(name="a", order=order, text="")
    assert order in [section.order for section in prompt.assemble().sections]


@pytest.mark.parametrize("order", [math.nan, math.inf, -math.inf, True, False, "1", None, 1j])
@pytest.mark.parametrize("kind", ["section", "context"])
def test_an_order_that_is_no_finite_number_is_refused(kind: str, order: Any) -> None:
    """NaN, infinities and booleans raise at registration, as a `ValueError` too."""
    prompt: Any = SystemPrompt()
    with pytest.raises(InvalidContributionError, match=f'{kind} "a" order') as caught:
        getattr(prompt, kind)(name="a", order=order, text="")
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("kind", ["section", "context"])
def test_an_empty_name_is_registered_and_caught_by_the_guard(kind: str) -> None:
    """The registration is accepted, the assembly is not."""
    prompt: Any = SystemPrompt()
    getattr(prompt, kind)(name="", order=1, text="")
    with pytest.raises(InvariantError, match=f"{kind} names must be non-empty"):
        prompt.assemble()


@pytest.mark.parametrize("name", ["a", "cwd", "a1_", "constructor"])
def test_a_variable_name_is_lower_case_with_digits_and_underscores(name: str) -> None:
    """It begins with a letter."""
    prompt = SystemPrompt()
    prompt.variable(name, "value")
    assert prompt.assemble().variables == {name: "value"}


@pytest.mark.parametrize("name", ["", "A", "1a", "_a", "a-b", "a b", "a\n", "ä", "a\u0661", 5])
def test_another_variable_name_is_refused(name: Any) -> None:
    """The whole name has to match, so that a trailing newline is no way around it."""
    with pytest.raises(InvalidContributionError, match="invalid prompt variable name"):
        SystemPrompt().variable(name, "value")


# Providers


class Method:
    """Holds a provider that is a method."""

    def __init__(self, given: list[object]) -> None:
        self.given = given

    def with_context(self, context: AssembleContext) -> None:
        self.given.append(context)

    def without(self) -> None:
        self.given.append(None)


def shapes(given: list[object]) -> dict[str, tuple[Callable[..., None], bool]]:
    """Give callables of every shape that note what they are called with."""

    class Callable_:  # noqa: N801 - what it is
        def __call__(self, context: AssembleContext) -> None:
            given.append(context)

    method = Method(given)
    return {
        "none": (lambda: given.append(None), False),
        "one": (lambda context: given.extend([context]), True),
        "any name": (lambda whatever, /: given.append(whatever), True),
        "default": (lambda context=None: given.append(context), False),
        "one and a default": (lambda context, other=1: given.append(context), True),
        "keyword default": (lambda *, context=None: given.append(context), False),
        "variadic": (lambda *args, **kwargs: given.extend([*args, *kwargs] or [None]), False),
        "method": (method.with_context, True),
        "bare method": (method.without, False),
        "partial": (functools.partial(lambda a, b: given.append(b), 1), True),
        "full partial": (functools.partial(lambda a: given.append(None), 1), False),
        "instance": (Callable_(), True),
    }


def register_provider(kind: str, prompt: SystemPrompt, call: Callable[..., None]) -> None:
    """Register *call* as a provider of *kind*, with a result that suits it."""
    results: dict[str, object] = {"text": "", "variable": "", "tools": [], "when": True}

    def result(*args: Any) -> Any:
        call(*args)
        return results[kind]

    provider: Any = functools.wraps(call, assigned=())(result)
    if kind == "text":
        prompt.section(name="a", order=1, text=provider)
    elif kind == "variable":
        prompt.variable("a", provider)
    elif kind == "tools":
        prompt.tools(provider)
    else:
        prompt.context(name="a", order=1, text="", when=provider)


@pytest.mark.parametrize("shape", shapes([]))
@pytest.mark.parametrize("kind", ["text", "variable", "tools", "when"])
def test_a_provider_gets_the_context_only_if_it_requires_a_parameter(kind: str, shape: str) -> None:
    """One rule for all: parameters with defaults, and variadic ones, are left alone."""
    prompt = SystemPrompt()
    given: list[object] = []
    function, wants = shapes(given)[shape]
    register_provider(kind, prompt, function)
    context = AssembleContext()
    prompt.assemble(context)
    assert given == ([context] if wants else [None])


@pytest.mark.parametrize(
    "function", [lambda a, b: "", lambda *, a: "", lambda a, *, b: ""], ids=["two", "kw", "both"]
)
@pytest.mark.parametrize("kind", ["text", "variable", "tools", "when"])
def test_a_provider_that_requires_more_is_refused(kind: str, function: Any) -> None:
    """It could never be called, so it is refused where it is registered."""
    with pytest.raises(InvalidContributionError, match="requires"):
        register_provider(kind, SystemPrompt(), function)


@pytest.mark.parametrize("kind", ["text", "variable", "tools", "when"])
def test_a_provider_is_called_once_in_every_assembly(kind: str) -> None:
    """What it gave last time is not kept."""
    prompt = SystemPrompt()
    calls: list[int] = []
    register_provider(kind, prompt, lambda: calls.append(1))
    for expected in (1, 2, 3):
        prompt.assemble()
        assert len(calls) == expected


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["text", "variable", "tools", "when"])
async def test_a_provider_may_be_async(kind: str) -> None:
    """Each kind of provider may be an ``async def``, under `assemble_async`."""
    prompt = SystemPrompt()
    given: list[object] = []

    async def provider(context: AssembleContext) -> Any:
        given.append(context)
        return {"text": "", "variable": "", "tools": [], "when": True}[kind]

    if kind == "when":
        prompt.section(name="a", order=1, text="", when=provider)
    elif kind == "tools":
        prompt.tools(provider)
    else:
        register = {"text": lambda: prompt.section(name="a", order=1, text=provider)}
        register.get(kind, lambda: prompt.variable("a", provider))()
    context = AssembleContext()
    await prompt.assemble_async(context)
    assert given == [context]


def test_a_shadowed_contribution_is_never_evaluated() -> None:
    """Neither text nor `when` nor variable of what a scope replaces is called."""
    prompt = SystemPrompt()

    def never() -> str:
        raise AssertionError("a shadowed provider was called")

    prompt.section(name="a", order=1, text=never, when=never)
    prompt.context(name="a", order=1, text=never, when=never)
    prompt.variable("a", never)
    scope = prompt.create_scope("agent")
    scope.section(name="a", order=1, text="near")
    scope.context(name="a", order=1, text="near")
    scope.variable("a", "near")
    assert "near" in render_prompt(prompt.assemble(scope=scope))


@pytest.mark.parametrize("kind", ["section", "context"])
def test_an_entry_that_is_left_out_does_not_reveal_the_one_it_shadows(kind: str) -> None:
    """A nearer entry whose `when` is false hides the farther one all the same."""
    prompt: Any = SystemPrompt()
    getattr(prompt, kind)(name="a", order=1, text="far")
    scope = prompt.create_scope("agent")
    getattr(scope, kind)(name="a", order=1, text="near", when=lambda: False)
    assert "far" not in "".join(told(prompt, scope)[:2])


def test_an_entry_of_a_scope_replaces_the_global_one_whole() -> None:
    """Order, title and the rest come from the nearer entry alone."""
    prompt = SystemPrompt()
    prompt.section(name="a", order=-5, text="far", title="Far", requires_tools=["none"])
    scope = prompt.create_scope("agent")
    scope.section(name="a", order=5, text="near")
    section = prompt.assemble(scope=scope).sections[-1]
    assert (section.order, section.text, section.title) == (5, "near", None)


# Further fields of sections and contexts


@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
def test_further_fields_are_keywords(cls: Any) -> None:
    """Only name, order and text may be given by position."""
    assert cls("a", 1, "text").name == "a"
    with pytest.raises(TypeError):
        cls("a", 1, "text", True)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 5},
        {"text": None},
        {"text": 5},
        {"when": True},
        {"title": 5},
        {"requires_tools": "read"},
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", [PromptSection, PromptContext])
def test_a_field_that_could_never_be_assembled_is_refused(cls: Any, fields: dict[str, Any]) -> None:
    """A lone ``str`` of required tools is a mistake too, not four names."""
    with pytest.raises(InvalidContributionError):
        cls(**{"name": "a", "order": 1, "text": ""} | fields)


def test_a_strategy_is_one_of_two() -> None:
    """Anything else is refused, naming the section and the two."""
    fields: dict[str, Any] = {"strategy": "sometimes"}
    with pytest.raises(InvalidContributionError, match=r'"a" strategy .*when_non_empty.*always'):
        PromptSection("a", 1, "", **fields)


def test_a_complete_section_may_not_require_tools() -> None:
    """It is the whole prompt, so nothing may drop it."""
    with pytest.raises(InvalidContributionError, match='"a" is complete'):
        PromptSection("a", 1, "", complete=True, requires_tools=["read"])


def test_a_complete_section_is_the_whole_prompt() -> None:
    """It displaces every other section, the identity included."""
    prompt = SystemPrompt()
    prompt.section(name="a", order=1, text="All.", complete=True)
    assert render_prompt(prompt.assemble()) == "All."


@pytest.mark.parametrize("kind", ["section", "context"])
def test_the_braces_of_a_literal_text_are_text(kind: str) -> None:
    """Nothing is interpolated, nothing is malformed."""
    prompt: Any = SystemPrompt(Config(include_harness_identity=False))
    getattr(prompt, kind)(name="a", order=1, text="{{x}} {{ {{", literal=True)
    assert "".join(told(prompt)[:2]).endswith("{{x}} {{ {{")


@pytest.mark.parametrize(
    ("fields", "cacheable"),
    [
        ({"text": "static"}, True),
        ({"text": "{{constant}} and {{constant}}"}, True),
        ({"text": "{{constant}} and {{provided}}"}, False),
        ({"text": "{{unknown}}"}, False),
        ({"text": "{{{{escaped}}}}"}, True),
        ({"text": "{{provided}}", "literal": True}, True),
        ({"text": lambda: "static"}, False),
        ({"text": lambda: "static", "cacheable": True}, True),
        ({"text": "static", "cacheable": False}, False),
    ],
)
def test_a_section_is_cacheable_if_nothing_in_it_can_change(
    fields: dict[str, Any], *, cacheable: bool
) -> None:
    """That is a ``str`` of constant variables alone; an explicit value wins."""
    prompt = SystemPrompt()
    prompt.variable("constant", "a")
    prompt.variable("provided", lambda: "a")
    prompt.section(name="a", order=1, **fields)
    assert prompt.assemble().sections[-1].cacheable is cacheable


def test_a_scope_that_replaces_a_constant_by_a_provider_makes_its_sections_change() -> None:
    """What counts is the variable that the assembly sees."""
    prompt = SystemPrompt()
    prompt.variable("v", "constant")
    prompt.section(name="a", order=1, text="{{v}}")
    scope = prompt.create_scope("agent")
    scope.variable("v", lambda: "provided")
    assert prompt.assemble().sections[-1].cacheable
    assert not prompt.assemble(scope=scope).sections[-1].cacheable


@pytest.mark.parametrize(
    ("text", "strategy", "expected"),
    [
        ("Be.", "when_non_empty", "## Rules\n\nBe."),
        ("", "when_non_empty", ""),
        ("", "always", "## Rules"),
    ],
)
def test_a_title_stands_over_the_text(text: str, strategy: Any, expected: str) -> None:
    """Over an empty text it stays only if the strategy says so."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    prompt.section(name="a", order=1, text=text, title="Rules", strategy=strategy)
    assert render_prompt(prompt.assemble()) == expected


@pytest.mark.parametrize("verdict", [False, 0, "", None])
def test_what_its_when_leaves_out_is_not_evaluated(verdict: object) -> None:
    """A false verdict stands before the text provider is called."""
    prompt = SystemPrompt()

    def never() -> str:
        raise AssertionError("the text was evaluated")

    prompt.section(name="a", order=1, text=never, when=lambda: verdict)
    prompt.context(name="a", order=1, text=never, when=lambda: verdict)
    assembly = prompt.assemble()
    assert (len(assembly.sections), assembly.contexts) == (2, [])


def test_what_requires_a_tool_is_dropped_where_it_is_missing() -> None:
    """The tool list counts as the waterfall left it, denied tools included."""
    prompt = SystemPrompt()
    prompt.tools([{"name": "read"}, {"name": "write"}, {"name": "bash"}])
    for tool in ("read", "write", "bash"):
        prompt.section(name=tool, order=1, text="", requires_tools=[tool])
        prompt.context(name=tool, order=1, text="", requires_tools=(tool,))

    def narrow(assembly: PromptAssembly) -> None:
        assembly.tools = [tool for tool in assembly.tools if tool.name != "write"]
        assembly.deny("bash", "not now")

    prompt.on_assemble(narrow)
    assembly = prompt.assemble()
    assert [section.name for section in assembly.sections[2:]] == ["bash", "read"]
    assert [context.name for context in assembly.contexts] == ["bash", "read"]


@pytest.mark.anyio
async def test_a_blocking_provider_runs_in_a_worker_thread() -> None:
    """Sections, contexts, variables and tools keep the event loop free."""
    prompt = SystemPrompt()
    threads: list[int] = []

    def note(result: Any) -> Callable[[], Any]:
        def provider() -> Any:
            threads.append(threading.get_ident())
            return result

        return provider

    prompt.section(name="a", order=1, text=note(""), blocking=True)
    prompt.context(name="a", order=1, text=note(""), blocking=True)
    prompt.variable("a", note(""), blocking=True)
    prompt.tools(note([]), blocking=True)
    await prompt.assemble_async()
    assert len(threads) == 4
    assert threading.get_ident() not in threads


def test_a_blocking_provider_runs_where_a_synchronous_assembly_does() -> None:
    """Without an event loop there is nothing to keep free."""
    prompt = SystemPrompt()
    threads: list[int] = []

    def provider() -> str:
        threads.append(threading.get_ident())
        return ""

    prompt.variable("a", provider, blocking=True)
    prompt.assemble()
    assert threads == [threading.get_ident()]


# Tool schemas


def test_known_names_are_the_schemas_unless_given() -> None:
    """Given ones replace them, so that a shown tool may be unknown."""
    assert ToolProviderResult([READ]).names == ("read",)
    assert ToolProviderResult([READ], known_names=["write"]).names == ("write",)
    assert ToolProviderResult([READ], known_names=[]).names == ()


def changes(schema: Any) -> Iterable[Callable[[], object]]:
    """Give every way that comes to mind to change *schema* or its parameters."""
    parameters = schema.parameters
    yield lambda: setattr(schema, "name", "other")
    yield lambda: parameters.update(type="array")
    yield lambda: parameters.pop("type")
    yield lambda: parameters.setdefault("x", 1)
    yield lambda: parameters.__setitem__("type", "array")
    yield lambda: parameters.__delitem__("type")
    yield lambda: parameters.__ior__({"x": 1})
    yield parameters.clear
    yield parameters.popitem
    yield lambda: parameters["required"].append("y")
    yield lambda: parameters["required"].extend(["y"])
    yield lambda: parameters["required"].__iadd__(["y"])
    yield lambda: parameters["required"].__imul__(2)
    yield lambda: parameters["required"].__setitem__(0, "y")
    yield lambda: parameters["required"].insert(0, "y")
    yield parameters["required"].sort
    yield parameters["required"].reverse
    yield parameters["required"].clear
    yield parameters["required"].pop
    yield lambda: parameters["properties"]["x"].update(type="string")


def test_a_tool_schema_is_immutable_through_and_through() -> None:
    """No way of changing a dict or a list works, at any depth."""
    given = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    schema = ToolSchema("read", "", given)
    for change in changes(schema):
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert schema.to_dict()["parameters"] == given


def test_a_tool_schema_is_a_copy_of_what_it_was_made_from() -> None:
    """Changing the original afterwards reaches no assembly."""
    given: dict[str, Any] = {"required": ["x"]}
    schema = ToolSchema("read", "", given)
    given["required"].append("y")
    assert schema.parameters == {"required": ["x"]}


def test_parameters_are_real_dicts_and_lists() -> None:
    """So `json.dumps` and schema validators take them as they are."""
    schema = ToolSchema("read", "", {"required": ["x"], "properties": {}})
    assert isinstance(schema.parameters, dict)
    assert isinstance(schema.parameters["required"], list)
    assert json.loads(json.dumps(schema.parameters)) == {"required": ["x"], "properties": {}}


CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"a": [{"b": {1, 2}}]}, "$.a[0].b"),
        ({"a": math.nan}, "$.a"),
        ({"a": math.inf}, "$.a"),
        ({"a": {1: "x"}}, "$.a"),
        ({"a": object()}, "$.a"),
        ({"a": b"x"}, "$.a"),
        (CYCLE, "$.self"),
    ],
    ids=["set", "nan", "inf", "key", "object", "bytes", "cycle"],
)
def test_what_is_no_json_is_refused_with_tool_and_path(parameters: Any, path: str) -> None:
    """At construction, and for annotations as for parameters."""
    for fields in ({"parameters": parameters}, {"parameters": {}, "annotations": parameters}):
        with pytest.raises(InvalidContributionError) as caught:
            ToolSchema("read", "", **fields)
        assert "read" in str(caught.value)
        assert path in str(caught.value)


def test_an_unknown_key_of_a_tool_is_refused_with_the_nearest() -> None:
    """A typing error in a dict does not pass for an annotation."""
    with pytest.raises(InvalidContributionError, match=r'"parameter".*"parameters"'):
        SystemPrompt().tool({"name": "read", "parameter": {}})


def test_annotations_never_reach_a_provider() -> None:
    """They are for plugins: the bytes that are sent are the same without them."""
    one, other = SystemPrompt(), SystemPrompt()
    one.tool(ToolSchema("read", "Reads.", {}))
    other.tool(ToolSchema("read", "Reads.", {}, {"readOnlyHint": True}))
    assert one.assemble().fingerprint() == other.assemble().fingerprint()
    assert other.assemble().tools[0].annotations == {"readOnlyHint": True}
