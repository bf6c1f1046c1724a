"""A sequential model of a host: what is registered where, and what an assembly must show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dsh_prompt import (
    IDENTITY_SECTION,
    PERSONA_SECTION,
    DisposedError,
    DuplicateContributionError,
    PluginConflictError,
    PluginLoadError,
    PromptError,
    ScopeError,
)

HOST = "host"
IDENTITY_TEXT = "You are an AI agent powered by DeepSeek Harness."
UNIQUE_KINDS = {"section", "context", "variable", "tool"}

Error = type[PromptError] | None
Expected = dict[str, object]


@dataclass
class Entry:
    """One registration: what it is, in which layer, and what it shows."""

    kind: str
    owner: str
    names: tuple[str, ...] = ()
    order: float = 0
    text: str = ""
    layer: str | None = None
    allow: tuple[str, ...] | None = None

    def clashes(self, other: Entry) -> bool:
        """Whether both cannot be in one layer."""
        same_place = self.kind == other.kind in UNIQUE_KINDS and self.layer == other.layer
        return same_place and not set(self.names).isdisjoint(other.names)


class Owner(NamedTuple):
    """A scope or plugin: what it registers into, and what it goes with."""

    layer: str | None
    above: str
    plugin: str | None = None


@dataclass
class Model:
    """What was registered and not yet disposed, in order, and how scopes hang together."""

    owners: dict[str, Owner] = field(default_factory=lambda: {HOST: Owner(None, "")})
    parents: dict[str, str | None] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.entries[-2] = Entry("section", HOST, (IDENTITY_SECTION,), -1000, IDENTITY_TEXT)
        self.entries[-1] = Entry("section", HOST, (PERSONA_SECTION,))

    def register(self, number: int, entry: Entry) -> Error:
        """Register *entry* under its *number*, or say how that is refused."""
        if entry.owner not in self.owners:
            return DisposedError
        entry.layer = self.owners[entry.owner].layer
        if any(entry.clashes(other) for other in self.entries.values()):
            return DuplicateContributionError
        self.entries[number] = entry
        return None

    def create_scope(self, scope: str, above: str, parent: str | None) -> Error:
        """Create *scope*, which goes when *above* goes."""
        if above not in self.owners:
            return DisposedError
        self.parents[scope] = parent
        self.owners[scope] = Owner(scope, above)
        return None

    def rebind(self, scope: str, parent: str | None) -> Error:
        """Hang *scope* below *parent*."""
        if scope in self.chain(parent):
            return ScopeError
        self.parents[scope] = parent
        return None

    def load(self, owner: str, name: str, layer: str | None, entries: dict[int, Entry]) -> Error:
        """Load the plugin *name* with *entries* into *layer*; *owner* is its context."""
        if (name, layer) in self.plugins:
            return PluginConflictError
        before = dict(self.entries)
        self.owners[owner] = Owner(layer, layer or HOST, name)
        if any(self.register(number, entry) for number, entry in entries.items()):
            self.entries = before
            del self.owners[owner]
            return PluginLoadError
        return None

    def dispose_owner(self, owner: str) -> None:
        """Withdraw what *owner* registered, with the scopes and plugins that go with it."""
        for inner in [name for name, value in self.owners.items() if value.above == owner]:
            self.dispose_owner(inner)
        self.owners.pop(owner, None)
        self.entries = {n: e for n, e in self.entries.items() if e.owner != owner}

    @property
    def plugins(self) -> dict[tuple[str, str | None], str]:
        """The owner of each loaded plugin by its name and layer."""
        loaded = {(value.plugin, value.layer): key for key, value in self.owners.items()}
        return {(name, layer): key for (name, layer), key in loaded.items() if name is not None}

    def chain(self, scope: str | None) -> list[str]:
        """Give *scope* and its ancestors, nearest first."""
        chain = []
        while scope is not None:
            chain.append(scope)
            scope = self.parents[scope]
        return chain

    def visible(self, kind: str, scope: str | None) -> list[Entry]:
        """Give the entries of *kind* that take part for *scope*, farthest layer first."""
        layers = [None, *reversed(self.chain(scope))]
        return [
            entry
            for layer in layers
            for entry in self.entries.values()
            if entry.kind == kind and entry.layer == layer
        ]

    def inherited_tools(self, scope: str) -> list[str]:
        """Name the tools of the registry that *scope* gets from above, restricted or not."""
        above = self.visible("tool", self.parents[scope])
        return sorted({name for entry in above for name in entry.names})

    def assemble(self, scope: str | None) -> Expected:
        """Give what an assembly for *scope* must show."""
        marks = [(entry.names[0], entry.text) for entry in self._listeners(scope)]
        suppressed = self.visible("suppress", scope) != []
        return {
            "sections": self._blocks("section", scope) + marks,
            "contexts": [] if suppressed else self._blocks("context", scope),
            "variables": {e.names[0]: e.text for e in self.visible("variable", scope)},
            "tools": self._tools(scope),
        }

    def _blocks(self, kind: str, scope: str | None) -> list[tuple[str, str]]:
        merged = {entry.names[0]: entry for entry in self.visible(kind, scope)}
        ordered = sorted(merged.values(), key=lambda e: (e.order, utf16(e.names[0])))
        return [(entry.names[0], entry.text) for entry in ordered]

    def _tools(self, scope: str | None) -> list[tuple[str, str]]:
        provided = [(n, e.text) for e in self.visible("tools", scope) for n in e.names]
        pairs = [*self._registered_tools(scope), *provided]
        return sorted(pairs, key=lambda pair: utf16(pair[0]))

    def _registered_tools(self, scope: str | None) -> list[tuple[str, str]]:
        """Give the registry's tools: nearer ones shadow, masks spare what *scope* registers."""
        nearest = {name: e for e in self.visible("tool", scope) for name in e.names}
        masks = self.visible("restrict", scope)
        return [
            (name, entry.text)
            for name, entry in nearest.items()
            if entry.layer == scope or all(_lets_through(mask, name) for mask in masks)
        ]

    def _listeners(self, scope: str | None) -> list[Entry]:
        layers = {None, *self.chain(scope)}
        ours = [e for e in self.entries.values() if e.kind == "listen" and e.layer in layers]
        first = [entry for entry in reversed(ours) if entry.order < 0]
        return first + [entry for entry in ours if entry.order >= 0]


def _lets_through(mask: Entry, name: str) -> bool:
    return name in mask.allow if mask.allow is not None else name not in mask.names


def utf16(name: str) -> bytes:
    """Give the UTF-16 code units of *name* as bytes that sort like them."""
    return name.encode("utf-16-be", "surrogatepass")
