"""Candidates: what is to be loaded, imported and instantiated, for the first time or anew."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from dsh_prompt.errors import (
    InvalidContributionError,
    PluginNotFoundError,
    nearest,
    quoted,
    shown,
)
from dsh_prompt.plugins.hooks import Candidate
from dsh_prompt.plugins.modules import can_be_imported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dsh_prompt.errors import PromptError
    from dsh_prompt.plugins.discovery import Discovery, Installed


#: The version of each distribution that a plugin was imported from last, in this process.
imported_versions: dict[str, str] = {}


def discover() -> Discovery:
    """Scan the installed distributions for plugins."""
    from dsh_prompt.plugins import discovery  # noqa: PLC0415 - only where something is looked for

    return discovery.discover()


def candidate_of(plugin: object, name: str | None) -> Candidate:
    """Give the candidate for an object, class or module that `SystemPrompt.load` was given."""
    if name is not None and not isinstance(name, str):
        raise InvalidContributionError(f"a plugin's name must be a str, not {name!r}")
    own = name or getattr(plugin, "__name__", None) or type(plugin).__name__
    return instantiated(Candidate(own, None, given=plugin))


def installed_plugin(name: str, installed: Mapping[str, Installed]) -> Installed:
    """Give the installed plugin *name*, or raise `PluginNotFoundError`."""
    if name not in installed:
        raise PluginNotFoundError(
            f'no plugin "{shown(name)}" is installed{nearest(name, installed)}'
            f"; installed are {quoted(installed) or 'none'}"
        )
    return installed[name]


def imported(installed: Installed, name: str | None = None) -> Candidate:
    """Import an installed plugin; raises `PluginLoadError` for whatever that raises."""
    candidate = Candidate(name or installed.name, None, installed)
    try:
        given = installed.load()
    except Exception as error:
        raise candidate.load_error(error) from error
    imported_versions[installed.distribution] = installed.version
    return instantiated(attrs.evolve(candidate, given=given))


def instantiated(candidate: Candidate) -> Candidate:
    """Make the plugin object of what was given: an instance, where that is a class."""
    given = candidate.given
    if not isinstance(given, type):
        return attrs.evolve(candidate, plugin=given)
    try:
        return attrs.evolve(candidate, plugin=given())
    except Exception as error:
        raise candidate.load_error(error) from error


def can_be_renewed(candidate: Candidate) -> bool:
    """Tell whether there is code to import anew: not that of an object, or a local class."""
    given = candidate.given
    if candidate.installed is not None:
        return True
    if isinstance(given, type):
        return "<locals>" not in given.__qualname__ and can_be_imported(given.__module__)
    return isinstance(given, ModuleType) and can_be_imported(given.__name__)


def renewed(candidate: Candidate, installed: Mapping[str, Installed]) -> Candidate:
    """Import the plugin of *candidate* again, from what is *installed* or on the path now.

    What is *installed* may not have been looked for yet.
    """
    if candidate.installed is not None:
        found = installed_plugin(candidate.installed.name, installed or discover().plugins)
        return imported(found, candidate.name)
    given = candidate.given
    try:
        if isinstance(given, type):
            found_class: Any = import_module(given.__module__)
            for part in given.__qualname__.split("."):
                found_class = getattr(found_class, part)
            given = found_class
        else:
            given = import_module(given.__name__)
    except Exception as error:
        raise candidate.load_error(error) from error
    return instantiated(attrs.evolve(candidate, given=given))


class Bringing(Protocol):
    """What brings plugins."""

    @property
    def names(self) -> tuple[str, ...]:
        """The plugins that it brings."""
        ...

    def refused(self, problem: str) -> PromptError:
        """Give the error for *problem*."""
        ...


def in_order(
    items: Sequence[Bringing],
    needs: Sequence[set[int]],
    failed: dict[str, PromptError] | None = None,
) -> list[int]:
    """Sort *items*, by index: each behind those that it *needs*, else by name.

    Those that need each other in a circle are left out, their errors go into *failed*;
    without it the first one is raised.
    """
    graph = dict(enumerate(needs))
    while cycle := _cycle(graph):
        path = " -> ".join(items[index].names[0] for index in cycle)
        error = items[cycle[0]].refused(f"cannot be loaded: what it requires forms a cycle: {path}")
        if failed is None:
            raise error
        for index in {*cycle}:
            failed.update(dict.fromkeys(items[index].names, error))
            del graph[index]
        graph = {index: {o for o in others if o in graph} for index, others in graph.items()}
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    ordered: list[int] = []
    ready: list[int] = []
    while sorter.is_active():
        ready = sorted((*ready, *sorter.get_ready()), key=lambda one: (items[one].names, one))
        ordered.append(ready.pop(0))
        sorter.done(ordered[-1])
    return ordered


def _cycle(graph: Mapping[int, set[int]]) -> list[int]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # It lists what stands before what; a requirement points the other way.
        return list(reversed(error.args[1]))
    return []
