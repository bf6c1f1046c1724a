"""Change events: what came and what went, told after the fact."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

from dsh_prompt.coroutines import discard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.model.source import Source

ChangeKind: TypeAlias = Literal[
    "registered",
    "disposed",
    "withdrawn",
    "loaded",
    "unloaded",
    "reloaded",
    "synced",
    "scope-disposed",
    "rebound",
    "restricted",
]
#: One contribution that came or went: kind, name, scope (None: global).
Item: TypeAlias = "tuple[str, str, Scope | None]"


@attrs.frozen
class ChangeEvent:
    """One change of what a host would assemble.

    *plugin* is the name of the plugin that the change belongs to and *scope* its scope
    (None: the host, the global level); *added* and *removed* list (kind, name, scope);
    *generation* is the number of the host state after the change. *urgent* ones are to reach
    models at once, whatever it does to prompt caches.
    """

    kind: ChangeKind
    plugin: str | None
    scope: Scope | None
    added: tuple[Item, ...]
    removed: tuple[Item, ...]
    generation: int
    urgent: bool = False


class ChangeListener:
    """A function that is told of changes, and whose it is."""

    __slots__ = ("function", "source")

    def __init__(self, function: Callable[[ChangeEvent], object], source: Source) -> None:
        self.function = function
        self.source = source

    def __call__(self, event: ChangeEvent) -> None:
        """Tell the function; what it raises carries a note that names its owner."""
        try:
            _refuse_awaitable(self.function(event))
        except BaseException as error:
            error.add_note(f"raised by a change listener of {self.source.owner}")
            raise


def _refuse_awaitable(result: object) -> None:
    if inspect.isawaitable(result):
        discard(result)
        raise TypeError("a change listener returned something to await")


def tell_in_turn(
    listeners: Sequence[ChangeListener], event: ChangeEvent
) -> tuple[Sequence[ChangeListener], BaseException | None]:
    """Tell *listeners* until one raises: those that were told, and its error."""
    for count, listener in enumerate(listeners, 1):
        try:
            listener(event)
        except BaseException as error:  # noqa: BLE001 - the caller undoes, then raises it
            return listeners[:count], error
    return listeners, None


def tell_all(listeners: Iterable[ChangeListener], event: ChangeEvent) -> list[BaseException]:
    """Tell all *listeners* of what can no longer be stopped, and give what they raised."""
    errors: list[BaseException] = []
    for listener in listeners:
        try:
            listener(event)
        except BaseException as error:  # noqa: BLE001 - the others are told first
            errors.append(error)
    return errors


def withdrawal(event: ChangeEvent, generation: int, removed: Iterable[Item]) -> ChangeEvent:
    """Give the event that takes *event* back, as far as it was still there (*removed*)."""
    still = tuple(removed)
    return attrs.evolve(
        event,
        kind="withdrawn",
        added=event.removed,
        removed=tuple(item for item in event.added if item in still),
        generation=generation,
    )
