"""A server that is a program of our own: its process, and what it says within bounds.

The SDK's own transport holds a line of any length, so this is another one, with the SDK's parts for
the two kinds of systems.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import attrs
from mcp import types
from mcp.shared.message import SessionMessage

from dsh_prompt_mcp.broken import BrokenError
from dsh_prompt_mcp.mending import mended
from dsh_prompt_mcp.rate import Rate
from dsh_prompt_mcp.report import one_line
from dsh_prompt_mcp.stopping import exit_code, stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

    from dsh_prompt_mcp.wire import Wire

#: Lines that are no messages, as of a program that logs to the wrong place.
_MOST_STRAY_LINES: Final = 100
#: In one second, of the longest messages.
_MOST_LONG_MESSAGES: Final = 8
_GONE: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


@attrs.frozen
class Launch:
    """How a program is started; the environment is that of the program, whole."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = attrs.field(repr=False)
    cwd: str | None
    discard_stderr: bool


@asynccontextmanager
async def stdio(launch: Launch, wire: Wire, longest: int) -> AsyncIterator[TransportStreams]:
    """Start the program, give its messages, and stop it with all that it started.

    *longest* is the length of a message in bytes. Raises `BrokenError` where it cannot be started.
    """
    process = await _started(launch)
    # No await until the task group is entered: a cancellation would leave the process behind.
    incoming_end, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, outgoing_end = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_Reader(process, incoming_end, wire, launch, longest).run)
        group.start_soon(_write, process, outgoing_end)
        try:
            yield incoming, outgoing
        finally:
            incoming.close()
            outgoing.close()
            await stop(process, patient=wire.in_good_order)
            group.cancel_scope.cancel()


async def _started(launch: Launch) -> Any:
    try:
        return await _start(launch)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BrokenError(f"cannot be started: {one_line(why)}") from None


async def _start(launch: Launch) -> Any:
    env = dict(launch.env)
    if sys.platform == "win32":  # pragma: no cover
        from mcp.os.win32 import utilities  # noqa: PLC0415

        command = await anyio.to_thread.run_sync(
            utilities.get_windows_executable_command, launch.command
        )
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123
            errors = nowhere if launch.discard_stderr else sys.stderr
            return await utilities.create_windows_process(
                command, list(launch.args), env, errors, launch.cwd
            )
    return await anyio.open_process(
        [launch.command, *launch.args],
        env=env,
        cwd=launch.cwd,
        stderr=subprocess.DEVNULL if launch.discard_stderr else None,
        # A group of its own, so that it can be stopped with all that it starts.
        start_new_session=True,
    )


async def _write(process: Any, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with outgoing:
        with suppress(*_GONE):
            async for item in outgoing:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{line}\n".encode())


class _Reader:
    """Reads the program's lines, and says on the wire how it ended."""

    def __init__(
        self,
        process: Any,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        wire: Wire,
        launch: Launch,
        longest: int,
    ) -> None:
        self._process = process
        self._incoming = incoming
        self._wire = wire
        self._launch = launch
        self._longest = longest
        self._rate = Rate(_MOST_LONG_MESSAGES * longest, "bytes")
        self._stray = Rate(_MOST_STRAY_LINES, "lines that are no messages")

    async def run(self) -> None:
        """Read until the program's output ends, or is too much."""
        async with self._incoming:
            try:
                await self._read()
                self._wire.close(await self._ending())
            except BrokenError as error:
                self._wire.close(str(error))
            except _GONE:
                self._wire.close("has ended the connection")
        await self._drain()

    async def _read(self) -> None:
        parts: list[bytes] = []
        size = 0
        async for chunk in self._process.stdout:
            self._rate.count(len(chunk))
            for index, piece in enumerate(chunk.split(b"\n")):
                if index:
                    await self._deliver(b"".join(parts))
                    parts, size = [], 0
                parts.append(piece)
                size += len(piece)
                if size > self._longest:
                    raise BrokenError(f"sends a message of more than {self._longest} bytes")

    async def _deliver(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = types.jsonrpc_message_adapter.validate_json(mended(line), by_name=False)
        except ValueError:
            self._wire.stray += 1
            self._stray.count()
            return
        await self._incoming.send(SessionMessage(message))

    async def _ending(self) -> str:
        code = await exit_code(self._process)
        if code is None:
            return "has closed its output"
        ended = f"ended with code {code}" if code >= 0 else f"was ended by signal {-code}"
        if self._launch.discard_stderr and not self._wire.version:
            # It has not come up: most often it has said why.
            return f'{ended} at once; with stderr = "inherit" it can say why'
        return ended

    async def _drain(self) -> None:
        """Throw away what comes yet: a program that cannot write would not notice its end."""
        with suppress(anyio.EndOfStream, *_GONE):
            while True:
                await self._process.stdout.receive()
