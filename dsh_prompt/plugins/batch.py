"""Several units at once: prepared each by itself, shown together."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dsh_prompt.errors import PromptError
from dsh_prompt.plugins.candidates import in_order
from dsh_prompt.plugins.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.config.config import Config
    from dsh_prompt.layers.layers import Layers
    from dsh_prompt.lifecycle.changes import ChangeKind
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.lifecycle.registration import Loading
    from dsh_prompt.plugins.context import PluginContext
    from dsh_prompt.plugins.units import Unit

logger = logging.getLogger("dsh_prompt.plugins")


async def prepare(
    units: Iterable[Unit], config: Config
) -> tuple[list[Unit], dict[str, PromptError]]:
    """Load *units*, each contained, unseen: those that are ready, and the errors of the others.

    What is no error of a plugin, an interrupt, takes all of them back.
    """
    failed: dict[str, PromptError] = {}
    begun: list[Unit] = []
    try:
        for unit in units:
            begun.append(unit)
            with _Contained(unit, failed):
                unit.import_code()
        imported = [unit for unit in begun if failed.keys().isdisjoint(unit.names)]
        batch: list[Loading] = []
        ordered = [imported[n] for n in in_order(imported, _needs_of(imported), failed)]
        for unit in ordered:
            with _Contained(unit, failed):
                await unit.load(batch, config, failed)
    except BaseException:
        for unit in reversed(begun):
            await unit.undo()
        raise
    ready = [unit for unit in ordered if failed.keys().isdisjoint(unit.names)]
    for unit in imported:
        # Not before: what is ready may share its modules.
        if unit not in ready:
            unit.undo_import()
    for failure in dict.fromkeys(failed.values()):
        logger.error("%s", failure, exc_info=failure)
    return ready, failed


class _Contained:
    """Notes what kept *unit* out in *failed*; anything else passes through, with its name."""

    def __init__(self, unit: Unit, failed: dict[str, PromptError]) -> None:
        self._unit = unit
        self._failed = failed

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, PromptError):
            self._failed.update(dict.fromkeys(self._unit.names, error))
            return True
        if error is not None:
            error.add_note(f"raised while {self._unit.label} was loaded")
        return False


def _needs_of(units: Sequence[Unit]) -> list[set[int]]:
    """Give, for each of *units*, which of them bring what it requires, as far as it matters.

    Where plugins are loaded already, nobody waits for anybody in a circle.
    """
    places = {name: number for number, unit in enumerate(units) for name in unit.names}
    needs = [{places[name] for name in unit.requires if name in places} for unit in units]
    return [
        {place for place in found if not (units[place].old and number in needs[place])}
        for number, found in enumerate(needs)
    ]


async def show(
    units: Sequence[Unit],
    layers: Layers,
    kind: ChangeKind,
    *,
    departing: Sequence[PluginContext] = (),
    twin: str | None,
    plugin: str | None = None,
    scope: Scope | None = None,
    done: Callable[[], None] = lambda: None,
) -> tuple[list[PluginContext], list[BaseException]]:
    """Put what *units* loaded in place, in one generation and one event of *kind*.

    Gives the plugins that were there to show, and what the cleanups of the old ones raised.
    *done* is called as soon as nothing can take it back, before the cleanups. A change
    listener that refuses takes everything back, the imports too.
    """
    incoming = [new for unit in units for new in unit.new]
    outgoing = [*departing, *(old for unit in units for old in unit.old)]
    exchange = Exchange(layers, incoming, outgoing, twin=twin, done=done)
    try:
        errors = await exchange.run(kind, plugin=plugin, scope=scope)
    except BaseException:
        if not exchange.is_done:
            for unit in reversed(units):
                unit.undo_import()
        raise
    finally:
        for unit in units:
            unit.release()
        # A plugin must not hold the one whose place it has taken.
        for new in incoming:
            new._loading.replaced = ()
    return exchange.incoming, errors
