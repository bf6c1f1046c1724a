"""Run one program with an end in time and in size, and leave nothing of it behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, cast

import attrs

from dsh_prompt_git.errors import OutOfTimeError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHUNK: Final = 1 << 16
_COMPLAINT: Final = 1 << 12
_GRACE: Final = 1.0


@attrs.frozen
class Deadline:
    """A moment that several programs share."""

    seconds: float
    _end: float = attrs.field(init=False)

    @_end.default
    def _count_from_now(self) -> float:
        return time.monotonic() + self.seconds

    def remaining(self) -> float:
        """Give the seconds left.

        Raises `OutOfTimeError` where none is.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTimeError(self.seconds)
        return left


@attrs.frozen
class Output:
    """What a program said.

    *code*: its exit status; None where it was stopped because it said more than the limit.
    """

    code: int | None
    stdout: bytes
    stderr: bytes

    @property
    def complete(self) -> bool:
        """Tell whether *stdout* is all that the program had to say."""
        return self.code is not None


class _Reader(threading.Thread):
    """Reads a pipe: up to *limit* bytes, or to its end where *to_end*, keeping the first ones.

    A thread, since only that waits for a pipe with a timeout on every platform. It alone closes the
    pipe: closed by another one, its number could be a new file's before the next read.
    """

    def __init__(self, pipe: IO[bytes], limit: int, *, to_end: bool = False) -> None:
        super().__init__(daemon=True)
        self.kept = bytearray()
        self.ended = False
        self._pipe, self._limit, self._to_end = pipe, limit, to_end

    def run(self) -> None:
        with self._pipe:
            while chunk := self._pipe.read(_CHUNK):
                self.kept += chunk[: self._limit - len(self.kept)]
                if len(self.kept) == self._limit and not self._to_end:
                    return
        self.ended = True

    def wait(self, deadline: Deadline) -> None:
        self.join(deadline.remaining())
        deadline.remaining()


def run(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    deadline: Deadline,
    limit: int,
) -> Output:
    """Run *command* and give what it said, at most *limit* bytes of it.

    The program reads no input, has no terminal and heads its own process group, which is killed
    whole where *deadline* passes or the limit is reached. Raises `OutOfTimeError` for the one, and
    `RefusedError` where the program cannot be started at all.
    """
    deadline.remaining()
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            command,
            cwd=cwd,
            env=env,
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as exc:
        raise RefusedError(f"git cannot be started: {exc}") from exc
    return _collect(process, deadline, limit)


def _collect(process: subprocess.Popen[bytes], deadline: Deadline, limit: int) -> Output:
    said, complained = _readers(process, limit)
    try:
        said.start()
        complained.start()
        said.wait(deadline)
        if said.ended:
            complained.wait(deadline)
            process.wait(deadline.remaining())
        return Output(process.returncode, bytes(said.kept), bytes(complained.kept))
    except subprocess.TimeoutExpired:
        raise OutOfTimeError(deadline.seconds) from None
    finally:
        _end(process, said, complained)


def _readers(process: subprocess.Popen[bytes], limit: int) -> tuple[_Reader, _Reader]:
    out, err = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)
    return _Reader(out, limit), _Reader(err, _COMPLAINT, to_end=True)


def _end(process: subprocess.Popen[bytes], *readers: _Reader) -> None:
    """Kill what still runs, before it is waited for: until then its id cannot be another's."""
    if process.returncode is None:
        _kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    for reader in readers:
        if reader.is_alive():
            reader.join(_GRACE)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
