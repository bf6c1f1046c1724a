"""How the cost of an assembly grows with sections, scopes and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.measuring import alternate, spread
from tests.benchmarks.peers.bare import Bare
from tests.benchmarks.peers.original import Original
from tests.benchmarks.peers.ours import Ours
from tests.benchmarks.scenarios import assembling, host_with_scopes
from tests.benchmarks.svg import Panel, Series, plot
from tests.benchmarks.workloads import SIZES, work_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.benchmarks.measuring import Effort, Measure
    from tests.benchmarks.peers.original import Node
    from tests.benchmarks.workloads import Size

Y = "µs"
NAMES = ("ours", "original", "bare loop")
#: More take the original too long.
MOST_SCOPES_OF_THE_ORIGINAL = 10_000


def scaling(node: Node | None, effort: Effort) -> str:
    """Measure and draw the three plots."""
    small = SIZES["S"]
    sections = [small._replace(sections=count) for count in (10, 32, 100, 316, 1000, 3162, 10_000)]
    listeners = [small._replace(listeners=count) for count in (1, 3, 10, 32, 100, 316, 1000)]
    return plot(
        [
            Panel("Sections of a prompt", "sections", Y, _by_size(sections, 0, node, effort)),
            Panel("Scopes alive, one assembled", "scopes", Y, _by_scopes(node, effort)),
            Panel("Listeners that take part", "listeners", Y, _by_size(listeners, 4, node, effort)),
        ]
    )


def _by_size(
    sizes: Iterable[Size], counted: int, node: Node | None, effort: Effort
) -> list[Series]:
    """Measure whole works, by the field *counted* of their size."""
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    for size in sizes:
        work = work_of(size)
        measures = {"ours": Ours(work).measure, "bare loop": Bare(work).measure}
        if node is not None:
            measures["original"] = Original(work, node).measure
        _add(points, size[counted], measures, effort)
    return _series(points)


def _by_scopes(node: Node | None, effort: Effort) -> list[Series]:
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    for count in (1, 10, 100, 1000, 10_000, 100_000):
        if count > effort.scopes:
            break
        prompt, [scope, *_] = host_with_scopes(count)
        measures = {"ours": assembling(prompt, scope)}
        if node is not None and count <= MOST_SCOPES_OF_THE_ORIGINAL:
            measures["original"] = Original(work_of(SIZES["S"]), node, scopes=count).measure
        _add(points, count, measures, effort)
    return _series(points)


def _add(
    points: dict[str, list[tuple[float, float]]],
    count: int,
    measures: Mapping[str, Measure],
    effort: Effort,
) -> None:
    for name, values in alternate(measures, effort).items():
        points[name].append((count, spread(values).median * 1e6))


def _series(points: dict[str, list[tuple[float, float]]]) -> list[Series]:
    return [Series(name, found) for name, found in points.items() if found]
