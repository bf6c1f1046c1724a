"""``dsh-prompt schema``: what a configuration file may hold, for editors."""

from __future__ import annotations

import click

from dsh_prompt.cli.escaping import json_text
from dsh_prompt.cli.output import Destination


@click.command(
    "schema",
    epilog="""\
\b
Examples:
  dsh-prompt schema > dsh-prompt.schema.json
""",
)
def schema_command() -> None:
    """Print the JSON Schema of the configuration file.

    Editors that know it complete and check keys. The settings of each plugin are left to the
    plugin.
    """
    from dsh_prompt.config.schema import config_schema  # noqa: PLC0415 - only for this command

    Destination.named().write(json_text(config_schema()))
