"""Whether a plugin leaves something behind when it is unloaded."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dsh_prompt.plugins.discovery import discover
from dsh_prompt.plugins.modules import OwnModules, forget, is_extension
from dsh_prompt.testing.loads import describe_owned, remember, survivors
from dsh_prompt.testing.loops import run_in_own_loop
from dsh_prompt.testing.places import code_place, name_of
from dsh_prompt.testing.process_state import ProcessState
from dsh_prompt.testing.trials import load_needs, sample_host

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from dsh_prompt.config.config import Config
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.system_prompt import SystemPrompt
    from dsh_prompt.testing.loads import Remembered

ROUNDS = 3


def assert_unloads_clean(
    plugin: object,
    *,
    name: str | None = None,
    config: object = None,
    state: RuntimeState | None = None,
) -> None:
    """Check that nothing is left of *plugin*, which is what `SystemPrompt.load` takes.

    It is loaded into a fresh host, assembled with and unloaded, several times, by the async
    operations, in an event loop of its own. No contribution, listener, callback, scope, task,
    thread or open file may remain, and the objects of each load must be gone; for the name of
    an installed plugin, its modules too, once they are purged. What fails to load or to
    assemble is raised as it is.
    """
    __tracebackhide__ = True
    left = leftovers(plugin, name=name, config=config, states=(state,))
    if left:
        label = name or (plugin if isinstance(plugin, str) else name_of(plugin))
        lines = "".join(f"\n  - {one}" for one in left)
        raise AssertionError(f'plugin "{label}" leaves something behind:{lines}')


def leftovers(
    plugin: object,
    *,
    name: str | None = None,
    config: object = None,
    states: tuple[RuntimeState | None, ...] = (None,),
    host_config: Config | None = None,
) -> list[str]:
    """Tell, in words, what is left after some rounds of loading and unloading."""
    trial = _Trial(plugin, name, config, states, host_config)
    before = ProcessState()
    with _no_log_records():
        left = run_in_own_loop(trial.run)
    return list(dict.fromkeys([*left, *before.changes()]))


class _Trial:
    """Some rounds of loading and unloading one plugin."""

    def __init__(
        self,
        plugin: object,
        name: str | None,
        config: object,
        states: tuple[RuntimeState | None, ...],
        host_config: Config | None,
    ) -> None:
        self._plugin = plugin
        self._name = name
        self._config = config
        self._states = states
        self._host_config = host_config
        self._problems: list[str] = []

    async def run(self) -> list[str]:
        """Go through the rounds, and tell what is left."""
        tasks = asyncio.all_tasks()
        rounds = [await self._round() for _ in range(ROUNDS)]
        self._problems += await _new_tasks(tasks)
        # Whoever gave an object or a module holds it, and with it what it holds.
        held = not isinstance(self._plugin, str | type)
        self._problems += survivors(rounds, but_the_last=held)
        if isinstance(self._plugin, str):
            await self._purged_round(self._plugin)
        return self._problems

    async def _purged_round(self, plugin: str) -> None:
        own = OwnModules.of_distribution(discover().plugins[plugin])
        if any(map(is_extension, own.loaded().values())):  # Python loads those once
            return
        with _other_modules(own):
            made = await self._round(purge=True)
            if not own.loaded():  # a host keeps them for another one that has the plugin, too
                self._problems += survivors([made], but_the_last=False)

    async def _round(self, *, purge: bool = False) -> list[Remembered]:
        host = sample_host(self._host_config)
        try:
            await load_needs(host, self._plugin)
            before = set(host._owned or ())
            info = await host.load_async(self._plugin, self._name, self._config)
            made = remember(host._plugins.context(info.name, None), modules=purge)
            for state in self._states:
                await host.assemble_async(state=state)
            await self._unload(host, info.name, purge=purge)
            left = [describe_owned(owned) for owned in host._owned or () if owned not in before]
            self._problems += left
        finally:
            with suppress(Exception, BaseExceptionGroup):  # it was told, or is raised already
                await host.dispose_async()
        return made

    async def _unload(self, host: SystemPrompt, name: str, *, purge: bool) -> None:
        try:
            await host.unload_async(name, purge=purge)
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - it is the finding
            notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
            self._problems.append(f"its unload raised {type(error).__name__}: {error}{notes}")


async def _new_tasks(before: set[asyncio.Task[Any]]) -> list[str]:
    """Tell which tasks are left, a moment after all is over."""
    new = asyncio.all_tasks() - before
    if new:
        _, new = await asyncio.wait(new, timeout=0.2)
    told = []
    for task in new:
        coroutine = task.get_coro()
        told.append(f"task {name_of(coroutine)} still runs{code_place(coroutine)}")
        task.cancel()
    return sorted(told)


@contextmanager
def _no_log_records() -> Iterator[None]:
    """Switch logging off: whoever keeps a record keeps what it tells of."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _other_modules(own: OwnModules) -> Iterator[None]:
    """Let a plugin's modules be imported anew for a while: tests hold those that there are."""
    modules: dict[str, ModuleType] = own.loaded()
    detached = forget(modules)
    try:
        yield
    finally:
        forget(own.loaded())
        sys.modules.update(modules)
        for package, child, module in detached:
            setattr(package, child, module)
