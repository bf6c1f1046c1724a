"""Plots with two logarithmic axes, as SVG that reads on light and on dark ground."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 320, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 44, 44
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.grid { stroke: #24292f; stroke-opacity: .15 }
.line { fill: none; stroke-width: 2 }
.s0 { stroke: #0969da } .s1 { stroke: #bc4c00 } .s2 { stroke: #6e7781 }
circle { stroke: none } circle.s0 { fill: #0969da } circle.s1 { fill: #bc4c00 }
circle.s2 { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .grid { stroke: #e6edf3 }
.s0 { stroke: #58a6ff } .s1 { stroke: #f0883e } .s2 { stroke: #9198a1 }
circle.s0 { fill: #58a6ff } circle.s1 { fill: #f0883e } circle.s2 { fill: #9198a1 }
}
"""


class Series(NamedTuple):
    """A line of (x, y) points; those of one name have one colour in all panels."""

    name: str
    points: Sequence[tuple[float, float]]


class Panel(NamedTuple):
    """One plot: its title, what its axes count, its lines."""

    title: str
    x: str
    y: str
    series: Sequence[Series]


def plot(panels: Sequence[Panel]) -> str:
    """Draw *panels* side by side; the same points give the same text."""
    names = list(dict.fromkeys(series.name for panel in panels for series in panel.series))
    width, height = WIDTH * len(panels), HEIGHT + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape('; '.join(panel.title for panel in panels))}</title>",
        f"<style>{STYLE}</style>",
    ]
    for number, panel in enumerate(panels):
        parts += [f'<g transform="translate({number * WIDTH} 0)">', *_panel(panel, names), "</g>"]
    for number, name in enumerate(names):
        x = LEFT + number * 140
        parts += [
            f'<path class="line s{number}" d="M{x} {HEIGHT + 8}h24"/>',
            _text(x + 30, HEIGHT + 12, name),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Axis:
    """Turns values into places, powers of ten apart by the same distance."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low, self.high = floor(log10(min(values))), ceil(log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.start, self.step = start, (end - start) / (self.high - self.low)

    def at(self, value: float) -> float:
        return round(self.start + (log10(value) - self.low) * self.step, 1)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _panel(panel: Panel, names: list[str]) -> list[str]:
    points = [point for series in panel.series for point in series.points]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    across = _Axis([x for x, _ in points], LEFT, right)
    up = _Axis([y for _, y in points], bottom, TOP)
    parts = [
        _text(LEFT, 18, panel.title, "title"),
        _text(LEFT - 6, TOP - 10, panel.y, anchor="end"),
    ]
    for tick in across.ticks():
        x = across.at(tick)
        parts.append(f'<path class="grid" d="M{x} {TOP}V{bottom}"/>')
        parts.append(_text(x, bottom + 16, _short(tick), anchor="middle"))
    for tick in up.ticks():
        y = up.at(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{right}"/>')
        parts.append(_text(LEFT - 6, y + 4, _short(tick), anchor="end"))
    parts.append(_text((LEFT + right) / 2, bottom + 34, panel.x, anchor="middle"))
    for series in panel.series:
        colour = f"s{names.index(series.name)}"
        places = [(across.at(x), up.at(y)) for x, y in series.points]
        line = "L".join(f"{x} {y}" for x, y in places)
        parts.append(f'<path class="line {colour}" d="M{line}"/>')
        parts += [f'<circle class="{colour}" cx="{x}" cy="{y}" r="3"/>' for x, y in places]
    return parts


def _short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
