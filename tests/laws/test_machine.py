"""Random lives of a host agree with a sequential model and leave nothing behind."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from dsh_prompt import AssembledSection, PromptAssembly, SystemPrompt, ToolSchema, hookimpl
from tests.laws import strategies
from tests.laws.model import HOST, Entry, Error, Model
from tests.laws.world import content

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import DisposableContext, Registration, Scope
    from tests.laws.strategies import Draft

T = TypeVar("T")
picks = st.integers(0, 19)


class HostMachine(RuleBasedStateMachine):
    """Does the same to a host and to its model."""

    def __init__(self) -> None:
        super().__init__()
        gc.freeze()  # what is alive by now need not be searched at every teardown
        self.prompt = SystemPrompt()
        self.model = Model()
        self.contexts: dict[str, DisposableContext] = {HOST: self.prompt}
        self.scopes: dict[str | None, Scope | None] = {None: None}
        self.registrations: dict[int, Registration] = {}
        self.objects: list[weakref.ref[Any]] = []
        self.numbers = count()

    def owner(self, pick: int) -> str:
        """Pick an owner, a living one twice as often as one that is gone."""
        return choose([*self.model.owners, *self.contexts], pick)

    def living_layer(self, pick: int) -> str | None:
        """Pick the global layer or a scope that is not disposed."""
        return choose([s for s in self.scopes if s is None or s in self.model.owners], pick)

    def entry(self, owner: str, draft: Draft) -> Entry:
        """Make an entry whose text nothing else has."""
        kind, names, order = draft
        text = f"{kind} {next(self.numbers)}"
        if kind not in {"tool", "tools"}:
            names = names[:1] if kind != "listen" else [text]
        return Entry(kind, owner, tuple(names), order, text)

    def attempt(self, expected: Error, action: Callable[[], object]) -> None:
        """Do *action*, which the model expects to work or to be refused."""
        if expected is None:
            action()
            return
        with pytest.raises(expected):
            action()

    def register(self, number: int, entry: Entry, ctx: DisposableContext) -> None:
        """Register *entry* with the host, and watch the object that makes its text."""
        contribution = make(entry)
        self.objects.append(weakref.ref(contribution))
        self.registrations[number] = ADD[entry.kind](ctx, entry, contribution)

    @initialize(world=st.lists(strategies.drafts, min_size=4, max_size=4))
    def start(self, world: list[list[Draft]]) -> None:
        """Start with two scopes, one below the other, a plugin, and something everywhere."""
        for name, parent in (("parent", None), ("child", "parent")):
            self.model.create_scope(name, HOST, parent)
            self.add_scope(name, self.prompt.create_scope(name, parent=self.scopes[parent]))
        self.load(1, "p", world[3])
        for pick, drafts in enumerate(world[:3]):
            self.contribute(pick, drafts)

    def add_scope(self, name: str, scope: Scope) -> None:
        """Keep *scope* and watch it."""
        self.contexts[name] = self.scopes[name] = scope
        self.objects.append(weakref.ref(scope))

    @rule(pick=picks, drafts=strategies.drafts)
    def contribute(self, pick: int, drafts: list[Draft]) -> None:
        """Register things through any owner, also through one that is gone."""
        owner = self.owner(pick)
        for draft in drafts:
            entry, number = self.entry(owner, draft), next(self.numbers)
            expected = self.model.register(number, entry)
            register = partial(self.register, number, entry, self.contexts[owner])
            self.attempt(expected, register)

    @rule(pick=picks)
    @precondition(lambda self: bool(self.registrations))
    def dispose(self, pick: int) -> None:
        """Dispose a registration, for the first time or again."""
        number = choose(list(self.registrations), pick)
        self.model.entries.pop(number, None)
        self.registrations[number].dispose()

    @rule(pick=picks, kept=st.sets(strategies.variable_names), is_allow=st.booleans())
    def restrict(self, pick: int, kept: set[str], is_allow: bool) -> None:
        """Mask tools that a scope inherits."""
        scope = choose([name for name in self.scopes if name], pick)
        known = self.model.inherited_tools(scope) if scope in self.model.owners else []
        names = tuple(name for name in known if name in kept)
        allow = names if is_allow or not names else None
        entry = Entry("restrict", scope, () if allow is not None else names, allow=allow)
        number = next(self.numbers)
        expected = self.model.register(number, entry)
        self.attempt(expected, lambda: self.mask(number, scope, allow, names))

    def mask(
        self, number: int, scope: str, allow: tuple[str, ...] | None, names: tuple[str, ...]
    ) -> None:
        """Restrict *scope* to what *allow* lists, or else deny *names*."""
        viewer = self.scopes[scope]
        assert viewer is not None
        masked = viewer.restrict(deny=names) if allow is None else viewer.restrict(allow=allow)
        self.registrations[number] = masked

    @rule(pick=picks, parent_pick=picks)
    @precondition(lambda self: len(self.scopes) < 7)
    def create_scope(self, pick: int, parent_pick: int) -> None:
        """Create a scope that goes with any owner, below any scope."""
        above, name = self.owner(pick), f"scope {next(self.numbers)}"
        parent = choose(list(self.scopes), parent_pick)
        expected = self.model.create_scope(name, above, parent)
        create = partial(self.contexts[above].create_scope, name, parent=self.scopes[parent])
        self.attempt(expected, lambda: self.add_scope(name, create()))

    @rule(pick=picks, parent_pick=picks)
    def rebind(self, pick: int, parent_pick: int) -> None:
        """Give a living scope another parent, if that forms no cycle."""
        name, parent = self.living_layer(pick), choose(list(self.scopes), parent_pick)
        scope, below = self.scopes[name], self.scopes[parent]
        if name is not None and scope is not None:
            self.attempt(self.model.rebind(name, parent), lambda: scope.rebind(below))

    @rule(pick=picks, name=st.sampled_from(["p", "q"]), drafts=strategies.drafts)
    def load(self, pick: int, name: str, drafts: list[Draft]) -> None:
        """Load a plugin into a living layer; a clash inside leaves nothing of it."""
        layer, owner = self.living_layer(pick), f"plugin {next(self.numbers)}"
        entries = {next(self.numbers): self.entry(owner, draft) for draft in drafts}
        hook = Entry("listen", owner, (f"hook of {owner}",), text=owner)
        expected = self.model.load(owner, name, layer, {**entries, next(self.numbers): hook})
        plugin = make_plugin(self, owner, entries)
        self.objects.append(weakref.ref(plugin))
        scope = self.scopes[layer]
        self.attempt(expected, lambda: self.prompt.load(plugin, name=name, scope=scope))

    @rule(pick=picks)
    @precondition(lambda self: bool(self.model.plugins))
    def unload(self, pick: int) -> None:
        """Unload a plugin with all that it registered."""
        self.unload_plugin(*choose(list(self.model.plugins), pick))

    def unload_plugin(self, name: str, layer: str | None) -> None:
        """Unload the plugin *name* of *layer*."""
        self.model.dispose_owner(self.model.plugins[name, layer])
        self.prompt.unload(name, scope=self.scopes[layer])

    @rule(pick=picks)
    def dispose_scope(self, pick: int) -> None:
        """Dispose a scope, for the first time or again, with its plugins."""
        name = choose([name for name in self.scopes if name], pick)
        self.model.dispose_owner(name)
        self.contexts[name].dispose()

    @rule()
    def assemble(self) -> None:
        """Any scope's assembly is what the model says, also that of a scope that is gone."""
        for name, scope in self.scopes.items():
            assert shown(self.prompt.assemble(scope=scope)) == self.model.assemble(name)
        loaded = {(plugin.name, plugin.scope) for plugin in self.prompt.plugins}
        expected = {(name, self.scopes[layer]) for name, layer in self.model.plugins}
        assert loaded == expected

    def teardown(self) -> None:
        """Dispose everything: the host is as a fresh one, and nothing is kept alive."""
        try:
            self.assemble()
            self.dispose_all()
            assert content(self.prompt.assemble()) == FRESH
            assert (self.prompt.plugins, list(self.prompt.registry.schemas(None))) == ([], [])
            for kept in (self.contexts, self.scopes, self.registrations):
                kept.clear()
            gc.collect()
            assert [alive for ref in self.objects if (alive := ref()) is not None] == []
        finally:
            gc.unfreeze()

    def dispose_all(self) -> None:
        """Unload every plugin, dispose every registration and scope."""
        while self.model.plugins:
            self.unload_plugin(*next(iter(self.model.plugins)))
        for registration in self.registrations.values():
            registration.dispose()
        for scope in filter(None, self.scopes.values()):
            scope.dispose()
            assert content(self.prompt.assemble(scope=scope)) == FRESH


FRESH = content(SystemPrompt().assemble())


def choose(things: list[T], pick: int) -> T:
    """Give the thing that *pick* points at."""
    return things[pick % len(things)]


def shown(assembly: PromptAssembly) -> dict[str, object]:
    """Give what the model predicts of *assembly*."""
    return {
        "sections": [(section.name, section.text) for section in assembly.sections],
        "contexts": [(context.name, context.text) for context in assembly.contexts],
        "variables": assembly.variables,
        "tools": [(tool.name, tool.description) for tool in assembly.tools],
    }


def make(entry: Entry) -> Any:
    """Make the function that provides for *entry*, listens, or is its callback."""
    if entry.kind == "listen":
        return lambda assembly: assembly.sections.append(
            AssembledSection(entry.names[0], entry.text)
        )
    if entry.kind in {"tool", "tools"}:
        return lambda: [ToolSchema(name, entry.text, {}) for name in entry.names]
    return lambda: entry.text


def make_plugin(machine: HostMachine, owner: str, entries: dict[int, Entry]) -> Any:
    """Make a plugin that registers *entries*, and adds a section to each assembly."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            machine.contexts[owner] = ctx
            for number, entry in entries.items():
                machine.register(number, entry, ctx)

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.sections.append(AssembledSection(f"hook of {owner}", owner))

    return Plugin()


ADD: dict[str, Callable[[DisposableContext, Entry, Any], Registration]] = {
    "section": lambda ctx, e, text: ctx.section(name=e.names[0], order=e.order, text=text),
    "context": lambda ctx, e, text: ctx.context(name=e.names[0], order=e.order, text=text),
    "variable": lambda ctx, e, value: ctx.variable(e.names[0], value),
    "tool": lambda ctx, e, schemas: ctx.tools(schemas()),
    "tools": lambda ctx, e, provider: ctx.tools(provider),
    "suppress": lambda ctx, e, _: ctx.suppress_runtime_context(),
    "listen": lambda ctx, e, listener: ctx.on_assemble(listener, prepend=e.order < 0),
}


TestHost = HostMachine.TestCase
TestHost.settings = settings(max_examples=100, stateful_step_count=25)
