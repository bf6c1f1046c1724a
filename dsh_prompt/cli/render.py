"""``dsh-prompt render``: the model input that an agent here would send."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING

import attrs
import click

from dsh_prompt.cli.escaping import json_text, visible
from dsh_prompt.cli.exits import assembly_failures
from dsh_prompt.cli.hosting import check_installed, loaded_host
from dsh_prompt.cli.inputs import load_config, load_state, load_tools, parse_variables
from dsh_prompt.cli.messages import Messages
from dsh_prompt.cli.options import config_option, traceback_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.render.prompt import render_context_snapshot, render_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dsh_prompt.config import Config
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.model.tools import ToolSchema
    from dsh_prompt.plugins import LoadReport

#: The scope that holds what the command line itself contributes.
SCOPE = "command-line"


@click.command(
    "render",
    epilog="""\
\b
Examples:
  dsh-prompt render
  dsh-prompt render --format json --out input.json
  dsh-prompt render --plugin git --set user=Ada | less
  echo '{"permission_mode": "plan"}' | dsh-prompt render --state -
""",
)
@config_option
@click.option(
    "--state",
    "state_file",
    metavar="FILE",
    help="Take the whole runtime state from the JSON object in FILE (-: standard input); "
    "without it, the state is the working directory.",
)
@click.option(
    "--tools",
    "tools_file",
    metavar="FILE",
    help="Add the tools in FILE (-: standard input), a JSON list of objects with name, "
    "description, parameters and, optionally, annotations, or of tools as OpenAI, Anthropic, "
    'Gemini or MCP write them; an object may hold the list under "tools".',
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "text", "snapshot", "json"]),
    help="table: everything, for people (the default on a terminal). text: the system prompt and "
    "nothing else (the default elsewhere). snapshot: the runtime-context snapshot and nothing "
    "else. json: the whole assembly.",
)
@click.option(
    "--plugin", "only", metavar="NAME", multiple=True, help="Load only this plugin (repeatable)."
)
@click.option(
    "--no-plugin", "block", metavar="NAME", multiple=True, help="Leave a plugin out (repeatable)."
)
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a variable, in place of any other value it has (repeatable).",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Write to FILE, all or nothing, instead of to standard output.",
)
@traceback_option
def render_command(
    config_file: str | None,
    state_file: str | None,
    tools_file: str | None,
    format_: str | None,
    only: Sequence[str],
    block: Sequence[str],
    assignments: Sequence[str],
    out: str | None,
    with_traceback: bool,
) -> None:
    """Show the model input that an agent here would send.

    Loads the installed plugins, assembles system prompt, context snapshot and tools, and
    prints them. A plugin that cannot be loaded is reported on standard error, and the others
    work on. Other tools read exactly what a model gets; on a terminal, and in tables, control
    characters are shown escaped.
    """
    if state_file == tools_file == "-":
        raise click.UsageError("--state and --tools cannot both be standard input")
    destination = Destination.named(out)
    job = Job(
        config=load_config(config_file),
        state=load_state(state_file),
        tools=load_tools(tools_file),
        variables=parse_variables(assignments),
        only=only or None,
        block=block,
    )
    messages = Messages(with_traceback=with_traceback)
    show = FORMATS[format_ or ("table" if destination.is_terminal else "text")]
    with assembly_failures(with_traceback=with_traceback):
        assembly = messages.run(partial(job.assemble, messages))
        # Values of typed keys are encoded by contributed code, which may print as well.
        with redirect_stdout(sys.stderr):
            result = show(assembly, destination)
    destination.write(result)


@attrs.frozen
class Job:
    """What is to be assembled."""

    config: Config
    state: RuntimeState
    tools: Sequence[ToolSchema]
    variables: Mapping[str, str]
    only: Sequence[str] | None
    block: Sequence[str]

    async def assemble(self, messages: Messages) -> PromptAssembly:
        """Assemble in a host of its own, which is disposed afterwards."""
        check_installed({"--plugin": self.only or (), "--no-plugin": self.block})
        async with loaded_host(self.config, messages, only=self.only, block=self.block) as (
            host,
            report,
        ):
            self._tell(report, messages)
            scope = host.create_scope(SCOPE)
            for tool in self.tools:
                scope.tool(tool)
            for name, value in self.variables.items():
                scope.variable(name, value)
            return await host.assemble_async(scope=scope, state=self.state)

    def _tell(self, report: LoadReport, messages: Messages) -> None:
        for error in report.failed.values():
            messages.warn(str(error), error)
        for problem in report.problems:
            messages.warn(problem)
        for name in sorted({*(self.only or ())} - {*self.block}):
            if name in report.left_out:
                messages.warn(f'plugin "{name}" is not loaded: {report.left_out[name].reason}')


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


def _table(assembly: PromptAssembly, destination: Destination) -> str:
    from dsh_prompt.cli.assembly_page import assembly_page  # noqa: PLC0415 - imports rich

    return assembly_page(assembly, destination)


FORMATS: Mapping[str, Callable[[PromptAssembly, Destination], str]] = {
    "table": _table,
    "text": _text,
    "snapshot": _snapshot,
    "json": _json,
}
