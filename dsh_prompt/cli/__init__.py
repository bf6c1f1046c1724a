"""The command line: ``dsh-prompt``, also ``python -m dsh_prompt``; one file per command.

At import it takes nothing but click and the core; what is heavy is imported by what needs it.
"""

from __future__ import annotations

import click

from dsh_prompt.cli.check import check_command
from dsh_prompt.cli.check_plugin import check_plugin_command
from dsh_prompt.cli.exits import Commands
from dsh_prompt.cli.new import new_command
from dsh_prompt.cli.plugins import plugins_command
from dsh_prompt.cli.render import render_command
from dsh_prompt.cli.schema import schema_command
from dsh_prompt.cli.trust import trust_command
from dsh_prompt.cli.watch import watch_command
from dsh_prompt.version import VERSION


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"dsh-prompt {VERSION}")
        context.exit()


@click.group(
    cls=Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\
\b
Exit codes:
  0    done
  1    the model input could not be assembled, or a check failed
  2    wrong usage, or a configuration, state or file that cannot be used
  130  interrupted
""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Show what a model is told: system prompt, context snapshot and tools.

    \b
    Examples:
      dsh-prompt render
      dsh-prompt plugins
      dsh-prompt check
      dsh-prompt trust
      dsh-prompt new open-files --kind context
    """  # noqa: D301 - click's mark for lines that stay as they are


main.add_command(render_command)
main.add_command(watch_command)
main.add_command(plugins_command)
main.add_command(check_command)
main.add_command(check_plugin_command)
main.add_command(trust_command)
main.add_command(schema_command)
main.add_command(new_command)
