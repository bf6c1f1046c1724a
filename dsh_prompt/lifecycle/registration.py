"""What a lifetime owns: registrations with their undo, cleanups, and a load under way."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from dsh_prompt.coroutines import discard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.lifecycle.changes import Item
    from dsh_prompt.lifecycle.lifecycle import Lifetime

#: What an exception group of change listeners says.
UNTOLD = "change listeners raised"


class Registration:
    """The undo of one registration: ``dispose()`` it, or call it. Doing so twice is harmless."""

    __slots__ = ("__weakref__", "_owner", "entries")

    def __init__(self, owner: Lifetime, entries: Sequence[Entry]) -> None:
        self._owner = owner
        self.entries = entries

    def dispose(self) -> None:
        """Withdraw what was registered, and tell the change listeners."""
        self._owner._release(self)

    __call__ = dispose

    def __repr__(self) -> str:
        what = ", ".join(f"{entry.kind} {entry.name!r}" for entry in self.entries)
        return f"<Registration {what or 'disposed'}>"


class Cleanup:
    """A callback to run at disposal; *is_async* where its result must be awaited."""

    __slots__ = ("is_async", "run")

    def __init__(self, run: Callable[[], Any], *, is_async: bool = False) -> None:
        self.run = run
        self.is_async = is_async

    async def complete(self) -> None:
        """Run the callback to its end."""
        result = self.run()
        if self.is_async:
            await result
        elif inspect.isawaitable(result):
            discard(result)
            raise TypeError(
                "a callback returned something to await; an async cleanup belongs into "
                "enter_async_context()"
            )


class Loading:
    """A load under way: what it registers is reserved, and published in one generation.

    What *replaced* registered gives way to it. *twin* is the async operation that the caller
    should use for what is async, where the load itself is not.
    """

    __slots__ = ("batch", "entries", "replaced", "twin")

    def __init__(
        self,
        batch: list[Loading],
        replaced: Collection[Lifetime] = (),
        twin: str | None = None,
    ) -> None:
        self.entries: list[Entry] | None = []
        self.replaced = replaced
        self.twin = twin
        # The loads that are published together: they know of each other's services.
        self.batch = batch
        batch.append(self)

    def gives_way(self, entry: Entry) -> bool:
        """Tell whether *entry* belongs to what is being replaced."""
        owner = entry.owner
        return owner in self.replaced or any(one in self.replaced for one in owner.owners())


def items(entries: Sequence[Entry]) -> tuple[Item, ...]:
    """List *entries* as change events do; change listeners are none of their business."""
    return tuple(entry.item for entry in entries if entry.kind != "change")
