"""What a plugin implements: its hooks, read and checked before anything of it runs."""

from __future__ import annotations

import inspect
import logging
from functools import cache
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import attrs
import pluggy

from dsh_prompt import hookspecs
from dsh_prompt.errors import (
    ConfigError,
    PluginConfigError,
    PluginLoadError,
    nearest,
    place_of,
    quoted,
    short,
    text_of,
)
from dsh_prompt.hookspecs import PROJECT
from dsh_prompt.model.source import Source
from dsh_prompt.plugins.modules import OwnModules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.plugins.discovery import Installed

logger = logging.getLogger("dsh_prompt.plugins")


@attrs.frozen
class Candidate:
    """Something that is to be loaded as a plugin.

    *plugin* is the object with the hooks, *given* what a host was given in place of the name
    of an entry point: that object, or its class.
    """

    name: str
    plugin: Any
    installed: Installed | None = None
    given: Any = None

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

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the plugin that it brings."""
        return (self.name,)

    @property
    def requires(self) -> tuple[str, ...]:
        """The names of the plugins that it says it needs."""
        try:
            requires = getattr(self.plugin, "requires", ())
        except Exception as error:
            raise self.load_error(error) from error
        if isinstance(requires, list | tuple) and all(isinstance(one, str) for one in requires):
            return tuple(requires)
        raise self.refused(
            f"cannot be loaded: its requires must be a list of plugin names, not {short(requires)}"
        )

    def own_modules(self) -> OwnModules:
        """Give the modules that are the plugin's: its distribution's, or its own."""
        if self.installed is not None:
            return OwnModules.of_distribution(self.installed)
        plugin = self.plugin
        is_module = isinstance(plugin, ModuleType)
        return OwnModules.of_module(plugin.__name__ if is_module else type(plugin).__module__)

    def load_error(self, error: BaseException) -> PluginLoadError:
        """Give the load error for what went wrong."""
        return PluginLoadError(
            f"{self.label} cannot be loaded: {type(error).__name__}: {text_of(error)}"
            f"{place_of(error)}",
            plugin=self.name,
            distribution=self.distribution,
        )

    def refused(self, problem: str) -> PluginLoadError:
        """Give the load error for a plugin that is not valid."""
        return PluginLoadError(
            f"{self.label} {problem}", plugin=self.name, distribution=self.distribution
        )

    def config_error(self, error: ConfigError) -> PluginConfigError:
        """Give the load error for a configuration that the plugin refuses."""
        return PluginConfigError(
            f"{self.label} cannot be loaded: its configuration is refused: {error}",
            plugin=self.name,
            distribution=self.distribution,
            path=error.path,
            file=error.file,
            line=error.line,
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
    if candidate.plugin is None or isinstance(candidate.plugin, _NO_PLUGINS):
        kind = type(candidate.plugin).__name__
        raise candidate.refused(f"cannot be loaded: a {kind} is no plugin, nor its name")
    try:
        return _read_hooks(candidate)
    except PluginLoadError:
        raise
    except Exception as error:  # of a plugin object that is odd, or that pluggy refuses
        raise candidate.load_error(error) from error


def _read_hooks(candidate: Candidate) -> Hooks:
    manager = pluggy.PluginManager(PROJECT)
    manager.register(candidate.plugin, candidate.name)
    implementations: dict[str, list[pluggy.HookImpl]] = {}
    for caller in manager.get_hookcallers(candidate.plugin) or ():
        for hook in caller.get_hookimpls():
            arguments = _specifications().get(caller.name)
            if arguments is not None:
                _check_arguments(candidate, caller.name, hook, arguments)
                implementations.setdefault(caller.name, []).append(hook)
            elif not hook.optionalhook:
                hint = nearest(caller.name, _specifications())
                raise candidate.refused(f'implements unknown hook "{caller.name}"{hint}')
    manager.add_hookspecs(hookspecs)
    for name, hooks in implementations.items():
        for hook in hooks:
            _check_hook(candidate, name, hook)
    if not implementations:
        logger.warning("%s implements no hook; is @hookimpl missing?", candidate.label)
    return Hooks(implementations)


@cache
def _specifications() -> Mapping[str, Sequence[str]]:
    """Give the arguments of each hook that there is."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    callers = {name: one for name, one in vars(manager.hook).items() if not name.startswith("_")}
    return {name: caller.spec.argnames for name, caller in callers.items()}


def _check_arguments(
    candidate: Candidate, name: str, hook: pluggy.HookImpl, arguments: Sequence[str]
) -> None:
    for argument in hook.argnames:
        if argument not in arguments:
            hint = nearest(argument, arguments) or f"; it has {quoted(arguments)}"
            raise candidate.refused(
                f'cannot be loaded: hook "{name}" has no argument "{argument}"{hint}'
            )


# What somebody passes by mistake, and what could never have hooks.
_NO_PLUGINS = (bool, int, float, str, bytes, list, tuple, dict, set, FunctionType)


def _check_hook(candidate: Candidate, name: str, hook: pluggy.HookImpl) -> None:
    function = hook.function
    problem = None
    if hook.hookwrapper:
        problem = "is an old-style hookwrapper; use wrapper=True"
    elif inspect.isgeneratorfunction(function) and not hook.wrapper and name not in _MAY_YIELD:
        problem = "is a generator, whose body would never run"
    elif inspect.isasyncgenfunction(function):
        problem = "is an async generator; make it async def with call_next"
    elif hook.wrapper and name != "system_prompt_assemble":
        problem = "is a wrapper, which only system_prompt_assemble can have"
    elif hook.wrapper and "call_next" in hook.argnames:
        problem = "takes call_next and is a wrapper; it can be one of the two"
    elif name not in _MAY_BE_ASYNC and inspect.iscoroutinefunction(function):
        problem = f"is async, which only {' and '.join(_MAY_BE_ASYNC)} can be"
    if problem is not None:
        raise candidate.refused(f'cannot be loaded: hook "{name}" {problem}')


_MAY_YIELD = ("contribute_sections", "contribute_contexts", "contribute_tools")
_MAY_BE_ASYNC = ("activate", "deactivate", "system_prompt_assemble")
