"""A plugin's own disposable context: from the first hook call to the last cleanup."""

from __future__ import annotations

import inspect
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.coroutines import discard
from dsh_prompt.errors import (
    AsyncProviderError,
    ConfigError,
    PluginConflictError,
    PromptError,
)
from dsh_prompt.layers.listeners import Listener
from dsh_prompt.layers.plugin_block import Member
from dsh_prompt.lifecycle.disposable import DisposableContext
from dsh_prompt.lifecycle.registration import items
from dsh_prompt.lifecycle.state import State
from dsh_prompt.model.contributions import PromptContext, PromptSection
from dsh_prompt.plugins.config import configure
from dsh_prompt.plugins.hooks import Hooks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import pluggy

    from dsh_prompt.config.config import Config
    from dsh_prompt.config.settings import Ignored
    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.lifecycle.changes import ChangeEvent, ChangeKind, Item
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.lifecycle.registration import Loading
    from dsh_prompt.model.source import Source
    from dsh_prompt.plugins.hooks import Candidate


@attrs.frozen
class PluginInfo:
    """What is known of one plugin.

    *state* is ``"loading"``, ``"loaded"``, ``"quarantined"`` or ``"unloaded"``, *reason* why
    it is quarantined; *contributions* lists (kind, name, scope) of what it has registered
    now, *hooks* the hooks that it implements, *requires* the plugins that it needs.
    *distribution* and *version* are None for a plugin that is no installed entry point.
    *ignored* lists settings that have no effect, since their file is not trusted.
    """

    name: str
    distribution: str | None
    version: str | None
    scope: Scope | None
    state: str
    contributions: tuple[Item, ...] = ()
    hooks: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    requires: tuple[str, ...] = ()
    reason: str | None = None


class PluginContext(DisposableContext):
    """A plugin's own disposable context, ``ctx`` in its hooks."""

    __slots__ = (
        "_activated",
        "_candidate",
        "_config",
        "_hooks",
        "_needed_by",
        "_needs",
        "given_config",
        "goes_urgently",
        "ignored",
        "is_claimed",
        "own_modules",
        "place",
        "predecessor",
        "reason",
        "refusal",
        "sequence",
        "shown_at",
        "successor",
    )

    _disposal = "unloaded"
    _loading: Loading

    def __init__(
        self,
        owner: DisposableContext,
        candidate: Candidate,
        hooks: Hooks,
        loading: Loading,
        *,
        needs: Sequence[PluginContext] = (),
        predecessor: PluginContext | None = None,
    ) -> None:
        layers = owner._layers
        # Of two plugins the one that was loaded first is listed first.
        self.sequence = layers.next_sequence()
        blocks = [one._in_block for one in needs if one._in_block is not None]
        in_block = None
        if candidate.installed is not None:
            in_block = Member(candidate.name, self.sequence, blocks)
        super().__init__(
            owner._host,
            layers,
            owner._layer,
            candidate.source(owner.scope),
            owner=owner,
            in_block=in_block,
            loading=loading,
        )
        self._candidate = candidate
        self._hooks = hooks
        self._config: Any = MappingProxyType({})
        self._activated = False
        self._needs = tuple(needs)
        self._needed_by: dict[PluginContext, None] = {}
        #: What `load` was given as its configuration.
        self.given_config: object = None
        self.own_modules = candidate.own_modules()
        self.ignored: Sequence[Ignored] = ()
        #: The one whose place this one is to take, and the one that is to take its place.
        self.predecessor = predecessor
        self.successor: PluginContext | None = None
        #: Whether models are to be told at once that it goes.
        self.goes_urgently = False
        #: Whether somebody is about to put another one in its place.
        self.is_claimed = False
        #: The number in the order of registration behind which its successors stand.
        self.place: float = self.sequence
        #: The generation that showed it first.
        self.shown_at = 0
        #: Why it is quarantined.
        self.reason: str | None = None
        #: What `fill` itself refused: its caller raises that as it is.
        self.refusal: PromptError | None = None

    def join(self, owner: DisposableContext) -> None:
        """Enter the host's records, and those of *owner*, under the lock."""
        owner._own(self)
        for needed in self._needs:
            needed._needed_by[self] = None
        if self._in_block is not None:
            self._layers.block.join(self._in_block)
        if self.predecessor is not None:
            self.predecessor.successor = self
            return
        if self._layer.plugins is None:
            self._layer.plugins = {}
        self._layer.plugins[self._candidate.name] = self

    @property
    def plugin(self) -> PluginInfo:
        """What is known of the plugin now."""
        candidate = self._candidate
        with self._layers.lock:
            entries = [e for lifetime in self._lifetimes() for e in lifetime._entries()]
            entries.sort(key=lambda entry: entry.sequence)
            return PluginInfo(
                candidate.name,
                candidate.distribution,
                None if candidate.installed is None else candidate.installed.version,
                self.scope,
                self._plugin_state,
                () if self._state is State.QUARANTINED else items(entries),
                self._hooks.names,
                tuple(self.ignored),
                tuple(needed._candidate.name for needed in self._needs),
                self.reason,
            )

    @property
    def _plugin_state(self) -> str:
        if self._state is State.QUARANTINED:
            return "quarantined"
        if self.is_gone:
            return "unloaded"
        return "loading" if self.is_loading else "loaded"

    @property
    def config(self) -> Any:
        """The plugin's configuration: its ``Config``, or a read-only mapping."""
        return self._config

    @property
    def is_loading(self) -> bool:
        """Whether the load is under way, so that no assembly sees the plugin yet."""
        return self._loading.entries is not None

    @property
    def is_being_renewed(self) -> bool:
        """Whether another one takes its place now, or it takes that of another one."""
        return self.is_claimed or self.predecessor is not None or self.successor is not None

    def is_there_to_show(self, others: Collection[PluginContext]) -> bool:
        """Tell whether it and what it needs, with *others* that are to be shown, are there.

        Raises `PluginLoadError` where it was to take the place of another one.
        """
        old = self.predecessor
        if old is not None and (self.is_gone or old.is_gone):
            raise self._candidate.refused("was unloaded while it was reloaded")
        for needed in self._needs:
            is_there = needed in others if needed.is_loading else needed._state is State.ACTIVE
            if not is_there and old is not None:
                name = needed._candidate.name
                raise self._candidate.refused(
                    f'cannot be reloaded: "{name}", which it requires, went'
                )
            if not is_there:
                return False
        return not self.is_gone

    def end_loading(self) -> list[Entry]:
        """End the load, and give what was registered while it went on, in its final place."""
        entries, self._loading.entries = self._loading.entries or [], None
        if self.predecessor is not None:
            self.place = self.predecessor.place
            self._layers.renumber(entries, self.place)
        elif entries:
            self.place = entries[0].sequence
        return entries

    def take_place(self) -> None:
        """Stand where the predecessor stands, under the lock."""
        old = self.predecessor
        owner, plugins = self._owner, self._layer.plugins
        if old is None or owner is None or plugins is None:
            return
        self.sequence = old.sequence
        plugins[self._candidate.name] = self
        others = [one for one in owner._owned or () if one is not self]
        place = others.index(old) + 1
        owner._owned = dict.fromkeys([*others[:place], self, *others[place:]])

    def give_place_back(self) -> None:
        """Let the predecessor stand where it stood, under the lock."""
        old, self.predecessor = self.predecessor, None
        if old is None:
            return
        old.successor = None
        plugins = self._layer.plugins
        if plugins is not None and plugins.get(self._candidate.name) is self:
            plugins[self._candidate.name] = old

    def settle(self) -> None:
        """Forget the predecessor, which is gone."""
        old, self.predecessor = self.predecessor, None
        if old is not None:
            old.successor = None

    async def fill(self, given: object, config: Config) -> None:
        """Configure and activate the plugin, and register what it contributes.

        Its configuration is what was *given*, or stands in the host's *config*.
        """
        hooks = self._hooks
        self.given_config = given
        twin = self._loading.twin
        try:
            self._config, self.ignored = configure(self._candidate, given, config)
        except ConfigError as error:
            self.refusal = self._candidate.config_error(error)
            raise self.refusal from error
        for hook in hooks.of("activate"):
            await self._awaited("activate", self._call(hook), twin)
        self._activated = True
        self._contribute(hooks)
        try:
            for hook in hooks.of("system_prompt_assemble"):
                self.register_listener(_listener(hook, self._source))
        except PluginConflictError as error:
            self.refusal = error
            raise
        for hook in hooks.of("system_prompt_change"):
            self.on_change(hook.function if hook.argnames else _without_event(hook.function))
        self._check_active()

    async def _awaited(self, hook: str, result: Any, async_twin: str | None) -> None:
        if not inspect.isawaitable(result):
            return
        if async_twin is not None:
            discard(result)
            self.refusal = AsyncProviderError(
                f"{hook} of {self._source.owner} returned something to await; use {async_twin}"
            )
            raise self.refusal
        await result

    def _contribute(self, hooks: Hooks) -> None:
        for hook in hooks.of("contribute_sections"):
            for section in _many(self._call(hook), "contribute_sections"):
                self.section(section)
        for hook in hooks.of("contribute_contexts"):
            for context in _many(self._call(hook), "contribute_contexts"):
                self.context(context)
        for hook in hooks.of("contribute_tools"):
            tools = self._call(hook)
            discard(tools)
            self.tools(tools)
        for hook in hooks.of("contribute_variables"):
            for name, value in _mapping(self._call(hook)).items():
                self.variable(name, value)

    def _call(self, hook: pluggy.HookImpl) -> Any:
        return hook.function(self) if hook.argnames else hook.function()

    def _refuse_async(self, twin: str) -> None:
        if self._hooks.is_async("deactivate"):
            raise AsyncProviderError(f"deactivate of {self._source.owner} is async; use {twin}")
        super()._refuse_async(twin)

    def _stands_on(self, returning: Collection[Lifetime]) -> bool:
        if self.successor is not None and self.successor.is_gone:
            return False  # somebody has unloaded the plugin meanwhile
        return all(not one.is_gone or one in returning for one in self._needs)

    def _items(self) -> Sequence[Item]:
        if self.is_loading or self._state is State.QUARANTINED:  # which was told
            return ()
        return (("plugin", self._candidate.name, self.scope),)

    def _dependants(self) -> Iterable[Lifetime]:
        # One that is still being loaded looks for what it needs before it is shown.
        return [one for one in self._needed_by if not one.is_loading]

    def _event(
        self,
        kind: ChangeKind,
        added: tuple[Item, ...],
        removed: tuple[Item, ...],
        generation: int,
    ) -> ChangeEvent:
        event = super()._event(kind, added, removed, generation)
        return attrs.evolve(event, urgent=self.goes_urgently)

    def _is_change(self) -> bool:
        return not self.is_loading

    def _detach(self) -> None:
        plugins = self._layer.plugins or {}
        if plugins.get(self._candidate.name) is self:
            del plugins[self._candidate.name]
        if self._in_block is not None:
            self._layers.block.leave(self._in_block)

    async def _wind_down(self, async_twin: str | None) -> None:
        hooks, self._hooks = self._hooks, Hooks({})
        # Whoever keeps the context does not keep the plugin.
        self._candidate = attrs.evolve(self._candidate, plugin=None, given=None)
        needs, self._needs = self._needs, ()
        if self._activated:
            for hook in hooks.of("deactivate"):
                await self._awaited("deactivate", self._call(hook), async_twin)
        for needed in needs:
            needed._needed_by.pop(self, None)


def _many(result: Any, hook: str) -> Iterable[Any]:
    if isinstance(result, PromptSection | PromptContext | str) or not hasattr(result, "__iter__"):
        discard(result)
        raise TypeError(f"{hook} must return a list, not {type(result).__name__}")
    contributions: Iterable[Any] = result
    return contributions


def _mapping(result: Any) -> Mapping[str, Any]:
    if not hasattr(result, "items"):
        discard(result)
        kind = type(result).__name__
        raise TypeError(f"contribute_variables must return a mapping, not {kind}")
    variables: Mapping[str, Any] = result
    return variables


def _listener(hook: pluggy.HookImpl, source: Source) -> Listener:
    before, after = getattr(hook.function, "dsh_prompt_around", ((), ()))
    return Listener(
        hook.function,
        "system_prompt_assemble",
        hook.argnames,
        source,
        wrapper=hook.wrapper,
        tryfirst=hook.tryfirst,
        trylast=hook.trylast,
        before=before,
        after=after,
    )


def _without_event(function: Any) -> Any:
    return lambda _: function()
