"""Sync: a host follows what is installed, while it goes on working."""

from __future__ import annotations

import importlib
import logging
import time
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.errors import PromptError, text_of
from dsh_prompt.plugins.attempts import edition
from dsh_prompt.plugins.batch import prepare, show
from dsh_prompt.plugins.candidates import discover
from dsh_prompt.plugins.choice import choose
from dsh_prompt.plugins.discovery import is_unfinished
from dsh_prompt.plugins.manager import not_installed
from dsh_prompt.plugins.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dsh_prompt.config.config import Config
    from dsh_prompt.plugins.choice import LeftOut
    from dsh_prompt.plugins.context import PluginContext, PluginInfo
    from dsh_prompt.plugins.discovery import Discovery
    from dsh_prompt.plugins.manager import PluginManager

logger = logging.getLogger("dsh_prompt.plugins")

#: Seconds to wait for an installer that is in the middle of its work, each time.
PATIENCE = (0.05, 0.1, 0.2, 0.4)


@attrs.frozen
class SyncReport:
    """What ``sync`` did.

    *installed* are the plugins that it loaded, *upgraded* those that it reloaded, *removed*
    those that it unloaded. *failed* maps the names of others to the errors that kept them as
    they were, *left_out* those of installed ones that are not wanted to the reason;
    *problems* tells what else is wrong.
    """

    installed: tuple[PluginInfo, ...] = ()
    upgraded: tuple[PluginInfo, ...] = ()
    removed: tuple[PluginInfo, ...] = ()
    failed: Mapping[str, PromptError] = attrs.field(factory=dict)
    left_out: Mapping[str, LeftOut] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()


async def sync(plugins: PluginManager, *, async_twin: str | None = None) -> SyncReport:
    """Make *plugins* follow what is installed; see `SystemPrompt.sync`."""
    plugins.host._check_active()
    discovery, unfinished = await _settled(plugins, async_twin)
    return await _Sync(plugins, discovery, unfinished, async_twin).run()


async def _settled(plugins: PluginManager, async_twin: str | None) -> tuple[Discovery, set[str]]:
    """Look at what is installed, more than once where an installer seems to be at work.

    Gives beside it the distributions of loaded plugins that are unfinished all the same.
    """
    for seconds in PATIENCE:
        discovery, unfinished = _look(plugins)
        if not unfinished and not discovery.is_being_written():
            return discovery, unfinished
        if async_twin is not None:
            time.sleep(seconds)  # noqa: ASYNC251 - driven without an event loop
        else:
            import anyio  # noqa: PLC0415 - only where something is async

            await anyio.sleep(seconds)
    return _look(plugins)


def _look(plugins: PluginManager) -> tuple[Discovery, set[str]]:
    importlib.invalidate_caches()
    discovery = discover()
    missing = {
        installed.distribution
        for context in plugins.loader.contexts()
        if (installed := context._candidate.installed) is not None
        and installed.name not in discovery.plugins
    }
    return discovery, {name for name in missing if is_unfinished(name)}


class _Sync:
    """One run: finds out what changed, prepares it in units, and exchanges all at once."""

    def __init__(
        self, plugins: PluginManager, discovery: Discovery, unfinished: set[str], twin: str | None
    ) -> None:
        self._plugins = plugins
        self._installed = discovery.plugins
        self._unfinished = unfinished
        self._twin = twin
        self._failed: dict[str, PromptError] = {}
        self._problems = [*discovery.problems]

    async def run(self) -> SyncReport:
        plugins = self._plugins
        config = self._config()
        loaded = plugins.layers.root.plugins or {}
        choice = choose(config, self._installed, loaded, plugins.wanted)
        plugins.tell_choice(choice)
        self._problems += choice.problems
        units, departing = self._units(choice.names)
        ready, failed = await prepare(filter(self._can_be_tried, units), config)
        tried = {name: one for unit in units for name, one in unit.brings.items()}
        plugins.attempts.note(failed, tried)
        self._failed.update(failed)
        incoming = [new for unit in ready for new in unit.new]
        renewed = {old for unit in ready for old in unit.renewed}
        upgraded = [new for new in incoming if new.predecessor in renewed]
        installed = [new for new in incoming if new.predecessor is None]
        removed = self._removed(ready, departing)
        modules = {n: m for context in departing for n, m in context.own_modules.loaded().items()}

        def done() -> None:
            plugins.host._take(config)
            plugins.forget(modules)

        _, errors = await show(
            ready, plugins.layers, "synced", departing=departing, twin=self._twin, done=done
        )
        return SyncReport(
            tuple(new.plugin for new in installed),
            tuple(new.plugin for new in upgraded),
            removed,
            self._failed,
            choice.left_out,
            (*self._problems, *_told(errors)),
        )

    def _config(self) -> Config:
        """Give the configuration with what its files say now."""
        config = self._plugins.host.config
        try:
            fresh = config.reread()
        except PromptError as error:
            self._problems.append(f"the configuration stays as it was: {error}")
            return config
        before, now = config.plugins.config, fresh.plugins.config
        # What failed with other settings is tried again.
        changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        self._plugins.attempts.forget(changed)
        return fresh

    def _units(self, wanted: Sequence[str]) -> tuple[list[Unit], list[PluginContext]]:
        """Group what changed by distribution; beside it stands what is gone for good."""
        self._failed.update(not_installed(wanted, self._installed))
        new = [name for name in wanted if name in self._installed]
        departing: list[PluginContext] = []
        changes: list[dict[str, Any]] = []
        for distribution, group in self._by_distribution().items():
            gone = [one for one in group if name_of(one) not in self._installed]
            here = [one for one in group if one not in gone]
            if gone and distribution in self._unfinished:
                self._refuse(group, "is half installed; it stays as it is")
                continue
            added = [one for one in new if self._installed[one].distribution == distribution]
            # An entry point may have another name now: then old and new change places.
            if (gone and added) or any(map(self._has_changed, here)):
                new = [name for name in new if name not in added]
                changes.append({"added": added, "renewed": here, "dropped": gone})
            else:
                departing += gone
        changes += [{"added": [name]} for name in new]
        units: list[Unit] = []
        for change in changes:
            unit = self._unit(departing, **change)
            # What both would make anew is made anew once.
            for other in [one for one in units if not set(one.old).isdisjoint(unit.old)]:
                units.remove(other)
                unit = self._unit(
                    departing,
                    added=(*other.added, *unit.added),
                    renewed=(*other.renewed, *unit.renewed),
                    dropped=(*other.dropped, *unit.dropped),
                )
            units.append(unit)
        return units, departing

    def _unit(self, departing: Sequence[PluginContext], **change: Any) -> Unit:
        plugins = self._plugins
        return Unit(
            plugins.loader,
            plugins.host,
            self._installed,
            departing=departing,
            twin=self._twin,
            **change,
        )

    def _by_distribution(self) -> dict[str, list[PluginContext]]:
        groups: dict[str, list[PluginContext]] = {}
        for context in self._plugins.loader.contexts():
            distribution = context._candidate.distribution
            if distribution is not None and not context.is_loading:
                groups.setdefault(distribution, []).append(context)
        return dict(sorted(groups.items()))

    def _has_changed(self, context: PluginContext) -> bool:
        loaded = context._candidate.installed
        now = self._installed[name_of(context)]
        return loaded is None or edition(loaded) != edition(now)

    def _can_be_tried(self, unit: Unit) -> bool:
        """Tell it, or note why not."""
        for name, installed in unit.brings.items():
            if failure := self._plugins.attempts.failure(name, installed):
                self._failed.update(dict.fromkeys(unit.brings, failure))
                return False
        if any(one.successor is not None for one in unit.old):
            self._refuse(unit.renewed, "is being reloaded already")
            return False
        if self._plugins.loader.are_used_elsewhere(unit.own_modules()):
            self._refuse(unit.renewed, "has a new version, but another host here uses its modules")
            return False
        if extensions := unit.extensions():
            names = ", ".join(extensions)
            problem = (
                f"has C extensions, which cannot be loaded anew ({names}); start a new process"
            )
            self._refuse(unit.renewed, problem)
            return False
        return True

    def _refuse(self, contexts: Iterable[PluginContext], problem: str) -> None:
        for context in contexts:
            self._failed[context._candidate.name] = context._candidate.refused(problem)

    def _removed(
        self, ready: Sequence[Unit], departing: Sequence[PluginContext]
    ) -> tuple[PluginInfo, ...]:
        """Describe what goes for good; what goes only since it requires that, has failed."""
        replaced = {old for unit in ready for old in unit.old}
        dropped = [old for unit in ready for old in unit.dropped]
        gone = [*departing, *dropped]
        for context in self._plugins.loader.dependants(gone, without=()):
            if context not in gone and context not in replaced:
                problem = "is unloaded: no plugin of a name that it requires is installed any more"
                self._failed[context._candidate.name] = context._candidate.refused(problem)
        return tuple(
            attrs.evolve(context.plugin, state="unloaded", contributions=()) for context in gone
        )


def name_of(context: PluginContext) -> str:
    """Give the name of the entry point that *context* was loaded from."""
    installed = context._candidate.installed
    return context._candidate.name if installed is None else installed.name


def _told(errors: Iterable[BaseException]) -> Iterator[str]:
    """Log *errors* of cleanups, and give their texts; an interrupt is raised."""
    for error in errors:
        if not isinstance(error, Exception):
            raise error
        notes = "; ".join(getattr(error, "__notes__", ()))
        logger.error("a cleanup failed: %s", notes, exc_info=error)
        yield f"a cleanup failed: {type(error).__name__}: {text_of(error)} ({notes})"
