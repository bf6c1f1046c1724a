"""Options that several commands take."""

from __future__ import annotations

import click

from dsh_prompt.plugins.discovery import discover


def complete_plugin(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Give the names of installed plugins that begin with *incomplete*, for shells."""
    return [name for name in discover().plugins if name.startswith(incomplete)]


config_option = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="Read the project's configuration from FILE; without it, from the nearest "
    "dsh-prompt.toml or [tool.dsh-prompt] in pyproject.toml, from the working directory up. It "
    "stands over your own dsh-prompt.toml.",
)

traceback_option = click.option(
    "--traceback", "with_traceback", is_flag=True, help="Show where an error was raised."
)
