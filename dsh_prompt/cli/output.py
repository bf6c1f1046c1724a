"""Where a result goes: to standard output, or whole into a file."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

import attrs
import click

from dsh_prompt.cli.exits import BROKEN_PIPE, UnusableError


@attrs.frozen
class Destination:
    """Standard output, or *file*.

    A terminal gets its own *encoding*, everything else UTF-8. What the encoding cannot
    hold (in UTF-8 a lone surrogate) is written as a backslash escape.
    """

    file: str | None
    is_terminal: bool
    encoding: str

    @classmethod
    def named(cls, file: str | None = None) -> Destination:
        """Give the destination for ``--out``; None and ``-`` are standard output."""
        if file == "-":
            file = None
        if file is None and sys.stdout is not None and sys.stdout.isatty():
            return cls(None, is_terminal=True, encoding=sys.stdout.encoding or "utf-8")
        return cls(file, is_terminal=False, encoding="utf-8")

    @property
    def wants_color(self) -> bool:
        """Whether it is a terminal, and the user has nothing against colours."""
        return self.is_terminal and not os.environ.get("NO_COLOR")

    def write(self, text: str) -> None:
        """Write *text*, all of it or, into a file, nothing."""
        data = text.encode(self.encoding, "backslashreplace")
        try:
            if self.file is None:
                _write_to_stdout(data)
            else:
                write_file(Path(self.file), data)
        except BrokenPipeError:
            raise click.exceptions.Exit(BROKEN_PIPE) from None
        except OSError as error:
            name = "standard output" if self.file is None else f'"{self.file}"'
            reason = error.strerror or error
            raise UnusableError(f"{name} cannot be written: {reason}") from error


def _write_to_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    try:
        click.echo(data, nl=False)
    except OSError:
        # Python would try again at exit, and complain.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def write_file(path: Path, data: bytes) -> None:
    """Let *data* take the place of what *path* holds, in one step.

    A link keeps pointing where it does, a file keeps its permissions; a new one gets those
    that the umask leaves. A device or a pipe is simply written to.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(data)
        return
    target = path.resolve()
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = target.with_name(f".dsh-prompt-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
