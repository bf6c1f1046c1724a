"""``dsh-prompt trust``: take the configuration of a checkout as one's own, or not any more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dsh_prompt.cli.exits import UnusableError
from dsh_prompt.cli.output import Destination
from dsh_prompt.config.config import Config
from dsh_prompt.config.files import find_project_file, read_config_file
from dsh_prompt.config.trust import TrustStore, place_of
from dsh_prompt.errors import PromptError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.config.files import ConfigFile


@click.command(
    "trust",
    short_help="Trust a configuration file.",
    epilog="""\
\b
Examples:
  dsh-prompt trust
  dsh-prompt trust ~/src/project
  dsh-prompt trust --untrust ~/src/project/dsh-prompt.toml
""",
)
@click.argument("path", required=False, metavar="[PATH]")
@click.option(
    "--untrust", is_flag=True, help="Trust the file, or all that are in the folder, no longer."
)
@click.option(
    "--list",
    "as_list",
    is_flag=True,
    help="List the files with their state: trusted, or changed or gone since.",
)
def trust_command(path: str | None, untrust: bool, as_list: bool) -> None:
    """Trust the configuration file PATH, or the one that counts in the folder PATH.

    Without PATH it is the one that counts here. A configuration that came with a checkout may
    be hostile: until you have read and trusted it, it cannot load plugins that your own settings
    leave out, nor make settings that start programs or open connections. Trust holds for the
    content of the file: once that changes, it has to be trusted again.
    """
    if as_list and (path is not None or untrust):
        raise click.UsageError("--list stands alone")
    store = TrustStore.of_user()
    if as_list:
        _say(f"{record.state:8} {shown(str(record.path))}" for record in store)
    elif untrust:
        _untrust(store, Path.cwd() if path is None else Path(path))
    else:
        _trust(store, Path.cwd() if path is None else Path(path))


def _trust(store: TrustStore, path: Path) -> None:
    try:
        file = _file_at(path)
        # What is no configuration is not worth trusting, and is told here already.
        Config.from_dict(file.data, file=str(file.path))
        record = store.trust(file.path, file.content)
    except PromptError as error:
        raise UnusableError(str(error)) from error
    except OSError as error:
        raise UnusableError(f"trust cannot be recorded: {error}") from error
    _say([f"Trusted: {shown(str(record.path))}"])


def _untrust(store: TrustStore, path: Path) -> None:
    try:
        # The file itself may be gone, or no longer be TOML.
        place = place_of(path)
        known = [one.path for one in store if place in (one.path, *one.path.parents)]
        forgotten = [file for file in known or [_file_at(path).path] if store.untrust(file)]
    except PromptError as error:
        raise UnusableError(str(error)) from error
    except (OSError, ValueError) as error:
        raise UnusableError(f"trust cannot be taken back: {error}") from error
    if not forgotten:
        raise UnusableError(f"{shown(str(path))}: nothing there is trusted")
    _say(f"No longer trusted: {shown(str(file))}" for file in forgotten)


def _file_at(path: Path) -> ConfigFile:
    file = find_project_file(path.resolve()) if path.is_dir() else read_config_file(path)
    if file is None:
        raise UnusableError(f"{shown(str(path))}: there is no configuration for dsh-prompt")
    return file


def _say(lines: Iterable[str]) -> None:
    Destination.named().write("".join(f"{line}\n" for line in lines))
