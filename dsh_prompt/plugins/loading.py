"""A load in the making: a candidate becomes a plugin that nobody sees yet, or leaves no trace."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING
from weakref import WeakSet, ref

from dsh_prompt.errors import AsyncProviderError, PluginConflictError, nearest
from dsh_prompt.lifecycle.leaving import leaving
from dsh_prompt.lifecycle.state import State
from dsh_prompt.plugins.candidates import imported_versions
from dsh_prompt.plugins.context import PluginContext
from dsh_prompt.plugins.exchange import take_back
from dsh_prompt.plugins.hooks import read_hooks
from dsh_prompt.plugins.modules import OwnModules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from types import ModuleType

    from dsh_prompt.config.config import Config
    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.lifecycle.registration import Loading
    from dsh_prompt.plugins.discovery import Installed
    from dsh_prompt.plugins.hooks import Candidate

logger = logging.getLogger("dsh_prompt.plugins")

# Those of all hosts of this process: modules that one uses are not taken away by another.
_all: WeakSet[Loader] = WeakSet()


class Loader:
    """Brings plugins into the layers of one host, up to the point where they can be shown."""

    def __init__(self, host: DisposableContext) -> None:
        self._host = host
        self._layers = host._layers
        self.lock = host._layers.lock
        _all.add(self)

    def contexts(self) -> list[PluginContext]:
        """List the contexts of all plugins, in load order."""
        with self._layers.lock:
            lifetimes = [*self._host._lifetimes()]
        contexts = [one for one in lifetimes if isinstance(one, PluginContext)]
        return sorted(contexts, key=lambda context: context.sequence)

    def dependants(
        self, needed: Iterable[PluginContext], without: Iterable[PluginContext]
    ) -> list[PluginContext]:
        """List what needs some of *needed*, directly or not, and none of what goes (*without*)."""
        with self._layers.lock:
            going = set(leaving(without))
            found = [one for one in leaving(needed) if one not in going]
            # What a plugin loaded itself comes and goes with it.
            return [
                one
                for one in found
                if isinstance(one, PluginContext) and not any(map(found.__contains__, one.owners()))
            ]

    def are_used_elsewhere(self, modules: Mapping[str, ModuleType]) -> bool:
        """Tell whether a plugin of another host of this process uses some of *modules*."""
        return are_used(modules, besides=self)

    def outdated_modules(self, installed: Installed) -> dict[str, ModuleType]:
        """Give the modules of an older version of *installed* that no plugin uses any more."""
        if imported_versions.get(installed.distribution) in (None, installed.version):
            return {}
        modules = OwnModules.of_distribution(installed).loaded()
        return {} if are_used(modules) else modules

    def begin(
        self,
        candidate: Candidate,
        owner: DisposableContext,
        loading: Loading,
        *,
        failed: Collection[str] = (),
        predecessor: PluginContext | None = None,
    ) -> PluginContext:
        """Check the candidate and take its name; nothing of it is visible yet.

        With a *predecessor* the name is that one's until they are swapped. *failed* are names
        of plugins that should have been loaded before it.
        """
        hooks = read_hooks(candidate)
        required = candidate.requires
        if loading.twin is not None and hooks.is_async("activate"):
            raise AsyncProviderError(f"activate of {candidate.label} is async; use {loading.twin}")
        layer = owner._layer
        with self._layers.lock:
            if predecessor is not None and predecessor.successor is not None:
                raise PluginConflictError(f"{candidate.label} is being reloaded already")
            if predecessor is None and candidate.name in (layer.plugins or {}):
                where = "" if layer.scope is None else f" in {layer.scope!r}"
                raise PluginConflictError(
                    f'a plugin "{candidate.name}" is already loaded{where}; unload it first, or '
                    "give the new one another name"
                )
            needs = [
                self._required(name, candidate, owner, loading, failed, predecessor)
                for name in required
            ]
            context = PluginContext(
                owner, candidate, hooks, loading, needs=needs, predecessor=predecessor
            )
            context.join(owner)
        return context

    def _required(
        self,
        name: str,
        candidate: Candidate,
        owner: DisposableContext,
        loading: Loading,
        failed: Collection[str],
        predecessor: PluginContext | None,
    ) -> PluginContext:
        """Give the nearest plugin *name* that *candidate*, to be loaded into *owner*, sees."""
        known: set[str] = set()
        for layer in reversed(self._layers.chain(owner._layer)):
            plugins: dict[str, PluginContext] = layer.plugins or {}
            known.update(plugins)
            context = plugins.get(name)
            if context is None or context is predecessor:
                continue
            successor = context.successor
            if successor is not None and successor._loading not in loading.batch:
                raise PluginConflictError(
                    f'{candidate.label} requires "{name}", which is being reloaded; try again'
                )
            if successor is None and context in loading.replaced:
                continue  # it goes together with what this one replaces
            context = successor or context
            if context._state is State.QUARANTINED:
                raise candidate.refused(
                    f'cannot be loaded: it requires "{name}", which is quarantined: '
                    f"{context.reason}; reload that first"
                )
            if not context.is_loading or context._loading in loading.batch:
                return context
        if name in failed:
            raise candidate.refused(
                f'cannot be loaded: it requires "{name}", which could not be loaded itself'
            )
        raise candidate.refused(
            f'cannot be loaded: it requires "{name}", which is not loaded{nearest(name, known)}'
            f'; load "{name}" first'
        )

    async def fill(self, context: PluginContext, given: object, config: Config) -> None:
        """Let the plugin register what it contributes, or take it back and raise."""
        twin = context._loading.twin
        try:
            await context.fill(given, config)
        except BaseException as error:
            await take_back([context], twin)
            if error is context.refusal or not isinstance(error, Exception):
                raise
            raise context._candidate.load_error(error) from error


def are_used(modules: Mapping[str, ModuleType], besides: Loader | None = None) -> bool:
    """Tell whether a plugin of a host in this process, *besides* one, uses some of *modules*."""
    if not modules:
        return False
    users = [
        ref(context)
        for loader in list(_all)
        if loader is not besides
        for context in loader.contexts()
        if modules.keys() & context.own_modules.loaded().keys()
    ]
    if users:
        gc.collect()  # a host that nobody holds any more does not count
    return any(user() is not None for user in users)
