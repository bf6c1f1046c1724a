"""What the host calls in each assembly, and what a person is told once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Problem, Reports
from dsh_prompt_summary.showing import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_summary.config import Config

_LOG: Final = logging.getLogger("dsh_prompt_summary")


def summary_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the summary that the state holds, empty without one."""
    reports = Reports(_LOG)

    def summary(context: AssembleContext) -> str:
        if context.state is None or context.state.summary is None:
            return ""
        shown = show(context.state.summary, config)
        if shown.findings:
            what = "; it ".join(shown.findings)
            reports.give([Problem("the summary", what, (hash(shown.text),))])
        return shown.text

    return summary
