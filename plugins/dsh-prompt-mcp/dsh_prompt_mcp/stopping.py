"""How a program of our own is stopped, with all that it started."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any, Final

import anyio

#: Seconds for a program to end by itself once its input is closed.
_PATIENCE: Final = 2.0
#: Seconds between the signal to end and the one that cannot be ignored.
_GRACE: Final = 1.0
#: Seconds for the end of a program to be noticed.
_NOTICE: Final = 2.0
_LOOK_AGAIN: Final = 0.01


async def stop(process: Any, *, patient: bool) -> None:
    """Close the program's input, and stop it where it does not end by itself.

    One that broke, where there is no reason to be *patient*, is not waited for.
    """
    try:
        with anyio.CancelScope(shield=True):
            await _stop(process, patient)
    except BaseException:
        # An event loop that ends cancels past all shields.
        _kill_all(process)
        raise


async def _stop(process: Any, patient: bool) -> None:
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if patient:
        await exit_code(process, _PATIENCE)
    await _end_all(process)
    await exit_code(process, _NOTICE)
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdout.aclose()
    _close_transport(process)


def _kill_all(process: Any) -> None:
    with suppress(OSError):
        if sys.platform == "win32":  # pragma: no cover
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def exit_code(process: Any, within: float = 0.5) -> int | None:
    """Give the code that the program ended with; None where it does not end *within* seconds."""
    # Not process.wait(): asyncio's waits for its pipes too, which a child may hold open.
    with anyio.move_on_after(within):
        while process.returncode is None:  # noqa: ASYNC110 - nothing else tells
            await anyio.sleep(_LOOK_AGAIN)
    code: int | None = process.returncode
    return code


async def _end_all(process: Any) -> None:
    """End the program and what it started, also where the program itself is gone already."""
    if sys.platform == "win32":  # pragma: no cover
        from mcp.os.win32 import utilities  # noqa: PLC0415

        await utilities.terminate_windows_process_tree(process)
        utilities.close_process_job(process)
    else:
        from mcp.os.posix.utilities import terminate_posix_process_tree  # noqa: PLC0415

        await terminate_posix_process_tree(process, _GRACE)


def _close_transport(process: Any) -> None:
    """Close asyncio's own part, which a child that holds a pipe would keep open."""
    close = getattr(getattr(getattr(process, "_process", None), "_transport", None), "close", None)
    if callable(close):
        with suppress(PermissionError):
            close()
