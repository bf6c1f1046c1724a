"""A host for the time of one command, with the installed plugins in it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from dsh_prompt.cli.exits import describe
from dsh_prompt.errors import nearest, quoted
from dsh_prompt.plugins.discovery import discover
from dsh_prompt.system_prompt import SystemPrompt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from dsh_prompt.cli.messages import Messages
    from dsh_prompt.config.config import Config
    from dsh_prompt.plugins.manager import LoadReport


@asynccontextmanager
async def loaded_host(
    config: Config,
    messages: Messages,
    *,
    only: Collection[str] | None = None,
    block: Collection[str] = (),
) -> AsyncIterator[tuple[SystemPrompt, LoadReport]]:
    """Give a host with the installed plugins, and dispose it in the end.

    A clean-up that fails is told, and changes nothing else.
    """
    host = SystemPrompt(config)
    try:
        yield host, await host.load_entry_points_async(only, block)
    finally:
        try:
            await host.dispose_async()
        except (Exception, SystemExit, BaseExceptionGroup) as error:  # noqa: BLE001 - the result stays good
            notes = "; ".join(getattr(error, "__notes__", ()))
            messages.warn(f"clean-up failed: {describe(error)} ({notes})", error)


def check_installed(named: Mapping[str, Sequence[str]]) -> None:
    """Raise a usage error for the first name, of those *named* by option, of no plugin."""
    installed = discover().plugins if any(named.values()) else {}
    for option, names in named.items():
        for name in names:
            if name not in installed:
                hint = nearest(name, installed) or f"; installed: {quoted(installed) or 'none'}"
                message = f'no plugin "{name}" is installed{hint}'
                raise click.BadParameter(message, param_hint=option)
