"""``dsh-prompt new``: a plugin package, ready to be installed and tested."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from dsh_prompt.cli.exits import UnusableError
from dsh_prompt.cli.output import Destination
from dsh_prompt.errors import InvalidContributionError, shown
from dsh_prompt.plugins.discovery import discover
from dsh_prompt.scaffold.kinds import KINDS


@click.command(
    "new",
    short_help="Write the package of a new plugin.",
    epilog="""\
\b
Examples:
  dsh-prompt new open-files --kind context
  dsh-prompt new review --kind mode --into ~/src
""",
)
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice([*KINDS]),
    default="section",
    show_default=True,
    help="; ".join(f"{name}: {kind.summary}" for name, kind in KINDS.items()) + ".",
)
@click.option(
    "--into",
    metavar="DIR",
    default=".",
    help="The folder in which the package gets its own; without it, the working directory.",
)
def new_command(name: str, kind: str, into: str) -> None:
    """Write the package of a new plugin: code, tests, README, and a CI workflow.

    It goes into a new folder, dsh-prompt-NAME. It can be installed as it is, passes its tests
    and its type checks, and is clean to the linter. What exists is never overwritten.
    """
    from dsh_prompt.scaffold.names import Names  # noqa: PLC0415 - only for this command
    from dsh_prompt.scaffold.writing import write_package  # noqa: PLC0415

    try:
        names = Names.of(name)
        names.check_free(discover())
    except InvalidContributionError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error
    folder = Path(into)
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {shown(into)}", param_hint="--into")
    target = folder / names.distribution
    place = shown(str(target))
    try:
        written = write_package(names, kind, target)
    except FileExistsError as error:
        raise UnusableError(f"{place} exists already, and stays as it is") from error
    except OSError as error:
        raise UnusableError(f"{place} cannot be written: {error.strerror or error}") from error
    lines = [
        f"Wrote {place}:",
        *(f"  {file}" for file in written),
        "Next:",
        f"  cd {shlex.quote(place)}",
        '  python -m pip install -e ".[dev]"',
        "  python -m pytest",
    ]
    Destination.named().write("".join(f"{line}\n" for line in lines))
