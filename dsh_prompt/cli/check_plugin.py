"""``dsh-prompt check-plugin``: put installed plugins through the generic checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from dsh_prompt.cli.escaping import json_text
from dsh_prompt.cli.exits import CHECK_FAILED
from dsh_prompt.cli.hosting import check_installed
from dsh_prompt.cli.inputs import load_config
from dsh_prompt.cli.options import complete_plugin, config_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.cli.pages import Page
from dsh_prompt.plugins.discovery import discover

if TYPE_CHECKING:
    from dsh_prompt.cli.pages import Cell
    from dsh_prompt.plugins.discovery import Installed
    from dsh_prompt.testing.checks import CheckResult


@click.command(
    "check-plugin",
    short_help="Check what hosts expect of plugins.",
    epilog="""\
\b
Examples:
  dsh-prompt check-plugin git
  dsh-prompt check-plugin git plan-mode --json | jq '.plugins[] | select(.passed | not)'

\b
The keys of --json:
  plugins  one object for each NAME: name, distribution, version, passed, and checks
           (name, status, reasons of each; status is passed, failed or skipped)
""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_plugin)
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def check_plugin_command(names: tuple[str, ...], config_file: str | None, as_json: bool) -> None:
    """Check the installed plugins NAME, and report what is wrong with them.

    Each check runs in a process of its own, with the settings that the plugin has here. If one
    fails, the exit code is 1.
    """
    check_installed({"NAME...": names})
    load_config(config_file)
    reports = [_check(name, config_file) for name in dict.fromkeys(names)]
    destination = Destination.named()
    destination.write(_as_json(reports) if as_json else _as_page(reports, destination))
    if not all(report.passed for report in reports):
        raise click.exceptions.Exit(CHECK_FAILED)


@attrs.frozen
class Report:
    """What the checks found about one plugin."""

    installed: Installed
    results: list[CheckResult]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(result.status != "failed" for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Give what ``--json`` tells of the plugin."""
        return {
            "name": self.installed.name,
            "distribution": self.installed.distribution,
            "version": self.installed.version,
            "passed": self.passed,
            "checks": [result.to_dict() for result in self.results],
        }


def _check(name: str, config_file: str | None) -> Report:
    from dsh_prompt.testing.checks import check_plugin  # noqa: PLC0415 - no other command needs it

    return Report(discover().plugins[name], check_plugin(name, config_file=config_file))


def _as_json(reports: list[Report]) -> str:
    return json_text({"plugins": [report.to_dict() for report in reports]})


def _as_page(reports: list[Report], destination: Destination) -> str:
    page = Page(destination)
    for report in reports:
        installed = report.installed
        verdict = "passes" if report.passed else "does not pass"
        page.heading(f"{installed.name} ({installed.distribution} {installed.version}) {verdict}")
        rows: list[tuple[Cell, ...]] = [
            (result.name, result.status, _lines(result)) for result in report.results
        ]
        page.table(("Check", "Result", "Reasons"), rows, whole=("Check", "Result"))
    return str(page)


def _lines(result: CheckResult) -> Cell:
    lines = [line for reason in result.reasons for line in reason.split("\n")]
    return lines if len(lines) > 1 else "".join(lines)  # one line needs no space around it
