"""What a peer is: something that can do the work, measured in the same way as all others."""

from __future__ import annotations

from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from tests.benchmarks.workloads import Work

#: The system prompt, and the snapshot of the contexts.
Output: TypeAlias = tuple[str, str]


class UnavailableError(Exception):
    """Raised where a peer cannot run here; its text tells why."""


class Peer:
    """A way to do the work; made once, measured many times."""

    #: As tables name it.
    name: ClassVar[str]

    def __init__(self, work: Work) -> None:
        raise NotImplementedError

    def run(self) -> Output:
        """Do the work once."""
        raise NotImplementedError

    def measure(self, iterations: int) -> float:
        """Do the work *iterations* times, and give the seconds that one took."""
        run = self.run
        start = perf_counter()
        for _ in range(iterations):
            run()
        return (perf_counter() - start) / iterations


class AgentPeer(Peer):
    """A peer that does more than the work: measured up to the model call.

    A run notes when it reached the model.
    """

    _reached: tuple[float, Any]

    def measure(self, iterations: int) -> float:
        """Do the work *iterations* times, and give the seconds up to the model call of one."""
        spent = 0.0
        for _ in range(iterations):
            start = perf_counter()
            self.run()
            spent += self._reached[0] - start
        return spent / iterations


def nothing(**arguments: object) -> str:
    """Be a tool that nobody calls."""
    return ""


def imported(name: str) -> Any:
    """Import the module *name*, or raise `UnavailableError`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UnavailableError(f"not installed: {error}") from error
