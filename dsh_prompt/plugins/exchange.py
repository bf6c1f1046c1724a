"""New plugins in the place of old ones: swapped in one generation, told once, or taken back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.assembly.running import wait_for
from dsh_prompt.errors import raise_all
from dsh_prompt.lifecycle.changes import ChangeEvent, tell_all, tell_in_turn, withdrawal
from dsh_prompt.lifecycle.disposal import Disposal
from dsh_prompt.lifecycle.leaving import entries_of, leave, leaving
from dsh_prompt.lifecycle.registration import UNTOLD, items
from dsh_prompt.lifecycle.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.layers.layers import Layers
    from dsh_prompt.lifecycle.changes import ChangeKind, ChangeListener, Item
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.plugins.context import PluginContext

logger = logging.getLogger("dsh_prompt.plugins")


class Exchange:
    """Shows *incoming* plugins, and withdraws *outgoing* ones and what depends on them.

    *twin* is the async operation that the caller should use for what is async, where this
    one is not.
    """

    def __init__(
        self,
        layers: Layers,
        incoming: Iterable[PluginContext],
        outgoing: Iterable[PluginContext] = (),
        *,
        twin: str | None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._layers = layers
        self._twin = twin
        self._done = done
        self._outgoing = list(outgoing)
        #: Those that were there to show: one may be disposed while others are loaded.
        self.incoming = list(incoming)
        #: Whether nothing can take it back any more.
        self.is_done = False
        self._before: dict[Lifetime, State] = {}
        self._gone: list[Entry] = []

    async def run(
        self, kind: ChangeKind, *, plugin: str | None = None, scope: Scope | None = None
    ) -> list[BaseException]:
        """Swap, tell it as *kind*, then clean up after what went: gives what that raised.

        A change listener that refuses takes all of it back, and is raised. *plugin* of
        *scope* is what the event is about; without it, the event lists all plugins.
        """
        wanted = self.incoming
        try:
            event = self._swap(kind, plugin, scope)
        except BaseException:
            await take_back(wanted, self._twin)
            raise
        dropped = [one for one in wanted if one not in self.incoming]
        await take_back(dropped, self._twin)
        if not self.incoming and not self._outgoing:
            return []
        told, error = tell_in_turn(self._layers.watching(), event)
        if error is not None:
            await self._undo(event, told, error)
        disposal = self._commit(event)
        self._done()
        await self._wind_down(disposal)
        return disposal.errors

    async def _wind_down(self, disposal: Disposal) -> None:
        if self._twin is not None or not disposal.lifetimes:
            await disposal.unwind(self._twin)
            return
        try:
            await wait_for(self._layers.assemblies)
        finally:
            await disposal.unwind_whole()

    def _swap(self, kind: ChangeKind, plugin: str | None, scope: Scope | None) -> ChangeEvent:
        layers = self._layers
        with layers.lock:
            there, count = self.incoming, -1
            while len(there) != count:
                count = len(there)
                there = [one for one in there if one.is_there_to_show(there)]
            lifetimes = leaving(self._outgoing)
            if self._twin is not None:
                for lifetime in lifetimes:
                    lifetime._refuse_async(self._twin)
            self.incoming = there
            self._before = {lifetime: lifetime._state for lifetime in lifetimes}
            went = _plugins(lifetimes, (plugin, scope))
            for lifetime in lifetimes:
                lifetime._state = State.DISPOSING
            entries = [entry for context in self.incoming for entry in context.end_loading()]
            self._gone, shown, generation = layers.exchange(
                entries_of(lifetimes), entries, for_good=False
            )
            for context in self.incoming:
                context.take_place()
                context.shown_at = generation
        added = (*items(shown), *_plugins(self.incoming, (plugin, scope)))
        removed = (*items(self._gone), *went)
        return ChangeEvent(kind, plugin, scope, added, removed, generation)

    def _commit(self, event: ChangeEvent) -> Disposal:
        with self._layers.lock:
            self._layers.withdraw(self._gone)
            disposal = Disposal(self._outgoing, event)
            leave(list(self._before), disposal)
            for context in self.incoming:
                context.settle()
            self.is_done = True
            return disposal

    async def _undo(
        self, event: ChangeEvent, told: Sequence[ChangeListener], refusal: BaseException
    ) -> None:
        """Be as before the swap, tell it to those who were *told*, and raise the *refusal*."""
        layers = self._layers
        with layers.lock:
            returning = self._returning()
            lost = [entry for entry in self._gone if entry.owner not in returning]
            back = [entry for entry in self._gone if entry.owner in returning]
            lifetimes = leaving(self.incoming)
            withdrawn, _, generation = layers.exchange([*entries_of(lifetimes), *lost], back)
            for lifetime in returning:
                lifetime._state = self._before[lifetime]
            for context in self.incoming:
                context.give_place_back()
            ended = [one for one in self._outgoing if one not in returning]
            disposal = Disposal(ended, event)
            leave([one for one in self._before if one not in returning], disposal)
        await take_back(self.incoming, self._twin, is_told=True)
        await self._wind_down(disposal)
        roots = [item for one in self.incoming for item in one._items()]
        inner = [item for one in lifetimes if one not in self.incoming for item in one._items()]
        news = withdrawal(event, generation, (*items(withdrawn), *roots))
        ended_items = {*items(lost), *_plugins(ended, (event.plugin, event.scope))}
        restored = tuple(item for item in news.added if item not in ended_items)
        news = attrs.evolve(news, added=restored)
        # A listener that was told may have unloaded it already.
        errors = [refusal, *tell_all(told if lifetimes or back else (), news), *disposal.errors]
        # What the plugins had loaded into scopes of their own was told before.
        others = tuple(item for item in (*items(withdrawn), *inner) if item not in event.added)
        if others:
            also = ChangeEvent("withdrawn", event.plugin, event.scope, (), others, generation)
            errors += tell_all(layers.watching(), also)
        raise_all(errors, UNTOLD)

    def _returning(self) -> set[Lifetime]:
        """Give what can come back: whose scope, and whose needs, nobody took away meanwhile."""
        returning = set(self._before)
        count = -1
        while len(returning) != count:
            count = len(returning)
            returning = {one for one in returning if self._can_return(one, returning)}
        return returning

    def _can_return(self, lifetime: Lifetime, returning: set[Lifetime]) -> bool:
        owner = lifetime._owner
        if owner is None or (owner.is_gone and owner not in returning):
            return False
        return lifetime._stands_on(returning)


def _plugins(contexts: Iterable[Lifetime], subject: tuple[str | None, Scope | None]) -> list[Item]:
    """List *contexts* as change events do; the *subject* is named by the event itself."""
    listed = [item for context in contexts for item in context._items()]
    return [item for item in listed if item[1:] != subject]


async def take_back(
    contexts: Sequence[PluginContext], twin: str | None, *, is_told: bool = False
) -> None:
    """Dispose what a failed load has registered; cleanups that fail are logged.

    What was visible already, since a plugin can load others into scopes of its own, is told
    to be withdrawn, unless that *is told*.
    """
    for context in reversed(contexts):
        layers = context._layers
        with layers.lock:
            context.give_place_back()
        disposal = context._begin_disposal()
        if disposal is None:
            continue
        await disposal.unwind_whole(twin)
        if disposal.event.removed and not is_told:
            event = attrs.evolve(disposal.event, kind="withdrawn")
            disposal.errors += tell_all(layers.watching(), event)
        for error in disposal.errors:
            label = context._candidate.label
            logger.error("%s failed to clean up after its load", label, exc_info=error)
