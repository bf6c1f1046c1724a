"""Ownership: every contribution has an owner, and every owner can take all of it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.assembly.running import is_inside_assembly, wait_for, wait_in_thread
from dsh_prompt.coroutines import drive
from dsh_prompt.errors import AsyncProviderError, DisposedError, raise_all
from dsh_prompt.layers.entry import Entry
from dsh_prompt.lifecycle.changes import ChangeEvent, tell_all, tell_in_turn, withdrawal
from dsh_prompt.lifecycle.disposal import Disposal, collect, is_inside_disposal
from dsh_prompt.lifecycle.leaving import entries_of, leave, leaving
from dsh_prompt.lifecycle.registration import UNTOLD, Cleanup, Loading, Registration, items
from dsh_prompt.lifecycle.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from dsh_prompt.layers.layers import Layer, Layers
    from dsh_prompt.layers.plugin_block import Member
    from dsh_prompt.lifecycle.changes import ChangeKind, Item
    from dsh_prompt.model.source import Source


# To look at an enum's member takes long in Python 3.11.
_ACTIVE = State.ACTIVE
_ENDED = (State.DISPOSING, State.DISPOSED)


class Lifetime:
    """Owns registrations, cleanups and other lifetimes, and disposes them as one.

    *layer* is where it registers, *source* how its contributions are labelled (None: it is
    made when somebody asks), *in_block* the entry-point plugin that it belongs to.
    """

    __slots__ = (
        "__weakref__",
        "_ending",
        "_in_block",
        "_layer",
        "_layers",
        "_loading",
        "_made_source",
        "_owned",
        "_owner",
        "_state",
    )

    #: The change event that its disposal fires.
    _disposal: ChangeKind = "disposed"

    def __init__(
        self,
        layers: Layers,
        layer: Layer,
        source: Source | None,
        *,
        owner: Lifetime | None,
        in_block: Member | None = None,
        loading: Loading | None = None,
    ) -> None:
        self._layers = layers
        self._layer = layer
        self._made_source = source
        self._owner = owner
        self._in_block = in_block
        self._loading = loading
        # What it owns, in order, but for the entries that a scope has in its own layer.
        self._owned: dict[Entry | Cleanup | Lifetime, None] | None = None
        self._state = _ACTIVE
        self._ending: Disposal | None = None

    @property
    def is_gone(self) -> bool:
        """Whether it is disposed, or being disposed."""
        return self._state in _ENDED

    @property
    def _source(self) -> Source:
        """How its contributions are labelled."""
        source = self._made_source
        if source is None:
            source = self._made_source = self._make_source()
        return source

    def _make_source(self) -> Source:
        raise NotImplementedError

    @property
    def _label(self) -> str:
        """How errors name it."""
        return self._source.owner

    # Owning

    def _own(self, owned: Cleanup | Lifetime) -> None:
        with self._layers.lock:
            if self._state is not _ACTIVE:
                self._check_active()
            self._keep(owned)

    def _keep(self, owned: Entry | Cleanup | Lifetime) -> None:
        if self._owned is None:
            self._owned = {owned: None}
        else:
            self._owned[owned] = None

    def _disown(self, owned: Cleanup) -> None:
        """Let go of what has ended by itself."""
        with self._layers.lock:
            if self._owned is not None:
                self._owned.pop(owned, None)

    def _check_active(self) -> None:
        if self._state is not _ACTIVE:
            raise DisposedError(
                f"{self._label} is {self._state.value}; nothing can be registered through it any "
                "more"
            )

    def _register(
        self,
        entry: Entry,
        kind: ChangeKind = "registered",
        check: Callable[[Layers, Entry], None] | None = None,
    ) -> Registration:
        """Make *entry* part of its layer and tell the change listeners, or do neither.

        *check* may refuse it while nothing else can change.
        """
        layers = self._layers
        with layers.lock:
            # By far the most: nothing is being loaded, and nobody is to be told.
            if self._loading is None and not layers.watchers.entries:
                if self._state is not _ACTIVE:
                    self._check_active()
                if check is not None:
                    check(layers, entry)
                layers.add(entry)
                if entry.layer.scope is not self:
                    self._keep(entry)
                return Registration(self, (entry,))
        return self._register_all((entry,), kind, check)

    def _register_all(
        self,
        entries: Sequence[Entry],
        kind: ChangeKind = "registered",
        check: Callable[[Layers, Entry], None] | None = None,
    ) -> Registration:
        """Do the same with several *entries* as one, and with those of a load."""
        layers = self._layers
        with layers.lock:
            if self._state is not _ACTIVE:
                self._check_active()
            if check is not None:
                for entry in entries:
                    check(layers, entry)
            loading = self._loading
            if loading is None or loading.entries is None:
                is_loading, generation = False, layers.insert(entries)
            else:  # told as a whole, when the load is done
                gives_way = loading.gives_way
                is_loading = True
                generation = layers.insert(entries, reserved=True, gives_way=gives_way)
                loading.entries.extend(entries)
            for entry in entries:
                if entry.layer.scope is not self:
                    self._keep(entry)
        if not is_loading and layers.watchers.entries:
            self._announce(entries, kind, generation)
        return Registration(self, entries)

    def _announce(self, entries: Sequence[Entry], kind: ChangeKind, generation: int) -> None:
        added = items(entries)
        listeners = self._layers.watching() if added else []
        if not listeners:
            return
        event = self._event(kind, added, (), generation)
        told, error = tell_in_turn(listeners, event)
        if error is not None:
            gone, generation = self._withdraw(entries)
            back = withdrawal(event, generation, items(gone))
            raise_all([error, *tell_all(told if gone else (), back)], UNTOLD)

    def _release(self, registration: Registration) -> None:
        """Withdraw the entries of *registration* that are still there, and tell it."""
        entries, registration.entries = registration.entries, ()
        gone, generation = self._withdraw(entries)
        if removed := items(gone):
            event = self._event("disposed", (), removed, generation)
            raise_all(tell_all(self._layers.watching(), event), UNTOLD)

    def _withdraw(self, entries: Sequence[Entry]) -> tuple[list[Entry], int]:
        with self._layers.lock:
            owned = self._owned or {}
            for entry in entries:
                owned.pop(entry, None)
            return self._layers.withdraw(entries)

    def _event(
        self,
        kind: ChangeKind,
        added: tuple[Item, ...],
        removed: tuple[Item, ...],
        generation: int,
    ) -> ChangeEvent:
        return ChangeEvent(kind, self._source.plugin, self._layer.scope, added, removed, generation)

    # Disposing

    def dispose(self) -> None:
        """Withdraw everything that was registered through this context, then clean up.

        What was registered last is cleaned up first; a cleanup that raises stops no other,
        and what was raised is raised at the end (in an exception group where there is more
        than one). Disposing twice is harmless. Raises `AsyncProviderError`, before anything
        changes, where a cleanup is async: `dispose_async` is for those.
        """
        self._dispose_now("dispose_async()")

    def _dispose_now(self, twin: str) -> None:
        """Dispose without an event loop; *twin* is what the caller should use in one."""
        disposal = self._begin_disposal(twin)
        if disposal is not None:
            drive(disposal.unwind(twin))
            disposal.tell()
            disposal.raise_errors()

    async def dispose_async(self) -> None:
        """Do what `dispose` does, async cleanups included.

        Waits, before it cleans up, for the assemblies that were begun before, and where a
        disposal is under way already, for its end. A cancelled task does not leave it half
        done.
        """
        disposal = self._begin_disposal()
        if disposal is None:
            under_way = self._ending
            # From inside an assembly or a disposal it could be waiting for this very call.
            inside = is_inside_disposal() or is_inside_assembly()
            if under_way is not None and not inside:
                await wait_in_thread(under_way.done)
            return
        try:
            await wait_for(self._layers.assemblies)
        finally:
            await disposal.unwind_whole()
            disposal.tell()
            disposal.raise_errors()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.dispose_async()

    def _begin_disposal(self, async_twin: str | None = None) -> Disposal | None:
        """Withdraw all contributions of this lifetime and those it owns, in one generation.

        What depends on it goes with it. With an *async_twin* nothing async may be left to
        clean up: the error names the twin.
        """
        with self._layers.lock:
            if self.is_gone:
                return None
            lifetimes = leaving([self])
            if async_twin is not None:
                for lifetime in lifetimes:
                    lifetime._refuse_async(async_twin)
            # A host's own listeners go with it, and are told all the same.
            listeners = self._layers.watching() if self._owner is None else None
            gone, _ = self._layers.withdraw(entries_of(lifetimes))
            others = [item for one in lifetimes if one is not self for item in one._items()]
            removed = (*items(gone), *others)
            event = self._event(self._disposal, (), removed, self._layers.generation)
            if event.urgent:
                self._layers.mark_urgent(lifetime._layer for lifetime in lifetimes)
            if not removed and not self._is_change():
                listeners = []
            disposal = Disposal([self], event, listeners)
            leave(lifetimes, disposal)
            return disposal

    def _lifetimes(self) -> Iterator[Lifetime]:
        """Give this lifetime and all that it owns, directly or not."""
        yield self
        for owned in list(self._owned or ()):
            if isinstance(owned, Lifetime):
                yield from owned._lifetimes()

    def owners(self) -> Iterator[Lifetime]:
        """Give its owner, the owner of that, and so on."""
        owner = self._owner
        while owner is not None:
            yield owner
            owner = owner._owner

    def _dependants(self) -> Iterable[Lifetime]:
        """Give what cannot live without this very lifetime, and is not owned by it."""
        return ()

    def _entries(self) -> Iterator[Entry]:
        """Give the entries that this very lifetime registered."""
        layer = self._layer
        if layer.scope is self:
            held = (*layer.entries.values(), *(layer.reserved or {}).values())
            yield from (entry for entry in held if entry.owner is self)
        for owned in list(self._owned or ()):
            if isinstance(owned, Entry):
                yield owned

    def _refuse_async(self, twin: str) -> None:
        if any(isinstance(owned, Cleanup) and owned.is_async for owned in list(self._owned or ())):
            raise AsyncProviderError(
                f"{self._label} holds an async context manager or a task; use {twin}"
            )

    def _stands_on(self, returning: Collection[Lifetime]) -> bool:  # noqa: ARG002 - for subclasses
        """Tell whether what it needs is there, or among those that are *returning*."""
        return True

    def _items(self) -> Sequence[Item]:
        """Give what change events list of it beside its contributions."""
        return ()

    def _is_change(self) -> bool:
        """Tell whether it is a change that it goes, even without contributions."""
        return False

    def _detach(self) -> None:
        """Leave the host's records, under the lock, for good."""

    async def _wind_down(self, async_twin: str | None) -> None:
        """Do what comes before the cleanups; nothing async if there is an *async_twin*."""

    async def _unwind(self, errors: list[BaseException], async_twin: str | None) -> None:
        """Wind down and clean up; what depends on this lifetime comes first."""
        if self._state is State.DISPOSED:
            return
        for dependant in reversed([*self._dependants()]):
            if dependant._ending is self._ending:
                await dependant._unwind(errors, async_twin)
        owner = self._source.owner
        await collect(self._wind_down(async_twin), errors, owner)
        for owned in reversed(list(self._owned or ())):
            if isinstance(owned, Lifetime):
                await owned._unwind(errors, async_twin)
            elif isinstance(owned, Cleanup):
                await collect(owned.complete(), errors, owner)
        self._owned = None
        # A disposed scope can be a parent for long: it must not hold its owner.
        self._owner = self._ending = None
        self._state = State.DISPOSED
