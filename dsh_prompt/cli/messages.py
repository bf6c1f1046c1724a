"""What goes wrong without stopping the command: told on standard error, one line each."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TypeVar

import click

from dsh_prompt.cli.escaping import visible, visible_line
from dsh_prompt.cli.exits import traceback_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")


class Messages(logging.Handler):
    """Tells warnings of the command, and of all loggers, on standard error, each one once.

    The logger called *ignored* is left out, unless tracebacks are wanted.
    """

    def __init__(self, *, with_traceback: bool, ignored: str | None = None) -> None:
        super().__init__(logging.WARNING)
        self._with_traceback = with_traceback
        self._ignored = None if with_traceback else ignored
        self._told: set[str] = set()
        self._told_in_round: set[str] = set()

    def begin_round(self) -> None:
        """Begin another attempt: what fails *again* in it is told again."""
        self._told_in_round.clear()

    def warn(self, text: str, error: BaseException | None = None, *, again: bool = False) -> None:
        """Tell *text* in one line; *error* is shown where tracebacks are wanted.

        With *again* it is told although an earlier round told it.
        """
        if text in (self._told_in_round if again else self._told):
            return
        self._told.add(text)
        self._told_in_round.add(text)
        lines = "; ".join(line for line in text.split("\n") if line)
        click.echo(f"Warning: {visible_line(lines)}", err=True)
        if error is not None and self._with_traceback:
            click.echo(visible(traceback_of(error)), err=True, nl=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Tell what a logger was told."""
        if record.name == self._ignored:
            return
        try:
            self.warn(record.getMessage(), record.exc_info[1] if record.exc_info else None)
        except Exception:  # noqa: BLE001 - as every handler does: logging never fails its caller
            self.handleError(record)

    def run(self, main: Callable[[], Awaitable[T]]) -> T:
        """Run *main*, which runs contributed code; standard output is kept free of its prints."""
        import anyio  # noqa: PLC0415 - `--version` and `--help` do without it

        with self._listening(), redirect_stdout(sys.stderr):
            return anyio.run(main)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        logger = logging.getLogger()
        logger.addHandler(self)
        logging.captureWarnings(capture=True)
        try:
            yield
        finally:
            logging.captureWarnings(capture=False)
            logger.removeHandler(self)
