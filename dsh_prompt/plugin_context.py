"""A plugin's own disposable context: from the first hook call to the last cleanup."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.config import Config
from dsh_prompt.coroutines import discard
from dsh_prompt.disposable import DisposableContext
from dsh_prompt.errors import (
    AsyncProviderError,
    ConfigError,
    PluginConflictError,
    PromptError,
)
from dsh_prompt.lifecycle import State
from dsh_prompt.listeners import Listener
from dsh_prompt.model.contributions import PromptContext, PromptSection
from dsh_prompt.plugin_hooks import Hooks
from dsh_prompt.registration import Loading, items
from dsh_prompt.settings import Settings
from dsh_prompt.structuring import in_file, structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pluggy

    from dsh_prompt.changes import Item
    from dsh_prompt.disposable import Scope
    from dsh_prompt.layers import Entry
    from dsh_prompt.model.source import Source
    from dsh_prompt.plugin_hooks import Candidate
    from dsh_prompt.settings import Ignored
    from dsh_prompt.structuring import Admit


@attrs.frozen
class PluginInfo:
    """What is known of one plugin.

    *state* is ``"loading"``, ``"loaded"`` or ``"unloaded"``; *contributions* lists (kind,
    name, scope) of what it has registered now, *hooks* the hooks that it implements.
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


class PluginContext(DisposableContext):
    """A plugin's own disposable context, ``ctx`` in its hooks."""

    __slots__ = ("_activated", "_candidate", "_config", "_hooks", "ignored", "refusal", "sequence")

    _disposal = "unloaded"

    def __init__(self, owner: DisposableContext, candidate: Candidate, hooks: Hooks) -> None:
        super().__init__(
            owner._host,
            owner._layers,
            owner._layer,
            candidate.source(owner.scope),
            owner=owner,
            in_block=None if candidate.installed is None else candidate.name,
            loading=Loading(),
        )
        self._candidate = candidate
        self._hooks = hooks
        self._config: Any = MappingProxyType({})
        self._activated = False
        self.ignored: Sequence[Ignored] = ()
        # Of two plugins the one that was loaded first is listed first.
        self.sequence = owner._layers.next_sequence()
        #: What `fill` itself refused: its caller raises that as it is.
        self.refusal: PromptError | None = None

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
                items(entries),
                self._hooks.names,
                tuple(self.ignored),
            )

    @property
    def _plugin_state(self) -> str:
        if self._state is not State.ACTIVE:
            return "unloaded"
        return "loading" if self.is_loading else "loaded"

    @property
    def config(self) -> Any:
        """The plugin's configuration: its ``Config``, or a read-only mapping."""
        return self._config

    @property
    def is_loading(self) -> bool:
        """Whether the load is under way, so that no assembly sees the plugin yet."""
        return self._loading is not None and self._loading.entries is not None

    def loaded_entries(self) -> list[Entry]:
        """Give what was registered while the plugin was loaded, and end the load."""
        loading = self._loading
        entries = [] if loading is None else loading.entries or []
        if loading is not None:
            loading.entries = None
        return entries

    def modules(self) -> set[str]:
        """Name the loaded modules that are the plugin's own."""
        return self._candidate.modules()

    async def fill(self, config: object, async_twin: str | None) -> None:
        """Configure and activate the plugin, and register what it contributes.

        With an *async_twin* nothing in it may be async: the error names the twin.
        """
        hooks = self._hooks
        try:
            self._config, self.ignored = configure(self._candidate, config, self._host.config)
        except ConfigError as error:
            self.refusal = self._candidate.config_error(error)
            raise self.refusal from error
        for hook in hooks.of("activate"):
            await self._awaited("activate", self._call(hook), async_twin)
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

    def _detach(self, *, is_root: bool) -> Sequence[Item]:
        plugins = self._layer.plugins or {}
        if plugins.get(self._candidate.name) is self:
            del plugins[self._candidate.name]
        if self._in_block is not None:
            self._layers.leave_block()
        name = self._candidate.name
        return () if is_root or self.is_loading else (("plugin", name, self.scope),)

    async def _wind_down(self, async_twin: str | None) -> None:
        hooks, self._hooks = self._hooks, Hooks({})
        # Whoever keeps the context does not keep the plugin.
        self._candidate = attrs.evolve(self._candidate, plugin=None)
        if self._activated:
            for hook in hooks.of("deactivate"):
                await self._awaited("deactivate", self._call(hook), async_twin)


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


def configure(
    candidate: Candidate, given: object, host_config: Config
) -> tuple[Any, Sequence[Ignored]]:
    """Give a plugin's configuration: what was *given*, else the host's, else the defaults.

    Beside it stands what was left out, since the file that says it is not trusted.
    """
    cls = getattr(candidate.plugin, "Config", None)
    where, place = "", in_file(None)
    if given is None:
        given = host_config.plugins.config.get(candidate.name, {})
        where, place = f"plugins.config.{candidate.name}", in_file(host_config.file)
    if isinstance(given, Settings):
        where, place = given.where, given.place
    if cls is None or cls is Config:
        if not isinstance(given, Mapping):
            raise ConfigError(f"expected a table, got {type(given).__name__}", path=where)
        return MappingProxyType(deepcopy(dict(given))), ()
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise TypeError(f"its Config must be an attrs class, not {cls!r}")
    if isinstance(given, cls):
        return given, ()
    subject = f"config of {candidate.label}"

    def build(table: object, admit: Admit) -> Any:
        return structure(table, cls, where=where, place=place, subject=subject, admit=admit)

    if isinstance(given, Settings):
        return given.structured(build)
    return build(given, lambda table, _: table), ()
