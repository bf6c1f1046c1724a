"""What a host does with plugins: load, reload and unload them, each one whole or not at all."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.config.settings import Ignored, notices
from dsh_prompt.errors import (
    InvalidContributionError,
    PluginNotFoundError,
    PromptError,
    ScopeError,
    nearest,
    quoted,
    raise_all,
    shown,
)
from dsh_prompt.lifecycle.changes import tell_all
from dsh_prompt.lifecycle.disposable import Scope
from dsh_prompt.lifecycle.leaving import entries_of, leaving
from dsh_prompt.lifecycle.registration import UNTOLD, Loading, items
from dsh_prompt.lifecycle.state import State
from dsh_prompt.plugins.attempts import Attempts
from dsh_prompt.plugins.batch import prepare, show
from dsh_prompt.plugins.candidates import candidate_of, discover, imported, installed_plugin
from dsh_prompt.plugins.choice import Wanted, choose
from dsh_prompt.plugins.context import PluginContext
from dsh_prompt.plugins.exchange import Exchange
from dsh_prompt.plugins.loading import Loader, are_used
from dsh_prompt.plugins.modules import FreshImport, OwnModules, forget
from dsh_prompt.plugins.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.plugins.choice import Choice, LeftOut
    from dsh_prompt.plugins.context import PluginInfo
    from dsh_prompt.plugins.discovery import Installed
    from dsh_prompt.plugins.hooks import Candidate
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


class PluginManager:
    """Loads plugins into the layers of one host, and unloads them."""

    def __init__(self, host: SystemPrompt) -> None:
        self.host = host
        self.layers = host._layers
        self.loader = Loader(host)
        #: What `load_entry_points` was asked for, and what was unloaded by name since.
        self.wanted = Wanted()
        self.attempts = Attempts()
        #: Ignored settings that were logged.
        self._told: set[Ignored] = set()

    def loaded(self) -> list[PluginInfo]:
        """List the loaded plugins, global ones and those of scopes, in load order."""
        with self.layers.lock:
            contexts = self.loader.contexts()
            return [one.plugin for one in contexts if not one.is_loading and not one.is_gone]

    def context(self, name: str, scope: Scope | None) -> PluginContext:
        """Give the context of a loaded plugin, or raise `PluginNotFoundError`."""
        layer = self._owner(scope)._layer
        with self.layers.lock:
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

    # Loading

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
        loading = Loading([], twin=async_twin)
        if not isinstance(plugin, str):
            return await self._load(candidate_of(plugin, name), owner, loading, config)
        installed = installed_plugin(plugin, discover().plugins)
        fresh = FreshImport(self.loader.outdated_modules(installed))
        try:
            with fresh:
                candidate = imported(installed, name)
            info = await self._load(candidate, owner, loading, config)
        except BaseException:
            fresh.undo([OwnModules.of_distribution(installed)], are_used)
            raise
        if scope is None:
            self.wanted.unloaded.discard(plugin)
        return info

    async def _load(
        self, candidate: Candidate, owner: DisposableContext, loading: Loading, config: object
    ) -> PluginInfo:
        context = self.loader.begin(candidate, owner, loading)
        await self.loader.fill(context, config, self.host.config)
        exchange = Exchange(self.layers, [context], twin=loading.twin)
        await exchange.run("loaded", plugin=candidate.name, scope=owner.scope)
        if not exchange.incoming:
            raise candidate.refused("was disposed while it was loaded")
        self.tell_ignored(context.ignored)
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
        host = self.host
        host._check_active()
        wanted = Wanted.asked(only, block)
        discovery = discover()
        choice = choose(host.config, discovery.plugins, self.layers.root.plugins or {}, wanted)
        self.tell_choice(choice)
        failed = not_installed(choice.names, discovery.plugins)
        units = [
            Unit(self.loader, host, discovery.plugins, added=[name], twin=async_twin)
            for name in choice.names
            if name not in failed
        ]
        ready, errors = await prepare(units, host.config)
        self.attempts.note(errors, discovery.plugins)
        failed.update(errors)
        if strict and failed:
            for unit in reversed(ready):
                await unit.undo()
            raise_all(list(failed.values()), "plugins that cannot be loaded")
        contexts = [context for unit in ready for context in unit.new]
        shown_, _ = await show(ready, self.layers, "loaded", twin=async_twin)
        self.wanted = wanted
        for context in contexts:
            if context not in shown_:
                refusal = context._candidate.refused("was disposed while others were loaded")
                failed[context._candidate.name] = refusal
        ignored = (*host.config.ignored, *(one for c in contexts for one in c.ignored))
        self.tell_ignored(ignored)
        infos = tuple(context.plugin for context in shown_)
        problems = (*discovery.problems, *choice.problems)
        return LoadReport(infos, failed, choice.left_out, problems, ignored)

    # Reloading

    async def reload(
        self, name: str, scope: Scope | None, *, async_twin: str | None = None
    ) -> PluginInfo:
        """Load the plugin's new code in its place; see `SystemPrompt.reload`."""
        context = self.context(name, scope)
        try:
            config = self.host.config.reread()
        except PromptError as error:
            raise context._candidate.load_error(error) from error
        installed = {} if context._candidate.installed is None else discover().plugins
        unit = Unit(self.loader, self.host, installed, renewed=[context], twin=async_twin)
        is_shared = self.loader.are_used_elsewhere(unit.own_modules())
        if is_shared:
            message = "%s keeps its code: another host in this process uses its modules"
            logger.warning(message, context._candidate.label)
        unit.import_code(anew=not is_shared)
        await unit.load([], config)
        _, errors = await show(
            [unit],
            self.layers,
            "reloaded",
            twin=async_twin,
            plugin=name,
            scope=scope,
            done=lambda: self.host._take(config),
        )
        self.tell_ignored(one for new in unit.new for one in new.ignored)
        raise_all(errors, f"errors while the old {context._label} was cleaned up")
        new = next(one for one in unit.new if one._candidate.name == name and one.scope is scope)
        return new.plugin

    # Unloading

    async def unload(
        self,
        name: str,
        scope: Scope | None,
        *,
        purge: bool,
        urgent: bool,
        async_twin: str | None = None,
    ) -> None:
        """Unload a plugin; see `SystemPrompt.unload`."""
        context = self.context(name, scope)
        context.goes_urgently = urgent
        installed = context._candidate.installed
        modules = context.own_modules.loaded() if purge else {}
        try:
            if async_twin is None:
                await context.dispose_async()
            else:
                context._dispose_now(async_twin)
        finally:
            if context.is_gone:
                if installed is not None and scope is None:
                    self.wanted.unloaded.add(installed.name)
                self.forget(modules)

    def forget(self, modules: Mapping[str, ModuleType]) -> None:
        """Remove *modules* from ``sys.modules``, unless a plugin in this process uses some."""
        if not are_used(modules):
            forget(modules)

    def quarantine(self, name: str, reason: str, scope: Scope | None) -> None:
        """Switch a plugin off; see `SystemPrompt.quarantine`."""
        if not isinstance(reason, str) or not reason:
            raise InvalidContributionError(f"quarantine() takes a reason, not {reason!r}")
        self.switch_off(self.context(name, scope), reason)

    def switch_off(self, context: PluginContext, reason: str) -> None:
        """Withdraw all of a plugin, and of what needs it, but keep its context, and tell it."""
        layers = self.layers
        with layers.lock:
            if context._state is not State.ACTIVE:
                return
            lifetimes = [one for one in leaving([context]) if one._state is State.ACTIVE]
            others = [item for one in lifetimes if one is not context for item in one._items()]
            for lifetime in lifetimes:
                lifetime._state = State.QUARANTINED
                if isinstance(lifetime, PluginContext):
                    lifetime.reason = f'it needs "{context._candidate.name}": {reason}'
            context.reason = reason
            gone, generation = layers.withdraw(entries_of(lifetimes))
            context.goes_urgently = True
            self.layers.mark_urgent(lifetime._layer for lifetime in lifetimes)
            event = context._event("unloaded", (), (*items(gone), *others), generation)
        logger.warning("%s is quarantined: %s", context._candidate.label, reason)
        raise_all(tell_all(layers.watching(), event), UNTOLD)

    # Telling

    def tell_ignored(self, ignored: Iterable[Ignored]) -> None:
        """Log, once for this host, the settings of files that are not trusted."""
        new = [one for one in ignored if one not in self._told]
        self._told.update(new)
        for notice in notices(new):
            logger_of_config.warning("%s", notice)

    def tell_choice(self, choice: Choice) -> None:
        """Log what is wrong with names, and, once, what a file takes away from the user."""
        for problem in choice.problems:
            logger.warning("%s", problem)
        file = str(self.host.config.file)
        new = [name for name in choice.kept_out if Ignored(file, name) not in self._told]
        self._told.update(Ignored(file, name) for name in new)
        if new:
            message = "%s is not trusted, and keeps out plugins that you would have: %s"
            logger_of_config.warning(message, shown(file), quoted(sorted(new)))

    def _owner(self, scope: Scope | None) -> DisposableContext:
        if scope is None:
            return self.host
        if not isinstance(scope, Scope) or scope._layers is not self.layers:
            raise ScopeError(f"{scope!r} is no scope of this host")
        return scope


def not_installed(
    names: Iterable[str], installed: Mapping[str, Installed]
) -> dict[str, PromptError]:
    """Give the error for each of *names* that no installed distribution offers."""
    return {
        name: PluginNotFoundError(
            f'no plugin "{shown(name)}" is installed{nearest(name, installed)}'
        )
        for name in names
        if name not in installed
    }
