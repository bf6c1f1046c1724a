"""The variables: two that stand still, three that follow the state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from dsh_prompt_env.machine import platform_name, shell_name
from dsh_prompt_env.showing import as_text, shown_line, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dsh_prompt import AssembleContext, RuntimeState
    from dsh_prompt.untrusted import Reports
    from dsh_prompt_env.config import Config

_LONGEST_NAME: Final = 200


def variables(config: Config, reports: Reports) -> Mapping[str, Any]:
    """Give the variables that *config* lists: constants, and providers for what changes."""
    every = {
        "platform": config.platform or platform_name(),
        "shell": config.shell or shell_name(os.environ, windows=os.name == "nt"),
        "cwd": _cwd_provider(reports),
        "model": _name_provider("the model", lambda state: state.model, reports),
        "provider": _name_provider("the provider", lambda state: state.provider, reports),
    }
    return {name: value for name, value in every.items() if name in config.variables}


def _cwd_provider(reports: Reports) -> Callable[[AssembleContext], str | None]:
    """Make the provider of the agent's working directory, else that of the process."""

    def cwd(context: AssembleContext) -> str | None:
        path = None if context.state is None else context.state.workdir
        try:
            path = path or os.getcwd()  # noqa: PTH109
        except OSError:  # the directory is gone
            return None
        shown = shown_path(as_text(path))
        reports.give(shown.problems_of("the working directory"))
        return shown.text

    return cwd


def _name_provider(
    what: str, read: Callable[[RuntimeState], str | None], reports: Reports
) -> Callable[[AssembleContext], str | None]:
    """Make the provider of a name in the state, None where the state has none."""

    def name(context: AssembleContext) -> str | None:
        raw = None if context.state is None else read(context.state)
        text = "" if raw is None else as_text(raw)
        if not text or text.isspace():
            return None
        shown = shown_line(text, _LONGEST_NAME)
        reports.give(shown.problems_of(f"the name of {what}"))
        return shown.text

    return name
