"""``dsh-prompt render``: the model input that an agent here would send."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dsh_prompt.cli.escaping import json_text, visible
from dsh_prompt.cli.exits import assembly_failures
from dsh_prompt.cli.inputs import load_messages
from dsh_prompt.cli.job import job_options
from dsh_prompt.cli.messages import Messages
from dsh_prompt.cli.options import traceback_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.cli.request_body import ADAPTERS, request_body
from dsh_prompt.render.prompt import render_context_snapshot, render_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dsh_prompt.cli.job import Job
    from dsh_prompt.model.prompt_assembly import PromptAssembly


@click.command(
    "render",
    epilog="""\
\b
Examples:
  dsh-prompt render
  dsh-prompt render --format json --out input.json
  dsh-prompt render --plugin git --set user=Ada | less
  dsh-prompt render --format anthropic --messages history.jsonl --model NAME
  echo '{"permission_mode": "plan"}' | dsh-prompt render --state -
""",
)
@job_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "text", "snapshot", "json", *ADAPTERS]),
    help="table: everything, for people (the default on a terminal). text: the system prompt and "
    "nothing else (the default elsewhere). snapshot: the runtime-context snapshot and nothing "
    "else. json: the whole assembly. The others: the body of that provider's request.",
)
@click.option(
    "--messages",
    "messages_file",
    metavar="FILE",
    help="For the body of a request: take the history from FILE (-: standard input), a JSON "
    "object in each line, in the provider's form.",
)
@click.option(
    "--model",
    metavar="NAME",
    help="For the body of a request: the model; without it that of the state.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Write to FILE, all or nothing, instead of to standard output.",
)
@traceback_option
def render_command(
    job: Job,
    format_: str | None,
    messages_file: str | None,
    model: str | None,
    out: str | None,
    with_traceback: bool,
) -> None:
    """Show the model input that an agent here would send.

    Loads the installed plugins, assembles system prompt, context snapshot and tools, and
    prints them. A plugin that cannot be loaded is reported on standard error, and the others
    work on. Other tools read exactly what a model gets; on a terminal, and in tables, control
    characters are shown escaped.
    """
    destination = Destination.named(out)
    messages = Messages(with_traceback=with_traceback)
    format_ = format_ or ("table" if destination.is_terminal else "text")
    show = FORMATS.get(format_)
    if show is None:
        history = load_messages(messages_file)
        show = partial(_body, format_, history, model or job.state.model)
    elif messages_file or model:
        raise click.UsageError("--messages and --model are for the body of a request (--format)")
    with assembly_failures(with_traceback=with_traceback):
        assembly = messages.run(partial(_assembled, job, messages))
        # Values of typed keys are encoded by contributed code, which may print as well.
        with redirect_stdout(sys.stderr):
            result = show(assembly, destination)
    destination.write(result)


async def _assembled(job: Job, messages: Messages) -> PromptAssembly:
    async with job.prepared(messages) as prepared:
        return await prepared.assemble()


def _text(assembly: PromptAssembly, destination: Destination) -> str:
    return _for_terminal(render_prompt(assembly), destination)


def _snapshot(assembly: PromptAssembly, destination: Destination) -> str:
    return _for_terminal(render_context_snapshot(assembly), destination)


def _for_terminal(text: str, destination: Destination) -> str:
    """Give *text* as it is, but for a terminal: escaped, and ended by a newline."""
    if not destination.is_terminal or not text:
        return text
    return visible(text).removesuffix("\n") + "\n"


def _json(assembly: PromptAssembly, _: Destination) -> str:
    return json_text(assembly.to_dict())


def _body(
    format_: str,
    messages: Sequence[Any],
    model: str | None,
    assembly: PromptAssembly,
    _: Destination,
) -> str:
    return request_body(format_, assembly, messages, model)


def _table(assembly: PromptAssembly, destination: Destination) -> str:
    from dsh_prompt.cli.assembly_page import assembly_page  # noqa: PLC0415 - imports rich

    return assembly_page(assembly, destination)


FORMATS: Mapping[str, Callable[[PromptAssembly, Destination], str]] = {
    "table": _table,
    "text": _text,
    "snapshot": _snapshot,
    "json": _json,
}
