"""What a person is told, once."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from logging import Logger

_MOST_REMEMBERED: Final = 2000


class Reports:
    """Warnings in the log of *logger*, each given once: providers run in every assembly.

    A problem is any hashable object; its ``str`` is logged. Give it equal for as long as it is
    the same, with what it is about: a changed file has new problems. Nothing of it is kept but
    its hash. For any thread.
    """

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._given: set[int] = set()
        self._lock = Lock()

    def give(self, problems: Iterable[Hashable]) -> None:
        """Log those of *problems* that are new."""
        for problem in problems:
            if self._is_new(hash(problem)):
                self._logger.warning("%s", problem)

    def _is_new(self, problem: int) -> bool:
        with self._lock:
            if problem in self._given:
                return False
            if len(self._given) >= _MOST_REMEMBERED:
                self._given.clear()
            self._given.add(problem)
            return True
