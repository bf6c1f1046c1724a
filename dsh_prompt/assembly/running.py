"""Which assemblies are under way, so that a disposal can wait for those begun before it."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Event, Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

# The assemblies that the running code is part of: they cannot end while it waits for them.
_inside: ContextVar[tuple[RunningAssembly, ...]] = ContextVar("_inside", default=())
NOBODY: frozenset[RunningAssembly] = frozenset()
# Guards who waits for whom.
_waiting = Lock()


class RunningAssembly:
    """One assembly under way; a context manager."""

    __slots__ = ("_all", "_token", "ended", "waits_for")

    def __init__(self, assemblies: set[RunningAssembly]) -> None:
        self._all = assemblies
        # Made by whoever waits for the end; most assemblies nobody waits for.
        self.ended: Event | None = None
        # What a disposal that was called from inside this assembly waits for.
        self.waits_for = NOBODY

    def __enter__(self) -> Self:
        self._all.add(self)
        self._token = _inside.set((*_inside.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _inside.reset(self._token)
        self._all.discard(self)
        if self.ended is not None:
            self.ended.set()

    def is_waiting_for(self, others: set[RunningAssembly]) -> bool:
        """Tell whether this one cannot end before one of *others* has."""
        reached: set[RunningAssembly] = set()
        ahead = {self}
        while ahead:
            reached |= ahead
            ahead = {target for one in ahead for target in one.waits_for} - reached
        return not reached.isdisjoint(others)


def is_inside_assembly() -> bool:
    """Tell whether the running code is part of an assembly."""
    return bool(_inside.get())


async def wait_for(assemblies: set[RunningAssembly]) -> None:
    """Wait until the *assemblies* under way now have ended.

    Left out are those that the caller is part of, and those that wait for one of these.
    """
    inside = set(_inside.get())
    for running in list(assemblies):
        with _waiting:
            if running.is_waiting_for(inside):
                continue
            if running.ended is None:
                running.ended = Event()
            for waiting in inside:
                waiting.waits_for |= {running}
        try:
            # Looked at now that the event is in place: the end either saw it, or is over.
            if running in assemblies:
                await wait_in_thread(running.ended)
        finally:
            for waiting in inside:
                waiting.waits_for -= {running}


async def wait_in_thread(event: Event) -> None:
    """Wait for *event*, which any thread may set, without taking a place in the thread pool."""
    import anyio  # noqa: PLC0415 - only where something is async
    import anyio.to_thread  # noqa: PLC0415

    limiter = anyio.CapacityLimiter(1)
    await anyio.to_thread.run_sync(event.wait, abandon_on_cancel=True, limiter=limiter)
