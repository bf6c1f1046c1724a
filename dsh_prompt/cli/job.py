"""What is to be assembled, as options say it, and a host that can do it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import attrs
import click

from dsh_prompt.cli.hosting import check_installed, loaded_host
from dsh_prompt.cli.inputs import load_config, load_state, load_tools, parse_variables
from dsh_prompt.cli.options import complete_plugin, config_option

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from dsh_prompt.cli.messages import Messages
    from dsh_prompt.config.config import Config
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.model.tools import ToolSchema
    from dsh_prompt.plugins.manager import LoadReport
    from dsh_prompt.system_prompt import SystemPrompt

#: The scope that holds what the command line itself contributes.
SCOPE = "command-line"

_OPTIONS = (
    config_option,
    click.option(
        "--state",
        "state_file",
        metavar="FILE",
        help="Take the whole runtime state from the JSON object in FILE (-: standard input), for "
        "example permission_mode, task, todos, open_files, memories or extra, all optional; "
        "without it, the state is the working directory.",
    ),
    click.option(
        "--tools",
        "tools_file",
        metavar="FILE",
        help="Add the tools in FILE (-: standard input), a JSON list of objects with name, "
        "description, parameters and, optionally, annotations, or of tools as OpenAI, Anthropic, "
        'Gemini or MCP write them; an object may hold the list under "tools".',
    ),
    click.option(
        "--plugin",
        "only",
        metavar="NAME",
        multiple=True,
        shell_complete=complete_plugin,
        help="Load only this plugin (repeatable).",
    ),
    click.option(
        "--no-plugin",
        "block",
        metavar="NAME",
        multiple=True,
        shell_complete=complete_plugin,
        help="Leave a plugin out (repeatable).",
    ),
    click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="Set a variable, in place of any other value it has (repeatable).",
    ),
)


def job_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options that say what is to be assembled: it gets a `Job` of them."""

    @wraps(command)
    def with_job(
        *,
        config_file: str | None,
        state_file: str | None,
        tools_file: str | None,
        only: Sequence[str],
        block: Sequence[str],
        assignments: Sequence[str],
        **others: Any,
    ) -> None:
        if state_file == tools_file == "-":
            raise click.UsageError("--state and --tools cannot both be standard input")
        job = Job(
            config=load_config(config_file),
            state=load_state(state_file),
            tools=load_tools(tools_file),
            variables=parse_variables(assignments),
            only=only or None,
            block=block,
            files=(config_file, state_file, tools_file),
        )
        command(job=job, **others)

    for option in reversed(_OPTIONS):
        with_job = option(with_job)
    return with_job


@attrs.frozen
class Job:
    """What is to be assembled; *files* are those of --config, --state and --tools."""

    config: Config
    state: RuntimeState
    tools: Sequence[ToolSchema]
    variables: Mapping[str, str]
    only: Sequence[str] | None
    block: Sequence[str]
    files: tuple[str | None, str | None, str | None]

    def read_again(self) -> Job:
        """Give the job that the files make now; standard input stays as it was read."""
        config_file, state_file, tools_file = self.files
        return attrs.evolve(
            self,
            config=load_config(config_file),
            state=self.state if state_file == "-" else load_state(state_file),
            tools=self.tools if tools_file == "-" else load_tools(tools_file),
        )

    @asynccontextmanager
    async def prepared(self, messages: Messages) -> AsyncIterator[Prepared]:
        """Give a host of its own with all that is to be assembled; it is disposed afterwards."""
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
            yield Prepared(self, host, report, scope)

    def _tell(self, report: LoadReport, messages: Messages) -> None:
        for error in report.failed.values():
            messages.warn(str(error), error)
        for problem in report.problems:
            messages.warn(problem)
        for name in sorted({*(self.only or ())} - {*self.block}):
            if name in report.left_out:
                messages.warn(f'plugin "{name}" is not loaded: {report.left_out[name].reason}')


@attrs.frozen
class Prepared:
    """A host with the installed plugins, and a scope with what the command line contributes."""

    job: Job
    host: SystemPrompt
    report: LoadReport
    scope: Scope

    async def assemble(self) -> PromptAssembly:
        """Assemble what the job says."""
        return await self.host.assemble_async(scope=self.scope, state=self.job.state)
