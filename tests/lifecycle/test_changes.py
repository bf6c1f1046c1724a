"""Change events: what came and went, told once, after the fact, or taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt import (
    DisposableContext,
    DuplicateContributionError,
    InvalidContributionError,
    PromptSection,
    ScopeError,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import ChangeEvent, Registration, Scope

    Act = Callable[[SystemPrompt, Scope], object]


class Plugin:
    """Contributes a section and a variable."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.variable("v", "value")

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection("s", 1, "{{v}}")]


class Idle:
    """Contributes nothing."""

    @hookimpl
    def activate(self) -> None: ...


class RefusalError(Exception):
    """What a change listener raises in these tests."""


class Refusing:
    """A change listener that refuses events of some kinds, and keeps them all."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds
        self.events: list[ChangeEvent] = []

    def __call__(self, event: ChangeEvent, /) -> None:
        self.events.append(event)
        if event.kind in self.kinds:
            raise RefusalError(event.kind)

    @property
    def told(self) -> list[str]:
        return [event.kind for event in self.events]


#: One registration of every kind, and the (kind, name) that events show for it.
REGISTRATIONS: dict[str, tuple[Callable[[DisposableContext], Registration], tuple[str, str]]] = {
    "section": (lambda ctx: ctx.section(name="x", order=1, text=""), ("section", "x")),
    "context": (lambda ctx: ctx.context(name="x", order=1, text=""), ("context", "x")),
    "tool": (lambda ctx: ctx.tool({"name": "x"}), ("tool", "x")),
    "variable": (lambda ctx: ctx.variable("x", "value"), ("variable", "x")),
    "tools": (lambda ctx: ctx.tools(no_tools), ("tools", "no_tools")),
    "suppressor": (
        lambda ctx: ctx.suppress_runtime_context(),
        ("suppressor", "runtime-context"),
    ),
    "listener": (lambda ctx: ctx.on_assemble(listen), ("listener", "listen")),
}

registrations = pytest.mark.parametrize(
    ("register", "item"), REGISTRATIONS.values(), ids=REGISTRATIONS
)


def no_tools() -> list[ToolSchema]:
    """Provide no tools."""
    return []


def listen() -> None:
    """Listen to the waterfall and do nothing."""


def listening(prompt: SystemPrompt) -> list[ChangeEvent]:
    """Give the list that *prompt* puts its events into from now on."""
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    return events


# What is told


@registrations
def test_a_registration_and_its_undo_are_told_once_each(
    register: Callable[[DisposableContext], Registration], item: tuple[str, str]
) -> None:
    """The event lists kind, name and scope of what came, then of what went."""
    prompt = SystemPrompt()
    events = listening(prompt)
    register(prompt).dispose()
    came, went = events
    assert (came.kind, came.added, came.removed) == ("registered", ((*item, None),), ())
    assert (went.kind, went.added, went.removed) == ("disposed", (), ((*item, None),))


@registrations
def test_an_event_of_a_scope_names_it(
    register: Callable[[DisposableContext], Registration], item: tuple[str, str]
) -> None:
    """In the event itself and in each of its items; listeners hear every scope."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    events = listening(prompt.create_scope("other").host)
    register(scope)
    assert [(event.scope, event.added) for event in events] == [(scope, ((*item, scope),))]


def test_an_event_names_the_plugin_that_it_belongs_to() -> None:
    """None where the host itself registers."""
    prompt = SystemPrompt()
    contexts: list[DisposableContext] = []

    class Late:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            contexts.append(ctx)

    prompt.load(Late(), name="late")
    events = listening(prompt)
    contexts[0].variable("a", "value")
    prompt.variable("b", "value")
    assert [(event.kind, event.plugin) for event in events] == [
        ("registered", "late"),
        ("registered", None),
    ]


def test_the_generation_is_that_of_the_assemblies_that_show_the_change() -> None:
    """It grows with every change, and an assembly carries the number that it was made from."""
    prompt = SystemPrompt()
    events = listening(prompt)
    last = prompt.assemble().generation or 0
    for act in (lambda: prompt.load(Plugin()), lambda: prompt.unload("Plugin")):
        act()
        assert events[-1].generation == prompt.assemble().generation == last + 1
        last += 1


def test_the_event_comes_after_the_fact() -> None:
    """A listener that assembles sees what it is told of."""
    prompt = SystemPrompt()
    seen: list[str] = []
    prompt.on_change(lambda event: seen.append(render_prompt(prompt.assemble())[-5:]))
    prompt.load(Plugin())
    prompt.unload("Plugin")
    assert seen[0] == "value"
    assert seen[1] != "value"


def test_several_tools_are_one_registration() -> None:
    """One event lists them all, one undo takes them out."""
    prompt = SystemPrompt()
    events = listening(prompt)
    prompt.tools([{"name": "a"}, {"name": "b"}]).dispose()
    items = (("tool", "a", None), ("tool", "b", None))
    assert [(event.added, event.removed) for event in events] == [(items, ()), ((), items)]


def test_a_load_and_an_unload_fire_one_event_each() -> None:
    """All that the plugin brings is listed, however it brings it."""
    prompt = SystemPrompt()
    events = listening(prompt)
    prompt.load(Plugin(), name="p")
    prompt.unload("p")
    items = {("variable", "v", None), ("section", "s", None)}
    loaded, unloaded = events
    assert [(e.kind, e.plugin) for e in events] == [("loaded", "p"), ("unloaded", "p")]
    assert (set(loaded.added), loaded.removed) == (items, ())
    assert (unloaded.added, set(unloaded.removed)) == ((), items)


def test_a_plugin_without_contributions_is_told_of_too() -> None:
    """The list of plugins changed, so there is something to tell."""
    prompt = SystemPrompt()
    events = listening(prompt)
    prompt.load(Idle(), name="idle")
    prompt.unload("idle")
    assert [(event.kind, event.plugin) for event in events] == [
        ("loaded", "idle"),
        ("unloaded", "idle"),
    ]


def test_a_plugin_of_a_scope_is_told_with_the_scope() -> None:
    """In the event and in the items."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    events = listening(prompt)
    prompt.load(Plugin(), scope=scope)
    assert events[0].scope is scope
    assert {item[2] for item in events[0].added} == {scope}


def test_the_disposal_of_a_scope_fires_one_event_with_its_plugins() -> None:
    """Its contributions, those of its plugins, and the plugins themselves went together."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="p", scope=scope)
    scope.context(name="c", order=1, text="")
    events = listening(prompt)
    generation = prompt.assemble().generation or 0
    scope.dispose()
    (event,) = events
    kinds = {("plugin", "p"), ("section", "s"), ("variable", "v"), ("context", "c")}
    assert (event.kind, event.scope, event.generation) == ("scope-disposed", scope, generation + 1)
    assert set(event.removed) == {(*kind, scope) for kind in kinds}


def test_the_disposal_of_a_scope_with_an_idle_plugin_is_told() -> None:
    """A plugin went, though nothing that it contributed did."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Idle(), name="idle", scope=scope)
    events = listening(prompt)
    scope.dispose()
    assert [(e.kind, e.removed) for e in events] == [
        ("scope-disposed", (("plugin", "idle", scope),))
    ]


def test_a_rebound_and_a_restricted_scope_fire_one_event_each() -> None:
    """Nothing is added by a new parent; a restriction comes and goes."""
    prompt = SystemPrompt()
    prompt.tool({"name": "read"})
    parent, scope = prompt.create_scope("parent"), prompt.create_scope("agent")
    events = listening(prompt)
    scope.rebind(parent)
    scope.restrict(deny=["read"]).dispose()
    assert [(event.kind, event.scope) for event in events] == [
        ("rebound", scope),
        ("restricted", scope),
        ("disposed", scope),
    ]


def test_the_disposal_of_a_host_fires_one_event() -> None:
    """Its own listeners are told, though they go with it."""
    prompt = SystemPrompt()
    prompt.load(Plugin())
    prompt.create_scope("agent").variable("x", "value")
    events = listening(prompt)
    prompt.dispose()
    assert [event.kind for event in events] == ["disposed"]
    assert {("section", "s"), ("variable", "x")} <= {item[:2] for item in events[0].removed}


NOTHING: dict[str, Act] = {
    "create_scope": lambda prompt, scope: prompt.create_scope("x"),
    "callback": lambda prompt, scope: prompt.callback(print),
    "on_change": lambda prompt, scope: prompt.on_change(print).dispose(),
    "no tools": lambda prompt, scope: prompt.tools([]).dispose(),
    "an empty scope": lambda prompt, scope: scope.dispose(),
    "the same parent": lambda prompt, scope: scope.rebind(scope.parent),
    "an assembly": lambda prompt, scope: prompt.assemble(scope=scope),
    "no entry points": lambda prompt, scope: prompt.load_entry_points(only=()),
}


@pytest.mark.parametrize("act", NOTHING.values(), ids=NOTHING)
def test_what_changes_nothing_fires_nothing(act: Act) -> None:
    """Neither does it begin a generation."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    events = listening(prompt)
    generation = prompt.assemble().generation
    act(prompt, scope)
    assert (events, prompt.assemble().generation) == ([], generation)


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda prompt, scope: prompt.variable("taken", ""), DuplicateContributionError),
        (lambda prompt, scope: prompt.variable("Bad", ""), InvalidContributionError),
        (lambda prompt, scope: scope.rebind(scope), ScopeError),
        (lambda prompt, scope: scope.restrict(deny=["none"]), InvalidContributionError),
    ],
    ids=["duplicate", "invalid", "cycle", "unknown"],
)
def test_what_is_refused_fires_nothing(act: Act, error: type[Exception]) -> None:
    """The check stands before the change."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.variable("taken", "")
    events = listening(prompt)
    with pytest.raises(error):
        act(prompt, scope)
    assert events == []


def test_an_event_is_a_value() -> None:
    """No listener can change what the next one is told."""
    prompt = SystemPrompt()
    events = listening(prompt)
    prompt.variable("a", "")
    event: Any = events[0]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        event.kind = "disposed"
    assert isinstance(event.added, tuple)


# Who is told


def test_listeners_are_told_in_registration_order() -> None:
    """Whichever layer or plugin they were registered through."""
    prompt = SystemPrompt()
    order: list[str] = []
    scope = prompt.create_scope("agent")

    class Listening:
        @hookimpl
        def system_prompt_change(self) -> None:
            order.append("plugin")

    scope.on_change(lambda event: order.append("scope"))
    prompt.load(Listening())
    order.clear()
    prompt.on_change(lambda event: order.append("host"))
    prompt.variable("a", "value")
    assert order == ["scope", "plugin", "host"]


def test_a_listener_is_called_by_position() -> None:
    """Its parameter may have any name, and none that can be named."""
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []

    def listener(whatever: ChangeEvent, /) -> None:
        events.append(whatever)

    prompt.on_change(listener)
    prompt.variable("a", "value")
    assert len(events) == 1


def test_a_listener_is_told_nothing_after_its_undo_or_its_owner_is_gone() -> None:
    """A change listener is a registration like any other."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    events: list[ChangeEvent] = []
    undo = prompt.on_change(events.append)
    scope.on_change(events.append)
    undo()
    scope.dispose()
    prompt.variable("a", "value")
    assert events == []


def test_a_listener_may_register_and_load() -> None:
    """The host is whole while it tells, so a listener can work with it."""
    prompt = SystemPrompt()

    def listener(event: ChangeEvent) -> None:
        if event.kind == "registered" and event.added[0][1] == "first":
            prompt.variable("second", "value")
            prompt.load(Plugin())

    prompt.on_change(listener)
    prompt.variable("first", "value")
    assert set(prompt.assemble().variables) == {"first", "second", "v"}


# Taking back


@registrations
def test_a_listener_that_raises_takes_a_registration_back(
    register: Callable[[DisposableContext], Registration], item: tuple[str, str]
) -> None:
    """Its error goes to the caller; whoever had been told is told of the withdrawal."""
    prompt = SystemPrompt()
    before = prompt.assemble()
    early, refusing, late = Refusing(), Refusing("registered"), Refusing()
    for listener in (early, refusing, late):
        prompt.on_change(listener)
    with pytest.raises(RefusalError, match="registered"):
        register(prompt)
    assert prompt.assemble() == before
    assert early.told == ["registered", "withdrawn"]
    assert late.told == []
    told, withdrawn = early.events
    assert (withdrawn.added, withdrawn.removed) == ((), told.added)
    assert withdrawn.generation == prompt.assemble().generation == told.generation + 1


def test_what_was_taken_back_can_be_registered_again() -> None:
    """The name is free, and disposal knows nothing of the first attempt."""
    prompt = SystemPrompt()
    undo = prompt.on_change(Refusing("registered"))
    with pytest.raises(RefusalError):
        prompt.section(name="a", order=1, text="first")
    undo()
    events = listening(prompt)
    prompt.section(name="a", order=1, text="second")
    prompt.dispose()
    assert [name for _, name, _ in events[-1].removed].count("a") == 1


def test_a_listener_that_refuses_the_withdrawal_too_hides_nothing() -> None:
    """Both errors come out in one group, and the registration is gone."""
    prompt = SystemPrompt()
    prompt.on_change(Refusing("registered", "withdrawn"))
    with pytest.raises(ExceptionGroup) as caught:
        prompt.variable("a", "value")
    assert [str(error) for error in caught.value.exceptions] == ["registered", "withdrawn"]
    assert prompt.assemble().variables == {}


def test_a_listener_that_refuses_a_withdrawal_keeps_it_from_nobody() -> None:
    """All who had been told of the registration are told that it is gone."""
    prompt = SystemPrompt()
    early, other = Refusing("withdrawn"), Refusing()
    for listener in (early, other, Refusing("registered")):
        prompt.on_change(listener)
    with pytest.raises(ExceptionGroup):
        prompt.variable("a", "value")
    assert other.told == ["registered", "withdrawn"]


def test_a_listener_that_raises_takes_a_load_back() -> None:
    """The plugin is gone, its cleanups have run, the error goes to the caller."""
    prompt = SystemPrompt()
    before = prompt.assemble()
    log: list[str] = []

    class Cleaning(Plugin):
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(log.append, "cleaned up")

        @hookimpl
        def deactivate(self) -> None:
            log.append("deactivated")

    early, late = Refusing(), Refusing()
    for listener in (early, Refusing("loaded"), late):
        prompt.on_change(listener)
    with pytest.raises(RefusalError, match="loaded"):
        prompt.load(Cleaning())
    assert (prompt.assemble(), prompt.plugins) == (before, [])
    assert log == ["deactivated", "cleaned up"]
    assert (early.told, late.told) == (["loaded", "withdrawn"], [])


def test_a_load_that_was_taken_back_can_be_repeated() -> None:
    """Neither its name nor those of its contributions are taken."""
    prompt = SystemPrompt()
    undo = prompt.on_change(Refusing("loaded"))
    with pytest.raises(RefusalError):
        prompt.load(Plugin())
    undo()
    prompt.load(Plugin())
    assert prompt.assemble().variables == {"v": "value"}


def test_a_plugin_may_refuse_its_own_load() -> None:
    """Its change hook is told of it like everybody's."""
    prompt = SystemPrompt()

    class Refuser(Plugin):
        @hookimpl
        def system_prompt_change(self, event: ChangeEvent) -> None:
            raise RefusalError(event.kind)

    with pytest.raises((RefusalError, ExceptionGroup)):
        prompt.load(Refuser())
    prompt.variable("v", "free")
    assert prompt.plugins == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_listener_passes_through_with_the_state_whole(
    error: type[BaseException],
) -> None:
    """It takes the load back as any error does."""
    prompt = SystemPrompt()

    def listener(event: ChangeEvent) -> None:
        if event.kind == "loaded":
            raise error

    prompt.on_change(listener)
    with pytest.raises(error):
        prompt.load(Plugin())
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


def test_a_listener_that_raises_takes_a_rebind_back() -> None:
    """The scope has its old parent again, and who had been told is told."""
    prompt = SystemPrompt()
    old, new = prompt.create_scope("old"), prompt.create_scope("new")
    scope = prompt.create_scope("agent", parent=old)
    old.variable("a", "old")
    early = Refusing()
    for listener in (early, Refusing("rebound")):
        prompt.on_change(listener)
    with pytest.raises(RefusalError):
        scope.rebind(new)
    assert (scope.parent, prompt.assemble(scope=scope).variables) == (old, {"a": "old"})
    assert early.told == ["rebound", "withdrawn"]


def test_a_listener_that_raises_takes_a_restriction_back() -> None:
    """The tool is shown again."""
    prompt = SystemPrompt()
    prompt.tool({"name": "read"})
    scope = prompt.create_scope("agent")
    prompt.on_change(Refusing("restricted"))
    with pytest.raises(RefusalError):
        scope.restrict(deny=["read"])
    assert [tool.name for tool in prompt.assemble(scope=scope).tools] == ["read"]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda prompt, scope: prompt.unload("p"), "unloaded"),
        (lambda prompt, scope: scope.dispose(), "scope-disposed"),
        (lambda prompt, scope: scope.variable("b", "").dispose(), "disposed"),
        (lambda prompt, scope: prompt.dispose(), "disposed"),
    ],
    ids=["unload", "scope", "registration", "host"],
)
def test_a_withdrawal_completes_before_a_listener_can_raise(act: Act, kind: str) -> None:
    """All are told, then the error comes out; what went stays gone."""
    prompt = SystemPrompt()
    prompt.load(Plugin(), name="p")
    scope = prompt.create_scope("agent")
    scope.variable("a", "value")
    late = Refusing()
    for listener in (Refusing(kind), late):
        prompt.on_change(listener)
    with pytest.raises(RefusalError, match=kind):
        act(prompt, scope)
    assert late.told[-1] == kind
    assert late.events[-1].removed


def test_errors_of_several_listeners_of_a_withdrawal_come_out_together() -> None:
    """Each is told, and no error hides another."""
    prompt = SystemPrompt()
    registration = prompt.variable("a", "value")
    for _ in range(2):
        prompt.on_change(Refusing("disposed"))
    with pytest.raises(ExceptionGroup) as caught:
        registration()
    assert len(caught.value.exceptions) == 2
    registration()


def test_a_failed_load_tells_of_everything_that_it_takes_with_it() -> None:
    """A plugin that `activate` loaded into a scope of its own was told of, and is gone."""
    prompt = SystemPrompt()

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(Plugin(), scope=ctx.create_scope("inner"))
            raise RefusalError

    events = listening(prompt)
    with pytest.raises(Exception, match="RefusalError"):
        prompt.load(Outer())
    added = {item for event in events for item in event.added}
    assert len(added) == 2
    assert added <= {item for event in events for item in event.removed}
    assert prompt.plugins == []


def test_a_refused_load_tells_of_everything_that_it_takes_with_it() -> None:
    """Also where a listener is what takes it back."""
    prompt = SystemPrompt()

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(Plugin(), scope=ctx.create_scope("inner"))
            ctx.variable("w", "outer")

    def refuse(event: ChangeEvent) -> None:
        if event.plugin == "Outer" and event.kind == "loaded":
            raise RefusalError

    events = listening(prompt)
    prompt.on_change(refuse)
    with pytest.raises(RefusalError):
        prompt.load(Outer())
    added = {item for event in events for item in event.added}
    assert len(added) == 3
    assert added <= {item for event in events for item in event.removed}
    assert prompt.plugins == []
