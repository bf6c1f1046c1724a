"""Which assemblies are under way, so that a disposal can wait for those begun before it."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Event, Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

# The assemblies that the running code is part of: they cannot end while it waits for them.
_inside: ContextVar[tuple[RunningAssembly, ...]] = ContextVar("_inside", default=())

_creating = Lock()


class RunningAssembly:
    """One assembly under way; a context manager."""

    __slots__ = ("_all", "_token", "ended")

    def __init__(self, assemblies: set[RunningAssembly]) -> None:
        self._all = assemblies
        # Made by whoever waits for the end; most assemblies nobody waits for.
        self.ended: Event | None = None

    def __enter__(self) -> None:
        self._all.add(self)
        self._token = _inside.set((*_inside.get(), self))

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


async def wait_for(assemblies: set[RunningAssembly]) -> None:
    """Wait until the *assemblies* under way now have ended, but for the caller's own."""
    inside = _inside.get()
    for running in list(assemblies):
        if running in inside:
            continue
        with _creating:
            if running.ended is None:
                running.ended = Event()
        # Looked at again after the event is in place: the end either saw it, or is over.
        if running in assemblies:
            import anyio  # noqa: PLC0415 - only where something is async

            await anyio.to_thread.run_sync(running.ended.wait, abandon_on_cancel=True)
