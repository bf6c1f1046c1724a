"""The runtime contexts: working directory, open files and project notes of the state."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dsh_prompt import Budget, ContextOrder, Priority, PromptContext
from dsh_prompt.untrusted import framed
from dsh_prompt_env.showing import Problem, as_text, shown_path, shown_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dsh_prompt import AssembleContext, RuntimeState
    from dsh_prompt.untrusted import Reports
    from dsh_prompt_env.config import Config
    from dsh_prompt_env.showing import Shown


def contexts(config: Config, reports: Reports) -> list[PromptContext]:
    """Give the three contexts; each is empty where the state has nothing for it."""
    context = partial(PromptContext, literal=True)
    order = ContextOrder.ENVIRONMENT
    return [
        context(
            "env:workdir",
            order,
            _of_state(lambda state: _workdir(state, reports)),
            title="Working directory",
        ),
        context(
            "env:open-files",
            order + 1,
            _of_state(lambda state: "\n".join(_open_files(state, config, reports))),
            title="Open files",
            budget=Budget(max_chars=config.max_open_chars, priority=Priority.REST),
        ),
        context(
            "env:notes",
            order + 2,
            _of_state(lambda state: "\n\n".join(_notes(state, config, reports))),
            title="Project notes",
            # Cut short, the last frame would be open, and what follows would seem to be in it.
            budget=Budget(overflow="drop", priority=Priority.REST),
        ),
    ]


def _of_state(say: Callable[[RuntimeState], str]) -> Callable[[AssembleContext], str]:
    def provider(context: AssembleContext) -> str:
        return "" if context.state is None else say(context.state)

    return provider


def _workdir(state: RuntimeState, reports: Reports) -> str:
    if not state.workdir:
        return ""
    shown = shown_path(as_text(state.workdir))
    reports.give(shown.problems_of("the working directory"))
    return shown.text


def _open_files(state: RuntimeState, config: Config, reports: Reports) -> Iterator[str]:
    """Give a line for each path, in the order of the state, each once."""
    paths = [path for path in dict.fromkeys(map(as_text, state.open_files)) if path]
    most = config.max_open_files
    for path in paths[:most]:
        shown = shown_path(path)
        reports.give(shown.problems_of("the path of an open file"))
        yield f"- {shown.text}"
    if 0 < most < len(paths):
        yield _more(len(paths) - most)


def _notes(state: RuntimeState, config: Config, reports: Reports) -> Iterator[str]:
    """Give each note in a frame of its own."""
    notes = map(as_text, state.project_notes)
    texts: Sequence[str] = [text for text in notes if text and not text.isspace()]
    most = config.max_notes
    for number, text in enumerate(texts[:most], 1):
        shown = shown_text(text, config.max_note_chars)
        reports.give(shown.problems_of(f"project note {number}"))
        yield _note(shown)
    if 0 < most < len(texts):
        more = len(texts) - most
        said = f"are too many, {more} of them are not shown"
        reports.give([Problem("the project notes", "", said)])
        yield _more(more)


def _note(shown: Shown) -> str:
    note = framed("project-note", shown.text)
    whole = f"(cut; the whole note has {len(shown.raw)} characters)"
    return note if shown.is_whole else f"{note}\n{whole}"


def _more(count: int) -> str:
    return f"({count} more)"
