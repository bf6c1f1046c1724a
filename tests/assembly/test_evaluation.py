"""Providers: how they are called, when they are not, and how their failures are told."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AssembleContext,
    AssemblyCancelledError,
    InvalidContributionError,
    PromptError,
    ProviderError,
    RuntimeState,
    SystemPrompt,
    ToolProviderResult,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from dsh_prompt import DisposableContext, PromptAssembly, Registration

every_way = pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])

#: What registers a provider of each kind, and what such a provider may return.
REGISTER: dict[str, Callable[[DisposableContext, Any], Registration]] = {
    "section": lambda ctx, text: ctx.section(name="x", order=1, text=text),
    "context": lambda ctx, text: ctx.context(name="x", order=1, text=text),
    "variable": lambda ctx, value: ctx.variable("x", value),
    "tool provider": lambda ctx, tools: ctx.tools(tools),
    "when of section": lambda ctx, when: ctx.section(name="x", order=1, text="", when=when),
    "when of context": lambda ctx, when: ctx.context(name="x", order=1, text="", when=when),
}
every_kind = pytest.mark.parametrize("kind", REGISTER)


def assembled(
    prompt: SystemPrompt, way: str, context: AssembleContext | None = None
) -> PromptAssembly:
    """Assemble without an event loop, or in one."""
    if way == "sync":
        return prompt.assemble(context)
    return anyio.run(prompt.assemble_async, context, backend=way)


def names(assembly: PromptAssembly) -> list[str]:
    """Give the names of all sections and contexts."""
    return [item.name for item in assembly.sections] + [item.name for item in assembly.contexts]


def fitting(kind: str) -> Any:
    """Give something that a provider of *kind* may return."""
    return () if kind == "tool provider" else "text"


def fail() -> Any:
    """Fail as a provider."""
    raise ValueError("broken")


# Arguments


class Callables:
    """Bound methods, and an instance that can be called."""

    def __init__(self, seen: list[Any], result: Any) -> None:
        self.seen = seen
        self.result = result

    def __call__(self, context: object) -> Any:
        self.seen.append(context)
        return self.result

    def nothing(self) -> Any:
        self.seen.append("nothing")
        return self.result

    def default(self, context: object = "default") -> Any:
        self.seen.append(context)
        return self.result


@every_kind
def test_a_provider_gets_the_context_only_if_it_requires_an_argument(kind: str) -> None:
    """One rule for all kinds; parameters with a default, and variadic ones, are left alone."""
    seen: list[Any] = []
    call = Callables(seen, fitting(kind))

    def decorated(*arguments: object) -> Any:
        return call.default(*arguments)

    providers: list[tuple[Any, object]] = [
        (call, AssembleContext),
        (call.nothing, "nothing"),
        (call.default, "default"),
        (partial(call, "bound"), "bound"),
        (partial(call), AssembleContext),
        (lambda context, /: call(context), AssembleContext),
        (lambda anything, more=1, *, flag=2: call(anything), AssembleContext),
        (decorated, "default"),
        (lambda **_: call.nothing(), "nothing"),
    ]
    for provider, expected in providers:
        prompt, context = SystemPrompt(), AssembleContext()
        REGISTER[kind](prompt, provider)
        prompt.assemble(context)
        assert seen.pop() is (context if expected is AssembleContext else expected)
        assert seen == []


@every_kind
def test_a_provider_that_requires_more_is_refused_at_registration(kind: str) -> None:
    """It could never be called, so the registration fails and leaves nothing behind."""
    prompt = SystemPrompt()
    before = prompt.assemble()
    for provider in (lambda context, more: "", lambda *, context: "", partial(lambda a, b: "")):
        with pytest.raises(InvalidContributionError, match=rf"provider of {kind}.* requires \("):
            REGISTER[kind](prompt, provider)
    assert prompt.assemble() == before


@every_way
def test_providers_and_listeners_get_the_given_object_itself(way: str) -> None:
    """The very context that the caller gave reaches all of them, with its state."""
    prompt = SystemPrompt()
    context = AssembleContext(state=RuntimeState(model="m"))
    seen: list[AssembleContext] = []

    def provider(context: AssembleContext) -> str:
        seen.append(context)
        return ""

    prompt.section(name="x", order=1, text=provider)
    prompt.on_assemble(lambda context: seen.append(context))  # noqa: PLW0108 - argument names
    assembled(prompt, way, context)
    assert [entry is context for entry in seen] == [True, True]


def test_scope_and_state_reach_providers_in_a_context() -> None:
    """``scope=`` and ``state=`` are short for a context with them."""
    prompt = SystemPrompt()
    scope, state = prompt.create_scope("agent"), RuntimeState(workdir="/srv")
    seen: list[AssembleContext] = []
    prompt.variable("x", lambda context: seen.append(context))  # noqa: PLW0108 - one argument
    prompt.assemble(scope=scope, state=state)
    assert (seen[0].scope, seen[0].state) == (scope, state)


def test_a_builtin_without_a_signature_is_called_with_nothing() -> None:
    """There is no way to know what it takes."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=str)
    prompt.variable("x", str)
    assembly = prompt.assemble()
    assert (assembly.sections[-1].text, assembly.variables) == ("", {"x": ""})


# How often


@every_way
@every_kind
def test_a_provider_is_called_once_per_assembly(kind: str, way: str) -> None:
    """And in every assembly: nothing is remembered."""
    prompt = SystemPrompt()
    calls: list[int] = []

    def provider() -> Any:
        calls.append(1)
        return fitting(kind)

    REGISTER[kind](prompt, provider)
    for expected in (1, 2, 3):
        assembled(prompt, way)
        assert len(calls) == expected


@pytest.mark.parametrize("kind", [kind for kind in REGISTER if kind != "tool provider"])
def test_a_shadowed_provider_is_never_called(kind: str) -> None:
    """A nearer entry of the name takes its place before anything is evaluated."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    REGISTER[kind](prompt, lambda: 1 / 0)
    REGISTER[kind](parent, lambda: 1 / 0)
    REGISTER[kind](child, lambda: fitting(kind))
    prompt.assemble(scope=child)
    with pytest.raises(ProviderError):
        prompt.assemble(scope=parent)


@pytest.mark.parametrize("contribute", [SystemPrompt.section, SystemPrompt.context])
def test_a_false_when_does_not_reveal_what_it_shadows(
    contribute: Callable[..., Registration],
) -> None:
    """The nearer entry has taken the place, whether it takes part or not."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    contribute(prompt, name="x", order=1, text=lambda: 1 / 0, when=lambda: 1 / 0)
    contribute(scope, name="x", order=1, text="near", when=lambda: False)
    assert names(prompt.assemble(scope=scope)).count("x") == 0


# when


@every_way
@pytest.mark.parametrize(("verdict", "shown"), [(True, 2), (1, 2), (0, 0), ("", 0), (None, 0)])
def test_when_decides_whether_a_block_takes_part(verdict: object, shown: int, way: str) -> None:
    """Anything false leaves it out."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="text", when=lambda: verdict)
    prompt.context(name="x", order=1, text="text", when=lambda: verdict)
    assert names(assembled(prompt, way)).count("x") == shown


def test_when_is_asked_before_the_text_is_evaluated() -> None:
    """The text of what is left out is not evaluated."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=fail, when=lambda: False)
    prompt.context(name="x", order=1, text=fail, when=lambda context: context.state)
    assert render_prompt(prompt.assemble()) == "You are an AI agent powered by DeepSeek Harness."


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_when_may_be_async(backend: str) -> None:
    """An async verdict is awaited."""
    prompt = SystemPrompt()

    async def no() -> bool:
        return False

    prompt.section(name="x", order=1, text="text", when=no)
    assembly = assembled(prompt, backend)
    assert [section.name for section in assembly.sections][2:] == []


# Results


@every_way
def test_tool_providers_may_return_schemas_dicts_or_a_result(way: str) -> None:
    """Any iterable of schemas and dicts will do."""
    prompt = SystemPrompt()

    def generated() -> Generator[dict[str, Any], None, None]:
        yield {"name": "a"}
        yield {"name": "b", "description": "B", "parameters": {"type": "object"}}

    mixed: list[Any] = [ToolSchema("c", "", {}), {"name": "d"}]
    prompt.tools(lambda: mixed)
    prompt.tools(lambda: ToolProviderResult([{"name": "e"}], known_names=["e", "f"]))
    prompt.tools(generated)
    assert [tool.name for tool in assembled(prompt, way).tools] == ["a", "b", "c", "d", "e"]


@every_way
def test_a_variable_provider_may_have_no_value(way: str) -> None:
    """None keeps the name in the assembly, without a value."""
    prompt = SystemPrompt()
    prompt.variable("x", lambda: None)
    prompt.variable("y", None)
    prompt.variable("z", "constant")
    assert assembled(prompt, way).variables == {"x": None, "y": None, "z": "constant"}


# Failures


def plugin_with(kind: str, provider: object) -> object:
    """Make a plugin that registers *provider*."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            REGISTER[kind](ctx, provider)

    return Plugin()


@every_way
@every_kind
def test_a_provider_that_raises_is_named(kind: str, way: str) -> None:
    """The error names kind, name and plugin, and chains the cause."""
    cause = LookupError("no such thing")

    def provider() -> Any:
        raise cause

    prompt = SystemPrompt()
    prompt.load(plugin_with(kind, provider), name="broken")
    match = rf'^{kind} ".+" of plugin "broken" raised LookupError: no such thing$'
    with pytest.raises(ProviderError, match=match) as caught:
        assembled(prompt, way)
    assert (caught.value.kind, caught.value.plugin) == (kind, "broken")
    assert caught.value.name == ("x" if kind != "tool provider" else provider.__qualname__)
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@every_kind
def test_an_async_provider_that_raises_is_named(kind: str, backend: str) -> None:
    """As a plain one is."""
    cause = LookupError("no such thing")

    async def provider() -> Any:
        raise cause

    prompt = SystemPrompt()
    prompt.load(plugin_with(kind, provider), name="broken")
    match = rf'^{kind} ".+" of plugin "broken" raised LookupError: no such thing$'
    with pytest.raises(ProviderError, match=match) as caught:
        assembled(prompt, backend)
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "style",
    [
        "plain",
        "blocking",
        "async",
    ],
)
def test_a_provider_error_that_a_provider_raises_is_its_own(style: str, backend: str) -> None:
    """A provider that runs into another host's error is the one that failed here."""
    inner = ProviderError("of another host", kind="section", name="other", plugin="other")

    def plain() -> str:
        raise inner

    async def asynchronous() -> str:
        raise inner

    prompt = SystemPrompt()
    text: Any = asynchronous if style == "async" else plain
    prompt.section(name="x", order=1, text=text, blocking=style == "blocking")
    with pytest.raises(ProviderError, match=r'^section "x" of the host raised') as caught:
        assembled(prompt, backend)
    assert caught.value.__cause__ is inner


@every_way
@pytest.mark.parametrize(
    ("kind", "value", "match"),
    [
        ("section", 5, "returned int instead of str"),
        ("context", None, "returned NoneType instead of str"),
        ("variable", b"", "returned bytes instead of str or None"),
        ("tool provider", None, "returned NoneType instead of tool schemas"),
        ("tool provider", [5], "is no tool: a tool must be a ToolSchema or a dict, not int"),
        ("tool provider", [{"nam": "x"}], 'unknown key "nam"; did you mean "name"'),
    ],
)
def test_a_result_of_the_wrong_type_is_an_error(
    kind: str, value: object, match: str, way: str
) -> None:
    """The error names the provider and says what it returned."""
    prompt = SystemPrompt()
    prompt.load(plugin_with(kind, lambda: value), name="broken")
    with pytest.raises(ProviderError, match=match) as caught:
        assembled(prompt, way)
    assert (caught.value.kind, caught.value.plugin) == (kind, "broken")
    assert isinstance(caught.value.__cause__, TypeError)


@every_way
def test_a_tool_provider_that_returns_a_str_is_named(way: str) -> None:
    """A text is no list of tools."""
    prompt = SystemPrompt()
    prompt.load(plugin_with("tool provider", lambda: "read"), name="broken")
    with pytest.raises(ProviderError, match="returned str instead of tool schemas"):
        assembled(prompt, way)


def test_a_generator_of_tools_that_raises_is_said_to_raise() -> None:
    """A failure while the schemas are read is the provider's failure, not a wrong result."""

    def generated() -> Generator[dict[str, str], None, None]:
        yield {"name": "a"}
        raise LookupError("boom")

    prompt = SystemPrompt()
    prompt.tools(generated)
    with pytest.raises(ProviderError, match="raised LookupError: boom"):
        prompt.assemble()


def test_a_verdict_that_is_neither_true_nor_false_is_said_to_raise() -> None:
    """Arrays and the like raise when asked for their truth."""

    class Verdict:
        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="", when=Verdict)
    with pytest.raises(ProviderError, match="raised ValueError: ambiguous"):
        prompt.assemble()


# The first failure


#: The steps of an assembly, and how each one's failure is told.
STEPS = {
    "variable": 'variable "v" of',
    "when": 'when of section "w" of',
    "tools": 'tool provider "fail" of',
    "complete": "multiple complete prompt sections",
    "section": 'section "s" of',
    "context": 'context "c" of',
    "order": "tool provider returned reserved tool name",
    "waterfall": "waterfall listener",
    "guard": "assembled section names must be non-empty",
}


def break_steps(prompt: SystemPrompt, steps: list[str]) -> None:
    """Make each of the *steps* fail, the last one first."""
    failures: dict[str, Callable[[], object]] = {
        "variable": lambda: prompt.variable("v", fail),
        "when": lambda: prompt.section(name="w", order=1, text="", when=fail),
        "tools": lambda: prompt.tools(fail),
        "complete": lambda: [
            prompt.section(name=name, order=1, text="", complete=True) for name in "ab"
        ],
        "section": lambda: prompt.section(name="s", order=1, text=fail),
        "context": lambda: prompt.context(name="c", order=1, text=fail),
        "order": lambda: prompt.tools(lambda: [{"name": "<unlisted-tools>"}]),
        "waterfall": lambda: prompt.on_assemble(fail),
        "guard": lambda: prompt.section(name="", order=1, text=""),
    }
    for step in reversed(steps):
        failures[step]()


@every_way
@pytest.mark.parametrize("step", STEPS)
def test_the_first_failure_in_the_order_of_steps_is_reported(step: str, way: str) -> None:
    """When this step and all after it would fail, this one is what the caller hears of."""
    prompt = SystemPrompt()
    steps = list(STEPS)
    break_steps(prompt, steps[steps.index(step) :])
    with pytest.raises(PromptError, match=f"^{STEPS[step]}"):
        assembled(prompt, way)


@every_way
def test_the_first_failure_in_a_step_is_reported(way: str) -> None:
    """Within a step the order of the sections decides; those after the first are not called."""
    prompt = SystemPrompt()
    later: list[str] = []

    def last() -> str:
        later.append("called")
        return ""

    prompt.section(name="last", order=3, text=last)
    prompt.section(name="second", order=2, text=fail)
    prompt.section(name="first", order=1, text=fail)
    with pytest.raises(ProviderError, match='"first"'):
        assembled(prompt, way)
    assert later == []


def test_a_failed_assembly_withdraws_nothing() -> None:
    """The next one works, where the provider does."""
    prompt, broken = SystemPrompt(), [True]
    prompt.section(name="x", order=1, text=lambda: fail() if broken.pop() else "text")
    broken.insert(0, False)
    with pytest.raises(ProviderError):
        prompt.assemble()
    assert prompt.assemble().sections[-1].text == "text"


# The cancel event


@every_way
def test_a_set_cancel_event_stops_between_providers(way: str) -> None:
    """After the event is set no further provider is called."""
    prompt, cancel = SystemPrompt(), threading.Event()
    called: list[str] = []

    def first() -> str:
        called.append("first")
        cancel.set()
        return ""

    prompt.section(name="a", order=1, text=first)
    prompt.section(name="b", order=2, text=fail)
    with pytest.raises(AssemblyCancelledError, match="cancel event"):
        assembled(prompt, way, AssembleContext(cancel=cancel))
    assert called == ["first"]


@every_way
@every_kind
def test_a_cancel_event_is_checked_before_every_kind_of_provider(kind: str, way: str) -> None:
    """An event that is set already keeps all of them from being called."""
    prompt, cancel = SystemPrompt(), threading.Event()
    REGISTER[kind](prompt, fail)
    cancel.set()
    with pytest.raises(AssemblyCancelledError):
        assembled(prompt, way, AssembleContext(cancel=cancel))


@every_way
def test_an_event_that_the_last_provider_sets_cancels_too(way: str) -> None:
    """There is a check after the last one as well."""
    prompt, cancel = SystemPrompt(), threading.Event()

    def last() -> str:
        cancel.set()
        return ""

    prompt.context(name="a", order=1, text=last)
    with pytest.raises(AssemblyCancelledError):
        assembled(prompt, way, AssembleContext(cancel=cancel))


@every_way
def test_a_cancel_event_concerns_its_own_assembly_alone(way: str) -> None:
    """Nothing is withdrawn, and other assemblies are not cancelled."""
    prompt, cancel = SystemPrompt(), threading.Event()
    prompt.section(name="a", order=1, text=lambda: "text")
    cancel.set()
    with pytest.raises(AssemblyCancelledError):
        assembled(prompt, way, AssembleContext(cancel=cancel))
    assert assembled(prompt, way, AssembleContext(cancel=threading.Event())).sections[-1].text
    assert assembled(prompt, way).sections[-1].text == "text"


def test_a_set_cancel_event_stops_an_assembly_of_static_texts() -> None:
    """Whoever cancels beforehand is told so, whatever is registered."""
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(AssemblyCancelledError):
        SystemPrompt().assemble(AssembleContext(cancel=cancel))
