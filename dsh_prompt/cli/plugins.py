"""``dsh-prompt plugins``: what is installed, what it does, and why some of it does not work."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import click

from dsh_prompt.cli.escaping import json_text
from dsh_prompt.cli.exits import assembly_failures
from dsh_prompt.cli.hosting import loaded_host
from dsh_prompt.cli.inputs import load_config
from dsh_prompt.cli.messages import Messages
from dsh_prompt.cli.options import config_option, traceback_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.cli.pages import Page
from dsh_prompt.hookspecs import PROJECT
from dsh_prompt.plugins.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.cli.pages import Cell
    from dsh_prompt.config.config import Config
    from dsh_prompt.config.settings import Ignored
    from dsh_prompt.errors import PromptError
    from dsh_prompt.plugins.context import PluginInfo


@click.command(
    "plugins",
    short_help="List the installed plugins.",
    epilog="""\
\b
Examples:
  dsh-prompt plugins
  dsh-prompt plugins --json | jq '.failed[].reason'

\b
The keys of --json:
  plugins   what is installed: name, distribution, version, state (loaded, failed,
            disabled or blocked), reason (why it is not loaded, or null), hooks,
            contributions (kind, name and scope of each)
  failed    what should have been loaded and was not: name, distribution and version
            (null where nothing of that name is installed), error, reason
  problems  what else is wrong with the installed packages
  ignored   settings without effect, since their file is not trusted: file, key, names
            (those of its items that have none, or an empty list for all of it)
""",
)
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@traceback_option
def plugins_command(config_file: str | None, as_json: bool, with_traceback: bool) -> None:
    """List the installed plugins, loaded or not, with what each contributes.

    Every plugin that the configuration wants is loaded for this. One that fails is listed with
    the reason, and so is one that the configuration or DSH_PROMPT_PLUGINS leaves out.
    """
    config = load_config(config_file)
    messages = Messages(with_traceback=with_traceback, ignored="dsh_prompt.plugins")
    with assembly_failures(with_traceback=with_traceback):
        survey = messages.run(partial(take_survey, config, messages))
    destination = Destination.named()
    show = _as_json if as_json else _as_page
    destination.write(show(survey, destination))


@attrs.frozen
class Row:
    """One installed plugin."""

    name: str
    distribution: str
    version: str
    state: str
    reason: str | None = None
    info: PluginInfo | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give what ``--json`` tells of the plugin."""
        contributions = () if self.info is None else self.info.contributions
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "state": self.state,
            "reason": self.reason,
            "hooks": [] if self.info is None else list(self.info.hooks),
            "contributions": [
                {"kind": kind, "name": name, "scope": None if scope is None else scope.name}
                for kind, name, scope in contributions
            ],
        }


@attrs.frozen
class Survey:
    """What is installed, what failed (also names that are not installed), what else is wrong."""

    rows: tuple[Row, ...]
    failed: Mapping[str, PromptError]
    problems: tuple[str, ...]
    ignored: tuple[Ignored, ...]


async def take_survey(config: Config, messages: Messages) -> Survey:
    """Load the installed plugins as a host with *config* would, and tell what came of it."""
    async with loaded_host(config, messages) as (_, report):
        loaded = {info.name: info for info in report.loaded}
        rows = []
        for name, installed in discover().plugins.items():
            reason: str | None = None
            if name in loaded:
                state = "loaded"
            elif name in report.failed:
                state, reason = "failed", str(report.failed[name])
            else:
                state, reason = report.left_out[name].state, report.left_out[name].reason
            package = (installed.distribution, installed.version)
            rows.append(Row(name, *package, state, reason, loaded.get(name)))
        return Survey(tuple(rows), report.failed, report.problems, report.ignored)


def _as_json(survey: Survey, _: Destination) -> str:
    rows = {row.name: row for row in survey.rows}
    return json_text(
        {
            "plugins": [row.to_dict() for row in survey.rows],
            "failed": [
                {
                    "name": name,
                    "distribution": rows[name].distribution if name in rows else None,
                    "version": rows[name].version if name in rows else None,
                    "error": type(error).__name__,
                    "reason": str(error),
                }
                for name, error in survey.failed.items()
            ],
            "problems": list(survey.problems),
            "ignored": [attrs.asdict(one) for one in survey.ignored],
        }
    )


def _as_page(survey: Survey, destination: Destination) -> str:
    page = Page(destination)
    page.heading(f"Plugins: {len(survey.rows)} installed")
    if survey.rows:
        columns = ("Plugin", "State", "Hooks", "Contributes")
        page.table(columns, [_cells(row) for row in survey.rows], whole=("State", "Hooks"))
    else:
        page.text(f"A plugin is a distribution with an entry point in the group {PROJECT}.")
    left_out = [
        f'plugin "{row.name}" is {row.state}: {row.reason}'
        for row in survey.rows
        if row.reason is not None and row.state != "failed"
    ]
    failed = [str(error) for error in survey.failed.values()]
    for heading, lines in (("Not loaded", [*failed, *left_out]), ("Problems", survey.problems)):
        if lines:
            page.heading(heading)
            for line in lines:
                page.text(line)
    return str(page)


def _cells(row: Row) -> tuple[Cell, ...]:
    shown = row.to_dict()
    contributions = [
        f"{item['kind']} {item['name']}" + (f" in {item['scope']}" if item["scope"] else "")
        for item in shown["contributions"]
    ]
    plugin = [row.name, f"{row.distribution} {row.version}"]
    return plugin, row.state, shown["hooks"], contributions
