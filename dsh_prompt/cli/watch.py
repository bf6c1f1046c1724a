"""``dsh-prompt watch``: what each edit changes in what the model is told."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack, redirect_stdout
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import attrs
import click

from dsh_prompt.cli.escaping import json_text, visible, visible_line
from dsh_prompt.cli.exits import UnusableError, assembly_failures, describe
from dsh_prompt.cli.job import job_options
from dsh_prompt.cli.messages import Messages
from dsh_prompt.cli.options import traceback_option
from dsh_prompt.cli.output import Destination
from dsh_prompt.config.files import CONFIG_FILE, PYPROJECT, user_directory
from dsh_prompt.render.prompt import render_context_snapshot, render_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dsh_prompt.cli.job import Job, Prepared
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.plugins.watching import Watch, WatchReport

#: Names of files, and digits of a digest, that a line shows.
MOST_LISTED = 5
DIGITS = 12

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    "watch",
    short_help="Show what each edit changes.",
    epilog="""\
\b
Examples:
  dsh-prompt watch
  dsh-prompt watch --plugin git --set user=Ada
""",
)
@job_options
@traceback_option
def watch_command(job: Job, with_traceback: bool) -> None:
    """Show, at each edit, what it changes in what the model is told.

    Assembles as "render" does, and again when a file changes: the code of a plugin, a
    configuration, the files of --state and --tools, or anything in the project, which is the
    nearest folder with .git in it, or the working directory. Shows what is different in system
    prompt, context snapshot and tools, those that are denied included, and whether the stable
    prefix, which providers cache, is another one. What an edit
    breaks is told on standard error, and stays as it was until the next one. Ctrl-C ends it.
    Needs the extra: pip install 'dsh-prompt[watch]'
    """
    messages = Messages(with_traceback=with_traceback)
    session = _Session(messages, with_traceback=with_traceback)

    async def watch() -> None:
        await session.run(job)

    messages.run(watch)


_BROKEN = "It cannot be assembled; what was shown last is what there was before."


@attrs.frozen
class View:
    """What a model is told: the texts by what they are, and the digest of the stable prefix."""

    summary: str
    texts: Mapping[str, str]
    prefix: str

    @classmethod
    def of(cls, assembly: PromptAssembly) -> View:
        """Render *assembly*."""
        sizes = {
            "section": len(assembly.sections),
            "context": len(assembly.contexts),
            "tool": len(assembly.tools),
        }
        prefix = assembly.fingerprint().prefix
        counts = [f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in sizes.items()]
        tools = [tool.to_dict() for tool in assembly.tools]
        return cls(
            f"{', '.join(counts)}; stable prefix {prefix[:DIGITS]}",
            {
                "system prompt": render_prompt(assembly),
                "context snapshot": render_context_snapshot(assembly),
                "tools": json_text(tools),
                "denied tools": json_text(dict(assembly.denied)),
            },
            prefix,
        )

    def changes(self, before: View) -> Iterator[str]:
        """Give the lines of a unified diff, of each text that is another than it was."""
        for name, text in self.texts.items():
            old, new = before.texts[name].split("\n"), text.split("\n")
            yield from unified_diff(old, new, name, name, lineterm="")
        if self.prefix != before.prefix:
            digests = f"{before.prefix[:DIGITS]} -> {self.prefix[:DIGITS]}"
            yield f"The prompt cache prefix changed: {digests}"


@attrs.frozen
class _Live:
    """A host at work, and the watch over its files."""

    prepared: Prepared
    watch: Watch
    stack: AsyncExitStack


class _Session:
    """Shows one change after the other."""

    def __init__(self, messages: Messages, *, with_traceback: bool) -> None:
        self._messages = messages
        self._with_traceback = with_traceback
        self._screen = _Screen()
        self._folder = Path.cwd().resolve()
        self._view: View | None = None
        #: Whether it was told that there is nothing to show.
        self._is_blank = False

    async def run(self, job: Job) -> None:
        """Watch until it is interrupted."""
        live = await self._begun(job)
        try:
            self._view = await self._assembled(live)
            if self._view is not None:
                self._screen.show([self._view.summary])
            self._screen.show([f"Watching {_project(self._folder)}; Ctrl-C ends it."])
            while True:
                self._messages.begin_round()
                report = await anext(live.watch)
                live = await self._follow(live, report)
        finally:
            await live.stack.aclose()

    async def _begun(self, job: Job) -> _Live:
        places = [_project(self._folder), user_directory(), *_named(job)]
        async with AsyncExitStack() as stack:
            prepared = await stack.enter_async_context(job.prepared(self._messages))
            try:
                watch = prepared.host.watch(*places)
            except ModuleNotFoundError as error:
                raise UnusableError(str(error)) from error
            await stack.enter_async_context(watch)
            return _Live(prepared, watch, stack.pop_all())

    async def _follow(self, live: _Live, report: WatchReport) -> _Live:
        """Show what came of changed files; gives the host to go on with."""
        before = self._view
        renewed = await self._renewed(live) if self._concerns(live, report.paths) else live
        if renewed is None:
            return live
        self._tell_failures(report)
        view = await self._assembled(live) if renewed is live else self._view
        self._view = view or before
        acts = list(_acts(report, self._folder))
        lines = self._news(before)
        if lines or len(acts) > 1 or renewed is not live:
            quiet = "What the model is told stays as it was." if view else _BROKEN
            self._screen.show([*acts, *(lines or [quiet])])
        return renewed

    def _news(self, before: View | None) -> list[str]:
        if self._view is None or self._view is before:
            return []
        return [self._view.summary] if before is None else list(self._view.changes(before))

    # A new configuration

    def _concerns(self, live: _Live, paths: Sequence[Path]) -> bool:
        """Tell whether some of *paths* say what is to be assembled, or whom to trust."""
        folders = (self._folder, *self._folder.parents)
        places = {folder / name for folder in folders for name in (CONFIG_FILE, PYPROJECT)}
        places |= {path.resolve() for path in _named(live.prepared.job)}
        own = user_directory().resolve()
        return any(path in places or path.is_relative_to(own) for path in paths)

    async def _renewed(self, live: _Live) -> _Live | None:
        """Give a host for what the files say now; None, after telling why, if it is no good."""
        try:
            with assembly_failures(with_traceback=self._with_traceback):
                new = await self._begun(live.prepared.job.read_again())
        except click.ClickException as error:
            self._tell(error, again=True)
            return None
        working = {info.name for info in live.prepared.host.plugins}
        lost = working & new.prepared.report.failed.keys()
        view = None if lost else await self._assembled(new)
        if view is None:
            for name in sorted(lost):
                error_ = new.prepared.report.failed[name]
                self._messages.warn(str(error_), error_, again=True)
            await new.stack.aclose()
            return None
        self._view = view
        await live.stack.aclose()
        return new

    # Errors

    async def _assembled(self, live: _Live) -> View | None:
        try:
            with assembly_failures(with_traceback=self._with_traceback):
                view = View.of(await live.prepared.assemble())
        except click.ClickException as error:
            self._tell(error, again=not self._is_blank)
            self._is_blank = True
            return None
        self._is_blank = False
        return view

    def _tell_failures(self, report: WatchReport) -> None:
        for error in report.failed.values():
            self._messages.warn(describe(error), error, again=True)
        if report.sync is not None:
            for failure in report.sync.failed.values():
                self._messages.warn(str(failure), failure)
            for problem in report.sync.problems:
                self._messages.warn(problem)

    def _tell(self, error: click.ClickException, *, again: bool) -> None:
        self._messages.warn(error.format_message(), error.__cause__ or error, again=again)


class _Screen:
    """Standard output as it is without contributed code, whose prints go elsewhere."""

    def __init__(self) -> None:
        self._stdout: TextIO | None = sys.stdout
        self._destination = Destination.named()

    def show(self, lines: Iterable[str]) -> None:
        """Print *lines*, safe to show; parts of a diff have colours, if they are wanted."""
        text = "".join(f"{self._styled(visible(line))}\n" for line in lines)
        with redirect_stdout(self._stdout):
            self._destination.write(text)

    def _styled(self, line: str) -> str:
        color = _COLORS.get(line[:1])
        return click.style(line, color) if color and self._destination.wants_color else line


def _acts(report: WatchReport, folder: Path) -> Iterator[str]:
    """Tell what changed, and what was done about it, one line each."""
    yield f"Changed: {_listed(_shown(path, folder) for path in report.paths)}"
    sync = report.sync
    plugins = {
        "Installed": () if sync is None else sync.installed,
        "Upgraded": () if sync is None else sync.upgraded,
        "Removed": () if sync is None else sync.removed,
        "Reloaded": report.reloaded,
    }
    for act, infos in plugins.items():
        if infos:
            yield f"{act}: {_listed(info.name for info in infos)}"
    if report.failed:
        yield f"Failed: {_listed(report.failed)}"


def _listed(names: Iterable[str]) -> str:
    shown = [visible_line(name) for name in names]
    more = len(shown) - MOST_LISTED
    return ", ".join(shown[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _project(folder: Path) -> Path:
    """Give the folder of the project around *folder*: the nearest one under version control."""
    around = (folder, *folder.parents)
    return next((one for one in around if os.path.lexists(one / ".git")), folder)


def _named(job: Job) -> list[Path]:
    """Give the files that options name."""
    return [Path(file) for file in job.files if file is not None and file != "-"]
