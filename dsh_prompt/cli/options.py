"""Options that several commands take."""

from __future__ import annotations

import click

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
