"""Failures in a row: a plugin that has too many of them is switched off."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dsh_prompt.errors import BudgetError, InvariantError, ProviderError, text_of

if TYPE_CHECKING:
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.plugins.context import PluginContext
    from dsh_prompt.plugins.manager import PluginManager

logger = logging.getLogger("dsh_prompt.plugins")

#: The errors that say which plugin made an assembly fail.
_BLAMING = (ProviderError, InvariantError, BudgetError)


class Failures:
    """Counts the assemblies that each plugin made fail since it last took part in a good one.

    After *limit* of them the plugin is quarantined.
    """

    def __init__(self, plugins: PluginManager, limit: int) -> None:
        self._plugins = plugins
        self._limit = limit
        self._counts: WeakKeyDictionary[PluginContext, int] = WeakKeyDictionary()

    def note_failure(self, error: Exception, scope: Scope | None, generation: int) -> None:
        """Count the failed assembly for *scope*, if *error* says which plugin is to blame.

        It was begun at *generation*: a plugin that came later had no part in it.
        """
        if not isinstance(error, _BLAMING) or error.plugin is None:
            return
        layers = self._plugins.layers
        with layers.lock:
            context = self._blamed(error.plugin, error.scope, scope)
            if context is None or context.shown_at > generation:
                return
            count = self._counts.get(context, 0) + 1
            if count < self._limit:
                self._counts[context] = count
                return
            self._counts.pop(context, None)
        reason = f"it failed {count} times in a row, last with: {text_of(error)}"
        try:
            self._plugins.switch_off(context, reason)
        except Exception:
            # The assembly has an error of its own to raise.
            logger.exception("a change listener failed")

    def note_success(self, scope: Scope | None) -> None:
        """Begin to count anew for the plugins that took part in a good assembly for *scope*."""
        if not self._counts:
            return
        layers = self._plugins.layers
        with layers.lock:
            chain = layers.chain(layers.root if scope is None else scope.layer)
            for context in list(self._counts):
                if context._layer in chain:
                    del self._counts[context]

    def _blamed(
        self, name: str, scope_name: str | None, scope: Scope | None
    ) -> PluginContext | None:
        """Give the plugin *name* that took part, in a scope of that name, or else the nearest.

        What a plugin registers in a scope of its own carries the name of that scope.
        """
        layers = self._plugins.layers
        nearest: PluginContext | None = None
        for layer in reversed(layers.chain(layers.root if scope is None else scope.layer)):
            context: PluginContext | None = (layer.plugins or {}).get(name)
            if context is None:
                continue
            if scope_name == (None if layer.scope is None else layer.scope.name):
                return context
            nearest = nearest or context
        return nearest
