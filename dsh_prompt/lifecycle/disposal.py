"""A disposal under way: what comes after the contributions are gone."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from threading import Event
from typing import TYPE_CHECKING

from dsh_prompt.errors import raise_all
from dsh_prompt.lifecycle.changes import tell_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from contextvars import Context

    from dsh_prompt.lifecycle.changes import ChangeEvent, ChangeListener
    from dsh_prompt.lifecycle.lifecycle import Lifetime


class Disposal:
    """The cleanups of *lifetimes* that are on their way out, the last one first.

    *event* tells the change, to *listeners* (None: those that there are in the end).
    """

    __slots__ = ("done", "errors", "event", "lifetimes", "listeners")

    def __init__(
        self,
        lifetimes: Sequence[Lifetime],
        event: ChangeEvent,
        listeners: Sequence[ChangeListener] | None = None,
    ) -> None:
        self.lifetimes = lifetimes
        self.event = event
        self.listeners = listeners
        self.errors: list[BaseException] = []
        self.done = Event()

    async def unwind(self, async_twin: str | None = None) -> None:
        """Run the cleanups, the last registered first; none async if there is a twin."""
        token = _inside.set((*_inside.get(), self))
        try:
            for lifetime in reversed(self.lifetimes):
                await lifetime._unwind(self.errors, async_twin)
        finally:
            _inside.reset(token)
            self.done.set()

    async def unwind_whole(self, async_twin: str | None = None) -> None:
        """Run the cleanups as `unwind` does, also in a task that is cancelled."""
        if async_twin is not None:
            await self.unwind(async_twin)
            return
        import anyio  # noqa: PLC0415 - only where something is async

        with anyio.CancelScope(shield=True):
            await self.unwind()

    def tell(self) -> None:
        """Tell the change listeners; what they raise is raised in the end."""
        layers = self.lifetimes[0]._layers
        listeners = layers.watching() if self.listeners is None else self.listeners
        self.errors += tell_all(listeners, self.event)

    def raise_errors(self) -> None:
        """Raise what the cleanups, and the listeners, raised."""
        owners = " and ".join(lifetime._source.owner for lifetime in self.lifetimes)
        raise_all(self.errors, f"errors while {owners} was disposed")


# The disposals that the running code is part of: it must not wait for their end.
_inside: ContextVar[tuple[Disposal, ...]] = ContextVar("_inside", default=())


# Whether the running code is part of a task that a context owns: a disposal waits for it.
_inside_task: ContextVar[bool] = ContextVar("_inside_task", default=False)


def is_inside_disposal() -> bool:
    """Tell whether the running code is part of a disposal, or one may wait for it."""
    return bool(_inside.get()) or _inside_task.get()


def enter_task() -> None:
    """Make this task one that a context owns."""
    _inside_task.set(True)


def enter_disposal(context: Context | None) -> None:
    """Make this task part of the disposals that *context* was taken in."""
    if context is not None:
        _inside.set(context.get(_inside, ()))


async def collect(step: Awaitable[None], errors: list[BaseException], owner: str) -> None:
    """Await *step*, and put what it raises to the *errors*."""
    try:
        await step
    except BaseException as error:  # noqa: BLE001 - raised when all the others have run
        with suppress(Exception):  # an odd one does not keep the others from being cleaned up
            error.add_note(f"raised while what {owner} registered was cleaned up")
        errors.append(error)
