"""Measured in turns: figures with their spread, and ratios that outlive a busy machine."""

from __future__ import annotations

import gc
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Does something as often as it is told, and gives the seconds that once took.
Measure: TypeAlias = "Callable[[int], float]"


class Effort(NamedTuple):
    """How long to measure: *rounds* of about *seconds* for each that takes turns.

    *scopes* is how many are alive where there are to be many.
    """

    rounds: int
    seconds: float
    scopes: int

    @property
    def fewer_rounds(self) -> int:
        """How many rounds are enough where nothing is to be reached."""
        return max(3, self.rounds // 4)


FULL = Effort(15, 0.06, 100_000)
QUICK = Effort(5, 0.03, 10_000)


class Spread(NamedTuple):
    """A median between its quartiles."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Give the median of *values*, and their quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(low, median(values), high)


def alternate(measures: Mapping[str, Measure], effort: Effort) -> dict[str, list[float]]:
    """Let all take turns; the first turn of each is not counted.

    Garbage is collected before each turn; in it, collection works as always.
    """
    iterations = {}
    for name, measure in measures.items():
        measure(1)
        iterations[name] = _iterations(measure, effort.seconds)
        measure(iterations[name])
    values: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(effort.rounds):
        for name, measure in measures.items():
            gc.collect()
            values[name].append(measure(iterations[name]))
    return values


def _iterations(measure: Measure, seconds: float) -> int:
    """Tell how many fill *seconds*, with all that is done beside what is measured."""
    iterations = 1
    while True:
        start = perf_counter()
        measure(iterations)
        spent = perf_counter() - start
        if spent * 4 >= seconds:
            return max(1, round(iterations * seconds / spent))
        iterations *= 4


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Give the ratio of what was measured side by side, round by round."""
    return spread([one / other for one, other in zip(above, below, strict=True)])
