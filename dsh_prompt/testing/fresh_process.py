"""Run a function of this package in a fresh process: what it does cannot touch this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Event, Timer
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.testing.surroundings import Surroundings

#: Seconds until a process is taken for stuck, and those that it has for its end.
TIMEOUT = 60.0
_GRACE = 2.0
_LAST_LINES = 5

_CODE = """\
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from dsh_prompt.testing.child import run
run(job)
"""


class FreshProcessError(Exception):
    """Raised where a fresh process fails: with what was raised there, or how it ended."""


def run(
    task: str,
    arguments: Mapping[str, object],
    *,
    surroundings: Surroundings | None = None,
    timeout: float = TIMEOUT,
) -> Any:
    """Give, as JSON, what ``task(**arguments)`` returns; *task* is ``module:function``.

    With *surroundings* the clock stands still there; without, all is as it is here. Raises
    `FreshProcessError`.
    """
    job = {
        "path": [os.path.abspath(entry) for entry in sys.path],  # noqa: PTH100 - "" is the folder here
        "task": task,
        "arguments": arguments,
        "frozen": surroundings is not None,
        "turned": None if surroundings is None else surroundings.turned,
    }
    with TemporaryDirectory(prefix="dsh-prompt-") as top, TemporaryFile() as errors:
        here = Path.cwd() if surroundings is None else Path(top, surroundings.folder)
        if surroundings is not None:
            here.mkdir()
            (here / f"{surroundings.folder}.txt").touch()
        environment = None if surroundings is None else surroundings.environment()
        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=here,
            env=environment,
            start_new_session=True,
        )
        answer, is_late = _answer(process, json.dumps(job).encode("ascii"), timeout)
        if is_late:
            raise FreshProcessError(f"it did not end within {timeout:g} seconds")
        if not answer:
            raise FreshProcessError(_ending(process.returncode, errors))
    outcome = json.loads(answer)
    if "error" in outcome:
        raise FreshProcessError(outcome["error"])
    return outcome["result"]


def _answer(process: subprocess.Popen[bytes], job: bytes, timeout: float) -> tuple[bytes, bool]:
    """Send the *job*, and give what is answered, and whether it took too long."""
    is_late = Event()

    def stop() -> None:
        is_late.set()
        _kill(process)

    timer = Timer(timeout, stop)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdin is not None  # noqa: S101 - for type checkers: they are pipes
        assert process.stdout is not None  # noqa: S101
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(job)
        with process.stdout:
            answer = process.stdout.read()
        # A thread that does not end keeps the process; it has said all that counts.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        return answer, is_late.is_set()
    finally:
        timer.cancel()
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process, and what it has started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _ending(code: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode("utf-8", "backslashreplace").strip().splitlines()
    last = "".join(f"\n    {line}" for line in lines[-_LAST_LINES:])
    how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
    return f"its process ended without a result, with {how}{': ' if last else ''}{last}"
