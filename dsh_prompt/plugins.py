"""Plugins: loaded whole or not at all, contained when they fail, gone when unloaded."""

from __future__ import annotations

import inspect
import logging
import os
import sys
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import attrs
import pluggy

from dsh_prompt import hookspecs
from dsh_prompt.changes import tell_all, tell_in_turn, withdrawal
from dsh_prompt.config import Config
from dsh_prompt.discovery import Discovery, Installed, discover
from dsh_prompt.disposable import DisposableContext, Scope
from dsh_prompt.errors import (
    AsyncProviderError,
    ConfigError,
    PluginConfigError,
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
    PromptError,
    ScopeError,
    nearest,
    quoted,
    raise_all,
)
from dsh_prompt.hookspecs import PROJECT, plugin_names
from dsh_prompt.lifecycle import UNTOLD, Loading, State, items
from dsh_prompt.model.contributions import PromptContext, PromptSection
from dsh_prompt.model.source import Source
from dsh_prompt.structuring import structure
from dsh_prompt.waterfall import Listener

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dsh_prompt.changes import Item
    from dsh_prompt.system_prompt import SystemPrompt

logger = logging.getLogger("dsh_prompt.plugins")

#: Comma-separated names: if set, ``load_entry_points`` loads no others.
PLUGINS_VARIABLE = "DSH_PROMPT_PLUGINS"


@attrs.frozen
class PluginInfo:
    """What is known of one plugin.

    *state* is ``"loading"``, ``"loaded"`` or ``"unloaded"``; *contributions* lists (kind,
    name, scope) of what it has registered now, *hooks* the hooks that it implements.
    *distribution* and *version* are None for a plugin that is no installed entry point.
    """

    name: str
    distribution: str | None
    version: str | None
    scope: Scope | None
    state: str
    contributions: tuple[Item, ...] = ()
    hooks: tuple[str, ...] = ()


@attrs.frozen
class LoadReport:
    """What ``load_entry_points`` did.

    *loaded* are the plugins that it loaded, *failed* maps the names of others to the errors
    that kept them out, *problems* tells what else is wrong with the installed packages
    (doubled or unreadable metadata, two distributions that offer one name).
    """

    loaded: tuple[PluginInfo, ...] = ()
    failed: Mapping[str, PromptError] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()


@attrs.frozen
class Candidate:
    """Something that is to be loaded as a plugin."""

    name: str
    plugin: Any
    installed: Installed | None = None

    @property
    def distribution(self) -> str | None:
        """The name of the distribution, for an installed entry point."""
        return None if self.installed is None else self.installed.distribution

    @property
    def label(self) -> str:
        """The candidate as messages name it."""
        if self.installed is None:
            return f'plugin "{self.name}"'
        return f'plugin "{self.name}" ({self.installed.distribution} {self.installed.version})'

    def source(self, scope: Scope | None) -> Source:
        """Give the label of what the plugin contributes to *scope*."""
        installed = self.installed
        return Source(
            self.name,
            None if installed is None else installed.distribution,
            None if installed is None else installed.version,
            None if scope is None else scope.name,
        )

    def load_error(self, error: BaseException) -> PluginLoadError:
        """Give the load error for what went wrong."""
        if isinstance(error, PluginLoadError):
            return error
        if isinstance(error, ConfigError):
            return PluginConfigError(error, plugin=self.name, distribution=self.distribution)
        return PluginLoadError(
            f"{self.label} cannot be loaded: {type(error).__name__}: {error}",
            plugin=self.name,
            distribution=self.distribution,
        )


@attrs.frozen
class Hooks:
    """The hook implementations of one plugin object, by hook name."""

    implementations: Mapping[str, Sequence[pluggy.HookImpl]]

    @property
    def names(self) -> tuple[str, ...]:
        """The implemented hooks, sorted."""
        return tuple(sorted(self.implementations))

    def of(self, name: str) -> Sequence[pluggy.HookImpl]:
        """Give the implementations of hook *name*."""
        return self.implementations.get(name, ())

    def is_async(self, name: str) -> bool:
        """Tell whether an implementation of hook *name* is an ``async def``."""
        return any(inspect.iscoroutinefunction(hook.function) for hook in self.of(name))


def read_hooks(candidate: Candidate) -> Hooks:
    """Read and check the hook implementations of a candidate's plugin object.

    Raises `PluginLoadError` for an unknown hook, with the nearest known one, and for
    an implementation that could never be called.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    known = [name for name in vars(manager.hook) if not name.startswith("_")]
    try:
        manager.register(candidate.plugin, candidate.name)
    except pluggy.PluginValidationError as error:
        raise candidate.load_error(error) from error
    implementations: dict[str, list[pluggy.HookImpl]] = {}
    for caller in manager.get_hookcallers(candidate.plugin) or ():
        for hook in caller.get_hookimpls():
            if not caller.has_spec() and not hook.optionalhook:
                raise PluginLoadError(
                    f'{candidate.label} implements unknown hook "{caller.name}"'
                    f"{nearest(caller.name, known)}",
                    plugin=candidate.name,
                    distribution=candidate.distribution,
                )
            if caller.has_spec():
                _check_hook(candidate, caller.name, hook)
                implementations.setdefault(caller.name, []).append(hook)
    if not implementations:
        logger.warning("%s implements no hook; is @hookimpl missing?", candidate.label)
    return Hooks(implementations)


def _check_hook(candidate: Candidate, name: str, hook: pluggy.HookImpl) -> None:
    function = hook.function
    problem = None
    if hook.hookwrapper:
        problem = "is an old-style hookwrapper; use wrapper=True"
    elif inspect.isasyncgenfunction(function):
        problem = "is an async generator; make it async def with call_next"
    elif hook.wrapper and name != "system_prompt_assemble":
        problem = "is a wrapper, which only system_prompt_assemble can have"
    elif hook.wrapper and "call_next" in hook.argnames:
        problem = "takes call_next and is a wrapper; it can be one of the two"
    elif name not in _MAY_BE_ASYNC and inspect.iscoroutinefunction(function):
        problem = f"is async, which only {' and '.join(_MAY_BE_ASYNC)} can be"
    if problem is not None:
        raise PluginLoadError(
            f'{candidate.label}: hook "{name}" {problem}',
            plugin=candidate.name,
            distribution=candidate.distribution,
        )


_MAY_BE_ASYNC = ("activate", "deactivate", "system_prompt_assemble")


class PluginContext(DisposableContext):
    """A plugin's own disposable context, ``ctx`` in its hooks."""

    __slots__ = ("_activated", "_candidate", "_config", "_hooks")

    _disposal = "unloaded"
    _noun = "plugin context"

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

    async def fill(self, config: object) -> None:
        """Configure and activate the plugin, and register what it contributes."""
        hooks = self._hooks
        self._config = configure(self._candidate, config, self._host.config)
        for hook in hooks.of("activate"):
            await _awaited(self._call(hook))
        self._activated = True
        self._contribute(hooks)
        for hook in hooks.of("system_prompt_assemble"):
            self.register_listener(_listener(hook, self._source))
        for hook in hooks.of("system_prompt_change"):
            self.on_change(hook.function if hook.argnames else _without_event(hook.function))

    def _contribute(self, hooks: Hooks) -> None:
        for hook in hooks.of("contribute_sections"):
            for section in _many(self._call(hook), "contribute_sections"):
                self._register(self.block_entry(PromptSection, section))
        for hook in hooks.of("contribute_contexts"):
            for context in _many(self._call(hook), "contribute_contexts"):
                self._register(self.block_entry(PromptContext, context))
        for hook in hooks.of("contribute_tools"):
            self._register(*self.tool_entries(self._call(hook)))
        for hook in hooks.of("contribute_variables"):
            for name, value in _mapping(self._call(hook)).items():
                self._register(self.variable_entry(name, value))

    def _call(self, hook: pluggy.HookImpl) -> Any:
        return hook.function(self) if hook.argnames else hook.function()

    def _refuse_async(self) -> None:
        if self._hooks.is_async("deactivate"):
            raise AsyncProviderError(
                f"deactivate of {self._source.owner} is async; use unload_async()"
            )
        super()._refuse_async()

    def _detach(self, *, is_root: bool) -> Sequence[Item]:
        plugins = self._layer.plugins or {}
        if plugins.get(self._candidate.name) is self:
            del plugins[self._candidate.name]
        if self._in_block is not None:
            self._layers.leave_block()
        name = self._candidate.name
        return () if is_root or self.is_loading else (("plugin", name, self.scope),)

    async def _wind_down(self) -> None:
        hooks, self._hooks = self._hooks, Hooks({})
        if self._activated:
            for hook in hooks.of("deactivate"):
                await _awaited(self._call(hook))


async def _awaited(result: Any) -> None:
    if inspect.isawaitable(result):
        await result


def _many(result: Any, hook: str) -> Iterable[Any]:
    if isinstance(result, PromptSection | PromptContext | str) or not hasattr(result, "__iter__"):
        raise TypeError(f"{hook} must return a list, not {result!r}")
    contributions: Iterable[Any] = result
    return contributions


def _mapping(result: Any) -> Mapping[str, Any]:
    if not hasattr(result, "items"):
        raise TypeError(f"contribute_variables must return a mapping, not {result!r}")
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


def configure(candidate: Candidate, given: object, host_config: Config) -> Any:
    """Give a plugin's configuration: what was *given*, else the host's, else the defaults."""
    cls = getattr(candidate.plugin, "Config", None)
    where, file = "", None
    if given is None:
        given = host_config.plugins.config.get(candidate.name, {})
        where, file = f"plugins.config.{candidate.name}", host_config.file
    if cls is None or cls is Config:
        return MappingProxyType(dict(given))  # type: ignore[call-overload]
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise TypeError(f"its Config must be an attrs class, not {cls!r}")
    if isinstance(given, cls):
        return given
    return structure(given, cls, where=where, file=file, subject=f"config of {candidate.label}")


class Plugins:
    """Loads plugins into the layers of one host, and unloads them."""

    def __init__(self, host: SystemPrompt) -> None:
        self._host = host
        self._layers = host._layers

    def loaded(self) -> list[PluginInfo]:
        """List the loaded plugins: by load order, the global ones and those of scopes."""
        with self._layers.lock:
            contexts = [
                lifetime
                for lifetime in self._host._lifetimes()
                if isinstance(lifetime, PluginContext) and not lifetime.is_loading
            ]
            return [context.plugin for context in contexts]

    async def load(
        self,
        plugin: object,
        name: str | None,
        config: object,
        scope: Scope | None,
        *,
        synchronous: bool,
    ) -> PluginInfo:
        """Load one plugin; see `SystemPrompt.load`."""
        owner = self._owner(scope)
        candidate = self._candidate(plugin, name)
        context = self._begin(candidate, owner, synchronous=synchronous)
        await self._fill(context, config)
        await self._publish([context], plugin=candidate.name, scope=scope)
        return context.plugin

    async def load_entry_points(
        self,
        only: Iterable[str] | None,
        block: Iterable[str],
        *,
        strict: bool,
        synchronous: bool,
    ) -> LoadReport:
        """Load the installed plugins; see `SystemPrompt.load_entry_points`."""
        discovery = discover()
        wanted, failed = self._wanted(discovery, only, block)
        contexts: list[PluginContext] = []
        for installed in wanted:
            try:
                candidate = self._imported(installed)
                context = self._begin(candidate, self._host, synchronous=synchronous)
                await self._fill(context, None)
            except PromptError as error:
                failed[installed.name] = error
                logger.error("%s", error, exc_info=error)  # noqa: TRY400 - not always inside one
            except BaseException:
                await _take_back(contexts)
                raise
            else:
                contexts.append(context)
        if strict and failed:
            await _take_back(contexts)
            raise_all(list(failed.values()), "plugins that cannot be loaded")
        if contexts:
            await self._publish(contexts)
        return LoadReport(tuple(context.plugin for context in contexts), failed, discovery.problems)

    def context(self, name: str, scope: Scope | None) -> PluginContext:
        """Give the context of a loaded plugin, or raise `PluginNotFoundError`."""
        plugins: dict[str, PluginContext] = self._owner(scope)._layer.plugins or {}
        context = plugins.get(name)
        if context is None or context.is_loading:
            where = "" if scope is None else f" in {scope!r}"
            raise PluginNotFoundError(
                f'no plugin "{name}" is loaded{where}{nearest(name, plugins)}'
                + (f"; loaded are {quoted(plugins)}" if plugins else "")
            )
        return context

    def forget_modules(self, context: PluginContext) -> None:
        """Remove the plugin's own modules from ``sys.modules``, unless it is still in use."""
        candidate = context._candidate
        with self._layers.lock:
            if any(
                isinstance(lifetime, PluginContext) and lifetime._candidate.name == candidate.name
                for lifetime in self._host._lifetimes()
            ):
                return
        for name in own_modules(candidate):
            sys.modules.pop(name, None)

    def _owner(self, scope: Scope | None) -> DisposableContext:
        if scope is None:
            return self._host
        if not isinstance(scope, Scope) or scope._layers is not self._layers:
            raise ScopeError(f"{scope!r} is no scope of this host")
        return scope

    def _candidate(self, plugin: object, name: str | None) -> Candidate:
        if isinstance(plugin, str):
            installed = discover().plugins
            if plugin not in installed:
                raise PluginNotFoundError(
                    f'no plugin "{plugin}" is installed{nearest(plugin, installed)}'
                    f"; installed are {quoted(installed) or 'none'}"
                )
            return self._imported(installed[plugin], name)
        given = name or getattr(plugin, "__name__", None) or type(plugin).__name__
        return self._instantiated(Candidate(given, plugin))

    def _imported(self, installed: Installed, name: str | None = None) -> Candidate:
        candidate = Candidate(name or installed.name, None, installed)
        try:
            plugin = installed.load()
        except Exception as error:
            raise candidate.load_error(error) from error
        return self._instantiated(attrs.evolve(candidate, plugin=plugin))

    def _instantiated(self, candidate: Candidate) -> Candidate:
        if not isinstance(candidate.plugin, type):
            return candidate
        try:
            return attrs.evolve(candidate, plugin=candidate.plugin())
        except Exception as error:
            raise candidate.load_error(error) from error

    def _begin(
        self, candidate: Candidate, owner: DisposableContext, *, synchronous: bool
    ) -> PluginContext:
        """Check the candidate and take its name; nothing of it is visible yet."""
        hooks = read_hooks(candidate)
        if synchronous and hooks.is_async("activate"):
            raise AsyncProviderError(
                f"activate of {candidate.label} is async; use load_async() or "
                "load_entry_points_async()"
            )
        layer = owner._layer
        with self._layers.lock:
            if candidate.name in (layer.plugins or {}):
                where = "" if layer.scope is None else f" in {layer.scope!r}"
                raise PluginConflictError(
                    f'a plugin "{candidate.name}" is already loaded{where}; unload it first, or '
                    "give the new one another name"
                )
            context = PluginContext(owner, candidate, hooks)
            owner._own(context)
            if layer.plugins is None:
                layer.plugins = {}
            layer.plugins[candidate.name] = context
            if context._in_block is not None:
                self._layers.join_block()
        return context

    async def _fill(self, context: PluginContext, config: object) -> None:
        try:
            await context.fill(config)
        except BaseException as error:
            await _take_back([context])
            if isinstance(error, AsyncProviderError) or not isinstance(error, Exception):
                raise
            raise context._candidate.load_error(error) from error

    async def _publish(
        self,
        contexts: list[PluginContext],
        *,
        plugin: str | None = None,
        scope: Scope | None = None,
    ) -> None:
        """Show what was loaded to the next assembly, and tell the change listeners."""
        layers = self._layers
        with layers.lock:
            entries = []
            for context in contexts:
                context._check_active()
                loading = context._loading
                if loading is not None and loading.entries is not None:
                    entries += loading.entries
                    loading.entries = None
            generation = layers.publish(entries)
            added = [entry for entry in entries if entry.layer.entries.get(entry.key) is entry]
        names = [] if plugin else [("plugin", c._candidate.name, c.scope) for c in contexts]
        event = self._host._event("loaded", (*items(added), *names), (), generation)
        event = attrs.evolve(event, plugin=plugin, scope=scope)
        told, error = tell_in_turn(layers.watching(), event)
        if error is not None:
            await _take_back(contexts)
            raise_all([error, *tell_all(told, withdrawal(event, layers.generation))], UNTOLD)

    def _wanted(
        self, discovery: Discovery, only: Iterable[str] | None, block: Iterable[str]
    ) -> tuple[list[Installed], dict[str, PromptError]]:
        """Choose from what is installed; names that are wanted and absent have failed."""
        settings = self._host.config.plugins
        installed = discovery.plugins
        if only is not None:
            names = plugin_names(only, "only")
        elif settings.autoload:
            names = (*installed, *settings.enable)
        else:
            names = settings.enable
        blocked = {*plugin_names(block, "block"), *settings.disable}
        allowed = os.environ.get(PLUGINS_VARIABLE)
        if allowed is not None:
            blocked |= {*names} - {name.strip() for name in allowed.split(",")}
        blocked |= {*(self._layers.root.plugins or {})}
        wanted = [name for name in dict.fromkeys(names) if name not in blocked]
        failed: dict[str, PromptError] = {
            name: PluginNotFoundError(f'no plugin "{name}" is installed{nearest(name, installed)}')
            for name in wanted
            if name not in installed
        }
        return [installed[name] for name in wanted if name in installed], failed


async def _take_back(contexts: Sequence[PluginContext]) -> None:
    """Dispose what a failed load has registered; cleanups that fail are logged."""
    for context in reversed(contexts):
        disposal = context._begin_disposal(synchronous=False)
        if disposal is not None:
            await disposal.unwind()
            for error in disposal.errors:
                label = context._candidate.label
                logger.error("%s failed to clean up after its load", label, exc_info=error)


def own_modules(candidate: Candidate) -> list[str]:
    """Name the loaded modules that belong to a plugin: its distribution's, or its own."""
    if candidate.installed is not None:
        return candidate.installed.modules()
    plugin = candidate.plugin
    name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    return [module for module in sys.modules if module == name or module.startswith(f"{name}.")]
