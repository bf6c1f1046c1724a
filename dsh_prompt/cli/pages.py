"""Tables and texts laid out for people, as one string; foreign text is always escaped."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from dsh_prompt.cli.escaping import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TypeAlias

    from rich.console import RenderableType

    from dsh_prompt.cli.output import Destination

    #: One line, a number, or several lines.
    Cell: TypeAlias = str | float | list[str]


class Page:
    """What is printed so far. *destination* decides on width, colours and line drawing."""

    def __init__(self, destination: Destination) -> None:
        from rich.console import Console  # noqa: PLC0415 - only where something is laid out

        self._file = _EncodedIO(destination.encoding)
        self._console = Console(
            file=self._file,
            force_terminal=destination.is_terminal,
            color_system="auto" if destination.wants_color else None,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )

    def heading(self, text: str) -> None:
        """Print a heading, with an empty line above it if it is not the first."""
        from rich.text import Text  # noqa: PLC0415

        if self._file.tell():
            self._print("")
        self._print(Text(visible_line(text), style="bold"))

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, whole: Collection[str] = ()
    ) -> None:
        """Print a table, if there are rows; lines in the columns *whole* are never broken."""
        if not rows:
            return
        from rich import box  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        apart = any(isinstance(cell, list) for cell in rows[0])
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, show_lines=apart)
        for column, *cells in zip(columns, *rows, strict=True):
            numbers = any(isinstance(cell, int | float) for cell in cells)
            table.add_column(
                column,
                justify="right" if numbers else "left",
                no_wrap=numbers or column in whole,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(_lines(cell), overflow="fold") for cell in row))
        self._print(table)

    def rule(self, text: str) -> None:
        """Print a line with *text* in it, which contributed text cannot start."""
        from rich.rule import Rule  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        self._print("")
        self._print(Rule(Text(visible_line(text), style="bold"), align="left"))

    def text(self, text: str) -> None:
        """Print a contributed text, indented, so that it cannot pass for anything else."""
        from rich.padding import Padding  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        self._print(Padding(Text(visible(text), overflow="fold"), (0, 0, 0, 2)))

    def _print(self, renderable: RenderableType) -> None:
        self._console.print(renderable)

    def __str__(self) -> str:
        lines = self._file.getvalue().removesuffix("\n").split("\n")
        return "".join(f"{line.rstrip()}\n" for line in lines)


def _lines(cell: Cell) -> str:
    lines = cell if isinstance(cell, list) else [cell]
    return "\n".join(visible_line(str(line)) for line in lines)


class _EncodedIO(io.StringIO):
    """A text file in memory that has an encoding: without UTF-8, rich draws with ASCII."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding
