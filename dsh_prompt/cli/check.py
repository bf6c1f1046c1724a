"""``dsh-prompt check``: what is wrong with the model input, though it can be assembled."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from dsh_prompt.cli.assembly_page import owner
from dsh_prompt.cli.escaping import json_text
from dsh_prompt.cli.exits import CHECK_FAILED, assembly_failures
from dsh_prompt.cli.job import job_options
from dsh_prompt.cli.messages import Messages
from dsh_prompt.cli.options import traceback_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.cli.pages import Page
from dsh_prompt.tool_mentions import hidden_tool_mentions, requiring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt.cli.job import Job
    from dsh_prompt.model.source import Source
    from dsh_prompt.tool_mentions import HiddenToolMention


@click.command(
    "check",
    short_help="Find texts that name a tool the model does not get.",
    epilog="""\
\b
Examples:
  dsh-prompt check
  echo '{"permission_mode": "plan"}' | dsh-prompt check --state -
  dsh-prompt check --format json | jq -r '.findings[] | "\\(.name): \\(.way_out)"'

\b
The keys of --format json:
  findings  one object for each tool that a text names: check (hidden-tool), kind
            (section or context), name, source (whose text it is), tool, hidden_by
            (who hid it, null where that is not known), way_out
""",
)
@job_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    help="table: for people (the default). json: for programs.",
)
@traceback_option
def check_command(job: Job, format_: str, with_traceback: bool) -> None:
    """Find sections and contexts that name a tool which the model does not get.

    A model that is told to use a tool tries to, also where a plugin or a restriction hides the
    tool this time. Assembles as "render" does, and looks in each text for the whole names of
    hidden tools. Denied tools are not hidden: the model still sees them. If anything is found,
    the exit code is 1.
    """
    destination = Destination.named()
    messages = Messages(with_traceback=with_traceback)
    with assembly_failures(with_traceback=with_traceback):
        findings = messages.run(partial(_findings, job, messages))
    destination.write(_as_json(findings) if format_ == "json" else _as_page(findings, destination))
    if findings:
        raise click.exceptions.Exit(CHECK_FAILED)


async def _findings(job: Job, messages: Messages) -> list[HiddenToolMention]:
    async with job.prepared(messages) as prepared:
        return hidden_tool_mentions(await prepared.assemble())


def _as_json(findings: Sequence[HiddenToolMention]) -> str:
    return json_text({"findings": [_document(finding) for finding in findings]})


def _document(finding: HiddenToolMention) -> dict[str, Any]:
    return {
        "check": "hidden-tool",
        "kind": finding.kind,
        "name": finding.name,
        "source": _source(finding.source),
        "tool": finding.tool,
        "hidden_by": _source(finding.hidden_by),
        "way_out": finding.way_out,
    }


def _source(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else source.to_dict()


def _as_page(findings: Sequence[HiddenToolMention], destination: Destination) -> str:
    page = Page(destination)
    if not findings:
        page.heading("No text names a hidden tool")
        return str(page)
    page.heading("Texts that name a hidden tool")
    rows = [
        (
            f"{finding.kind} {finding.name}",
            owner(finding.source),
            finding.tool,
            owner(finding.hidden_by),
        )
        for finding in findings
    ]
    page.table(("Text", "Owner", "Tool", "Hidden by"), rows)
    page.heading("Give them what lets them go where the tool goes")
    for text, together in groupby(findings, lambda finding: f"{finding.kind} {finding.name}"):
        page.text(f"{text}: {requiring(finding.tool for finding in together)}")
    return str(page)
