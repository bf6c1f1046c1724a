"""How a command ends: exit codes, and errors that know theirs."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click

from dsh_prompt.cli.escaping import visible
from dsh_prompt.errors import (
    PromptError,
    UndefinedVariableError,
    UnknownVariableError,
    nearest,
    quoted,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ASSEMBLY_FAILED = 1
CHECK_FAILED = 1
UNUSABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class UnusableError(click.ClickException):
    """Raised for a configuration, state or file that cannot be used."""

    exit_code = UNUSABLE


class AssemblyFailedError(click.ClickException):
    """Raised where contributed code, or what it contributed, stopped the command."""

    exit_code = ASSEMBLY_FAILED

    def __init__(self, error: BaseException, *, with_traceback: bool) -> None:
        super().__init__(f"{describe(error)}\nHint: {_way_out(error)}")
        self._traceback = traceback_of(error) if with_traceback else ""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error, after its traceback if that is wanted."""
        click.echo(self._traceback, file, nl=False, err=True)
        super().show(file)


@contextmanager
def assembly_failures(*, with_traceback: bool) -> Iterator[None]:
    """Turn what contributed code raises into `AssemblyFailedError`."""
    try:
        yield
    except click.ClickException:
        raise
    except (Exception, SystemExit) as error:
        raise AssemblyFailedError(error, with_traceback=with_traceback) from error


def describe(error: BaseException) -> str:
    """Tell what went wrong: our own errors speak for themselves, others need their type."""
    if isinstance(error, BaseExceptionGroup):
        return f"{error.message}: {'; '.join(map(describe, error.exceptions))}"
    if isinstance(error, PromptError):
        return str(error)
    if isinstance(error, SystemExit):
        notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
        return f"a plugin tried to end the program (SystemExit){notes}"
    return f"{type(error).__name__}: {error}"


def traceback_of(error: BaseException) -> str:
    """Give the traceback of *error* as Python prints it."""
    from traceback import format_exception  # noqa: PLC0415 - only where it is asked for

    return "".join(format_exception(error))


def _way_out(error: BaseException) -> str:
    if isinstance(error, UnknownVariableError | UndefinedVariableError):
        return "--set NAME=VALUE gives a variable its value"
    plugin = getattr(error, "plugin", None)
    without = f"--no-plugin {plugin} leaves the plugin out, " if plugin else ""
    return f"{without}--traceback shows where it failed"


class Commands(click.Group):
    """A group whose commands end with our exit codes and never show raw control characters."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; as click's, but for how it ends."""
        run = partial(super().main, args, prog_name, complete_var, standalone_mode=False, **extra)
        return sys.exit(_exit_code(run)) if standalone_mode else run()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for one that does not exist, tell the nearest that does."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            hint = nearest(args[0], self.commands) or f"; there are {quoted(self.commands)}"
            ctx.fail(f'there is no command "{shown(args[0])}"{hint}')
        return super().resolve_command(ctx, args)

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """Be the program: end it, even where a blocking provider does not."""
        try:
            return super().__call__(*args, **extra)
        except SystemExit as ending:
            if _has_stuck_workers():
                _leave_now(ending.code if isinstance(ending.code, int) else 0)
            raise


def _exit_code(run: Callable[[], Any]) -> int:
    try:
        code = run()
    except click.ClickException as error:
        text = _Uncensored()
        error.show(text)
        click.echo(visible(text.getvalue()), err=True, nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


class _Uncensored(io.StringIO):
    """Takes an error text whole; click drops escape sequences for all but terminals."""

    def isatty(self) -> bool:
        return True


def _has_stuck_workers() -> bool:
    """Tell whether an abandoned blocking provider is still running in its thread.

    The interpreter would wait for it, whatever ``hook_timeout`` or Ctrl-C said.
    """
    workers = [thread for thread in threading.enumerate() if thread.name == "AnyIO worker thread"]
    for worker in workers:
        worker.join(0.2)
    return any(worker.is_alive() for worker in workers)


def _leave_now(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)
