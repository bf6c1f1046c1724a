"""Plugins: loaded whole or not at all, contained when they fail, gone when unloaded."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.changes import tell_all, tell_in_turn, withdrawal
from dsh_prompt.disposable import Scope
from dsh_prompt.errors import (
    AsyncProviderError,
    InvalidContributionError,
    PluginConflictError,
    PluginNotFoundError,
    PromptError,
    ScopeError,
    nearest,
    quoted,
    raise_all,
    shown,
)
from dsh_prompt.plugin_choice import LeftOut, choose
from dsh_prompt.plugin_context import PluginContext, PluginInfo
from dsh_prompt.plugin_hooks import Candidate, read_hooks
from dsh_prompt.registration import UNTOLD, items
from dsh_prompt.settings import Ignored, notices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dsh_prompt.changes import Item
    from dsh_prompt.discovery import Discovery, Installed
    from dsh_prompt.disposable import DisposableContext
    from dsh_prompt.system_prompt import SystemPrompt

logger = logging.getLogger("dsh_prompt.plugins")
logger_of_config = logging.getLogger("dsh_prompt.config")


@attrs.frozen
class LoadReport:
    """What ``load_entry_points`` did.

    *loaded* are the plugins that it loaded, *failed* maps the names of others to the errors
    that kept them out, *left_out* those of installed ones that were not wanted to the
    reason; *problems* tells what else is wrong with the installed packages (doubled or
    unreadable metadata, two distributions that offer one name). *ignored* are the settings
    without effect, since the file in which they stand is not trusted.
    """

    loaded: tuple[PluginInfo, ...] = ()
    failed: Mapping[str, PromptError] = attrs.field(factory=dict)
    left_out: Mapping[str, LeftOut] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()


class Plugins:
    """Loads plugins into the layers of one host, and unloads them."""

    def __init__(self, host: SystemPrompt) -> None:
        self._host = host
        self._layers = host._layers
        #: Ignored settings that were logged.
        self._told: set[Ignored] = set()

    def loaded(self) -> list[PluginInfo]:
        """List the loaded plugins, global ones and those of scopes, in load order."""
        with self._layers.lock:
            contexts = [context for context in self._contexts() if not context.is_loading]
            return [context.plugin for context in contexts]

    def _contexts(self) -> list[PluginContext]:
        """List the contexts of all plugins, in load order."""
        lifetimes = self._host._lifetimes()
        contexts = [one for one in lifetimes if isinstance(one, PluginContext)]
        return sorted(contexts, key=lambda context: context.sequence)

    async def load(
        self,
        plugin: object,
        name: str | None,
        config: object,
        scope: Scope | None,
        *,
        async_twin: str | None = None,
    ) -> PluginInfo:
        """Load one plugin; see `SystemPrompt.load`.

        An *async_twin* makes it synchronous: errors name the twin for what is async.
        """
        owner = self._owner(scope)
        candidate = self._candidate(plugin, name)
        context = self._begin(candidate, owner, async_twin)
        await self._fill(context, config, async_twin)
        if not await self._publish([context], async_twin, plugin=candidate.name, scope=scope):
            raise candidate.refused("was disposed while it was loaded")
        self._tell_ignored(context.ignored)
        return context.plugin

    async def load_entry_points(
        self,
        only: Iterable[str] | None,
        block: Iterable[str],
        *,
        strict: bool,
        async_twin: str | None = None,
    ) -> LoadReport:
        """Load the installed plugins; see `SystemPrompt.load_entry_points`."""
        self._host._check_active()
        discovery = _discover()
        loaded = self._layers.root.plugins or {}
        choice = choose(self._host.config, discovery.plugins, loaded, only, block)
        names, left_out = choice.names, choice.left_out
        self._tell_kept_out(choice.kept_out)
        for problem in choice.problems:
            logger.warning("%s", problem)
        failed = _not_installed(names, discovery)
        wanted = [discovery.plugins[name] for name in names if name not in failed]
        contexts: list[PluginContext] = []
        for installed in wanted:
            try:
                candidate = self._imported(installed)
                context = self._begin(candidate, self._host, async_twin)
                await self._fill(context, None, async_twin)
            except PromptError as error:
                failed[installed.name] = error
                logger.error("%s", error, exc_info=error)  # noqa: TRY400 - not always inside one
            except BaseException as error:
                error.add_note(f"raised while {installed.label} was loaded")
                await _take_back(contexts, async_twin)
                raise
            else:
                contexts.append(context)
        if strict and failed:
            await _take_back(contexts, async_twin)
            raise_all(list(failed.values()), "plugins that cannot be loaded")
        shown = await self._publish(contexts, async_twin)
        for context in contexts:
            if context not in shown:
                refusal = context._candidate.refused("was disposed while others were loaded")
                failed[context._candidate.name] = refusal
        ignored = (*self._host.config.ignored, *(one for c in contexts for one in c.ignored))
        self._tell_ignored(ignored)
        infos = tuple(context.plugin for context in shown)
        problems = (*discovery.problems, *choice.problems)
        return LoadReport(infos, failed, left_out, problems, ignored)

    def context(self, name: str, scope: Scope | None) -> PluginContext:
        """Give the context of a loaded plugin, or raise `PluginNotFoundError`."""
        layer = self._owner(scope)._layer
        with self._layers.lock:
            plugins: dict[str, PluginContext] = {
                known: context
                for known, context in (layer.plugins or {}).items()
                if not context.is_loading
            }
        context = plugins.get(name)
        if context is None:
            where = "" if scope is None else f" in {scope!r}"
            raise PluginNotFoundError(
                f'no plugin "{name}" is loaded{where}{nearest(name, plugins)}'
                + (f"; loaded are {quoted(plugins)}" if plugins else "")
            )
        return context

    def forget_modules(self, modules: set[str]) -> None:
        """Remove a plugin's own *modules* from ``sys.modules``, unless another one uses them."""
        with self._layers.lock:
            if any(other.modules() & modules for other in self._contexts()):
                return
        for name in modules:
            sys.modules.pop(name, None)

    def _tell_ignored(self, ignored: Iterable[Ignored]) -> None:
        """Log, once for this host, the settings of files that are not trusted."""
        new = [one for one in ignored if one not in self._told]
        self._told.update(new)
        for notice in notices(new):
            logger_of_config.warning("%s", notice)

    def _tell_kept_out(self, names: Iterable[str]) -> None:
        """Log, once for this host, what a file that is not trusted takes away from the user."""
        file = str(self._host.config.file)
        new = [name for name in names if Ignored(file, name) not in self._told]
        self._told.update(Ignored(file, name) for name in new)
        if new:
            message = "%s is not trusted, and keeps out plugins that you would have: %s"
            logger_of_config.warning(message, shown(file), quoted(sorted(new)))

    def _owner(self, scope: Scope | None) -> DisposableContext:
        if scope is None:
            return self._host
        if not isinstance(scope, Scope) or scope._layers is not self._layers:
            raise ScopeError(f"{scope!r} is no scope of this host")
        return scope

    def _candidate(self, plugin: object, name: str | None) -> Candidate:
        if isinstance(plugin, str):
            installed = _discover().plugins
            if plugin not in installed:
                raise PluginNotFoundError(
                    f'no plugin "{shown(plugin)}" is installed{nearest(plugin, installed)}'
                    f"; installed are {quoted(installed) or 'none'}"
                )
            return self._imported(installed[plugin], name)
        if name is not None and not isinstance(name, str):
            raise InvalidContributionError(f"a plugin's name must be a str, not {name!r}")
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
        self, candidate: Candidate, owner: DisposableContext, async_twin: str | None
    ) -> PluginContext:
        """Check the candidate and take its name; nothing of it is visible yet."""
        hooks = read_hooks(candidate)
        if async_twin is not None and hooks.is_async("activate"):
            raise AsyncProviderError(f"activate of {candidate.label} is async; use {async_twin}")
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

    async def _fill(self, context: PluginContext, config: object, async_twin: str | None) -> None:
        try:
            await context.fill(config, async_twin)
        except BaseException as error:
            removed = await _take_back([context], async_twin)
            if removed:  # a plugin can load another one into a scope of its own
                self._tell_withdrawn(context, removed)
            if error is context.refusal or not isinstance(error, Exception):
                raise
            raise context._candidate.load_error(error) from error

    def _tell_withdrawn(self, context: PluginContext, removed: tuple[Item, ...]) -> None:
        event = context._event("withdrawn", (), removed, self._layers.generation)
        for error in tell_all(self._layers.watching(), event):
            logger.error("a change listener failed", exc_info=error)

    async def _publish(
        self,
        contexts: list[PluginContext],
        async_twin: str | None,
        *,
        plugin: str | None = None,
        scope: Scope | None = None,
    ) -> list[PluginContext]:
        """Show what was loaded to the next assembly, and tell the change listeners.

        Gives those that were there to show: one may be disposed while others are loaded.
        """
        layers = self._layers
        with layers.lock:
            contexts = [context for context in contexts if not context.is_gone]
            entries = [entry for context in contexts for entry in context.loaded_entries()]
            generation = layers.publish(entries)
            added = [entry for entry in entries if entry.layer.entries.get(entry.key) is entry]
        if not contexts:
            return []
        names = [] if plugin else [("plugin", c._candidate.name, c.scope) for c in contexts]
        event = self._host._event("loaded", (*items(added), *names), (), generation)
        event = attrs.evolve(event, plugin=plugin, scope=scope)
        told, error = tell_in_turn(layers.watching(), event)
        if error is not None:
            removed = await _take_back(contexts, async_twin)
            errors = [error, *tell_all(told, withdrawal(event, layers.generation))]
            # What the plugins had loaded into scopes of their own was told before.
            others = tuple(item for item in removed if item not in event.added)
            if others:
                withdrawn = attrs.evolve(event, kind="withdrawn", added=(), removed=others)
                errors += tell_all(layers.watching(), withdrawn)
            raise_all(errors, UNTOLD)
        return contexts


def _discover() -> Discovery:
    from dsh_prompt.discovery import discover  # noqa: PLC0415 - only where something is looked for

    return discover()


def _not_installed(names: Iterable[str], discovery: Discovery) -> dict[str, PromptError]:
    """Give the error for each of *names* that no installed distribution offers."""
    installed = discovery.plugins
    return {
        name: PluginNotFoundError(
            f'no plugin "{shown(name)}" is installed{nearest(name, installed)}'
        )
        for name in names
        if name not in installed
    }


async def _take_back(contexts: Sequence[PluginContext], async_twin: str | None) -> tuple[Item, ...]:
    """Dispose what a failed load has registered; cleanups that fail are logged.

    Gives what was visible already.
    """
    removed: list[Item] = []
    for context in reversed(contexts):
        disposal = context._begin_disposal()
        if disposal is not None:
            await disposal.unwind_whole(async_twin)
            removed += disposal.event.removed
            for error in disposal.errors:
                label = context._candidate.label
                logger.error("%s failed to clean up after its load", label, exc_info=error)
    return tuple(removed)
