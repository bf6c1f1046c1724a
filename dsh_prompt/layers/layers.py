"""Layers: who contributed what, at the global level and in each scope.

A layer holds entries; a chain of layers, global first and nearest scope last, is what an
assembly sees. Everything here happens under one lock, in one step: a group of entries
comes or goes whole, in one generation.
"""

from __future__ import annotations

from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import ref

from dsh_prompt.layers.entry import NAMED, duplicate
from dsh_prompt.layers.plugin_block import PluginBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.assembly.running import RunningAssembly
    from dsh_prompt.layers.entry import Entry, Unique
    from dsh_prompt.lifecycle.changes import ChangeListener
    from dsh_prompt.lifecycle.disposable import Scope


class Layer:
    """The entries of the global level (*scope* is None) or of one scope."""

    __slots__ = (
        "closed",
        "dependents",
        "entries",
        "outdated",
        "parent",
        "plan",
        "plugins",
        "reserved",
        "scope",
        "urgent",
    )

    def __init__(self, scope: Scope | None = None, parent: Layer | None = None) -> None:
        self.scope = scope
        self.parent = parent
        self.entries: dict[Unique, Entry] = {}
        # Entries of a load under way: their names are taken, but no assembly sees them.
        self.reserved: dict[Unique, Entry] | None = None
        # The compiled plan of the chain that ends here, read without a lock; any change of
        # a layer in the chain resets it at once.
        self.plan: Any = None
        # The one before, as long as it lives.
        self.outdated: ref[Any] | None = None
        # The layers whose plans were made from this one.
        self.dependents: dict[Layer, None] | None = None
        # The plugins loaded into this layer, or being loaded, by name.
        self.plugins: dict[str, Any] | None = None
        # The generation of the last change here that was marked urgent.
        self.urgent = 0
        # Of a disposed scope: it stays a valid key, but no plan is kept for it.
        self.closed = False

    def holds(self, kind: str) -> list[Entry]:
        """List the entries of *kind*, in registration order."""
        return [entry for entry in list(self.entries.values()) if entry.kind == kind]

    def all(self, kind: str) -> list[Entry]:
        """List the entries of *kind*, those of loads under way included."""
        return self.holds(kind) + [
            entry for entry in list((self.reserved or {}).values()) if entry.kind == kind
        ]


class Layers:
    """All layers of one host, the lock that guards them, and the number of their state.

    The lock keeps other threads out, but not a finalizer that disposes of something while the
    garbage collector runs: what is walked through where it may run is copied first.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.generation = 0
        self.root = Layer()
        # Change listeners: outside of every chain, so that they make no new generation.
        self.watchers = Layer()
        # The assemblies under way.
        self.assemblies: set[RunningAssembly] = set()
        self.block = PluginBlock()
        # How often which plugins are named by ``before`` and ``after`` of listeners.
        self.mentioned: dict[str, int] = {}
        self._sequence = count()

    def chain(self, layer: Layer) -> list[Layer]:
        """Give the layers that an assembly for *layer* sees: global, farthest, ..., itself."""
        chain = []
        link: Layer | None = layer
        while link is not None and link is not self.root:
            chain.append(link)
            link = link.parent
        return [self.root, *reversed(chain)]

    def watching(self) -> list[ChangeListener]:
        """List the change listeners, in registration order."""
        if not self.watchers.entries:
            return []
        with self.lock:
            # A load may show its own late: they stand where they were registered.
            entries = sorted(self.watchers.entries.values(), key=lambda entry: entry.sequence)
            # A finalizer may have disposed of one meanwhile.
            return [entry.value for entry in entries if entry.value is not None]

    def add(self, entry: Entry) -> None:
        """Make one *entry* visible, as `insert` does several: by far the most come alone.

        The caller holds the lock. Raises `DuplicateContributionError` for a name that is taken.
        """
        layer, key = entry.layer, entry.key
        entry.sequence = next(self._sequence)
        if entry.kind not in NAMED:
            key = entry.key = (entry.kind, entry.sequence)
        if layer.reserved and key in layer.reserved:
            raise duplicate(entry, layer.reserved[key])
        other = layer.entries.setdefault(key, entry)
        if other is not entry:
            raise duplicate(entry, other)
        if entry.mentions:
            self._mention(entry.mentions, 1)
        if layer.dependents:
            self.touch((layer,))
        elif layer is not self.watchers:
            self.generation += 1

    def insert(
        self,
        entries: Sequence[Entry],
        *,
        reserved: bool = False,
        gives_way: Callable[[Entry], bool] | None = None,
    ) -> int:
        """Make *entries* visible, all or none, in their order; gives the new generation.

        Where they are *reserved* for a load under way, only their names are taken; what
        *gives_way* may hold such a name: the load will replace it. The caller holds the lock.
        Raises `DuplicateContributionError` for a name that is taken.
        """
        for index, entry in enumerate(entries):
            layer, kind = entry.layer, entry.kind
            entry.sequence = next(self._sequence)
            if kind not in NAMED:
                entry.key = (kind, entry.sequence)
            key = entry.key
            other = layer.entries.get(key)
            if other is not None and gives_way is not None and gives_way(other):
                other = None
            if other is None and layer.reserved:
                other = layer.reserved.get(key)
            if other is not None:
                for placed in entries[:index]:
                    self._take_out(placed)
                raise duplicate(entry, other)
            if reserved:
                self._reserve(entry)
            else:
                layer.entries[key] = entry
            if entry.mentions:
                self._mention(entry.mentions, 1)
        return self.generation if reserved else self._touch_layers_of(entries)

    def withdraw(self, entries: Iterable[Entry]) -> tuple[list[Entry], int]:
        """Take *entries* out in one generation, and empty them.

        Gives those that were visible, and the generation's number.
        """
        gone, _, generation = self.exchange(entries, ())
        return gone, generation

    def exchange(
        self, outgoing: Iterable[Entry], incoming: Iterable[Entry], *, for_good: bool = True
    ) -> tuple[list[Entry], list[Entry], int]:
        """Take *outgoing* out and make reserved *incoming* visible, in one generation.

        Gives those that were visible, those that are now, and its number. What goes is
        emptied; unless it is *for good*: then its names are reserved, and another exchange can
        bring it back.
        """
        with self.lock:
            # Some of it may have been disposed again since. It leaves first: it may have the
            # names of what goes.
            shown = [entry for entry in incoming if self._unreserve(entry)]
            gone = []
            for entry in outgoing:
                visible = entry.layer.entries.get(entry.key) is entry
                if visible:
                    del entry.layer.entries[entry.key]
                    gone.append(entry)
                if visible and not for_good:
                    self._reserve(entry)
                elif visible or self._unreserve(entry):
                    self._mention(entry.mentions, -1)
                    entry.empty()
            for entry in shown:
                entry.layer.entries[entry.key] = entry
            if gone and shown:  # which may have taken the places of others
                _sort({entry.layer for entry in shown})
            return gone, shown, self._touch_layers_of([*gone, *shown])

    def renumber(self, entries: Sequence[Entry], start: float) -> None:
        """Move reserved *entries* in the order of registration: right behind number *start*."""
        with self.lock:
            step = 1 / (len(entries) + 1)
            for index, entry in enumerate(entries, 1):
                if not self._unreserve(entry):
                    continue
                entry.sequence = start + index * step
                if entry.kind not in NAMED:
                    entry.key = (entry.kind, entry.sequence)
                self._reserve(entry)

    def touch(self, layers: Iterable[Layer]) -> int:
        """Begin a new generation in which *layers* changed, and give its number."""
        self.generation += 1
        for layer in layers:
            dependents, layer.dependents = layer.dependents, None
            for dependent in dependents or ():
                plan, dependent.plan = dependent.plan, None
                if plan is not None:
                    # To let go of it takes as long as it is large, and is not for a change to
                    # pay: it refers to itself until the next one is made, or the garbage
                    # collector finds it.
                    plan.itself = plan
                    dependent.outdated = ref(plan)
        return self.generation

    def relink(self, layer: Layer, parent: Layer | None) -> int:
        """Give *layer* another parent; gives the new generation."""
        with self.lock:
            generation = self.touch([layer])
            for link in self.chain(layer)[1:-1]:  # from now on these have nothing to do with it
                dependents = list(link.dependents or ())
                kept = [one for one in dependents if layer not in self.chain(one)]
                link.dependents = dict.fromkeys(kept)
            # What was urgent in the chain before still is.
            layer.urgent = max(link.urgent for link in self.chain(layer))
            layer.parent = parent
            return generation

    def mark_urgent(self, layers: Iterable[Layer]) -> None:
        """Note that models are to be told at once of what changed last in *layers*."""
        with self.lock:
            for layer in layers:
                layer.urgent = self.generation

    def next_sequence(self) -> int:
        """Give the number of the next registration, or load."""
        return next(self._sequence)

    def keep_plan(self, layer: Layer, plan: Any) -> bool:
        """Remember *plan* for *layer* until a layer of its chain changes.

        Tells whether it is of the present generation: a finalizer may have changed something
        while it was made.
        """
        if layer.closed:
            return bool(plan.generation == self.generation)
        for link in self.chain(layer):
            if link.dependents is None:
                link.dependents = {}
            link.dependents[layer] = None
        # Whatever changes from here on resets it.
        if plan.generation != self.generation:
            return False
        layer.plan = plan
        _let_go(layer)
        return True

    def close(self, layer: Layer) -> None:
        """Forget the plan of a disposed scope's *layer*, for good."""
        with self.lock:
            layer.closed = True
            layer.plan = None
            _let_go(layer)
            for link in self.chain(layer):
                if link.dependents:
                    link.dependents.pop(layer, None)

    def _reserve(self, entry: Entry) -> None:
        layer = entry.layer
        if layer.reserved is None:
            layer.reserved = {}
        layer.reserved[entry.key] = entry

    def _take_out(self, entry: Entry) -> None:
        if not self._unreserve(entry):
            del entry.layer.entries[entry.key]
        self._mention(entry.mentions, -1)

    def _touch_layers_of(self, entries: Sequence[Entry]) -> int:
        """Begin a new generation, unless none of *entries* matters for assemblies."""
        if len(entries) == 1 and not entries[0].layer.dependents:
            self.generation += entries[0].layer is not self.watchers
            return self.generation
        layers = {entry.layer for entry in entries}
        layers.discard(self.watchers)
        return self.touch(layers) if layers else self.generation

    def _mention(self, names: Iterable[str], step: int) -> None:
        for name in names:
            self.mentioned[name] = self.mentioned.get(name, 0) + step
            if not self.mentioned[name]:
                del self.mentioned[name]

    def _unreserve(self, entry: Entry) -> bool:
        reserved = entry.layer.reserved
        if not reserved or reserved.get(entry.key) is not entry:
            return False
        del reserved[entry.key]
        return True


def _let_go(layer: Layer) -> None:
    """Let go of the outdated plan of *layer*, if it is still there."""
    plan = None if layer.outdated is None else layer.outdated()
    layer.outdated = None
    if plan is not None:
        plan.itself = None


def _sort(layers: Iterable[Layer]) -> None:
    """Put the entries of *layers* in the order of registration."""
    for layer in layers:
        entries = sorted(layer.entries.items(), key=lambda item: item[1].sequence)
        layer.entries = dict(entries)
