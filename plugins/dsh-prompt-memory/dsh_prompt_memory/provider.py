"""What the host calls in each assembly."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Reports
from dsh_prompt_memory.showing import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_memory.config import Config

_LOG: Final = logging.getLogger("dsh_prompt_memory")


def memory_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the notes that the state holds, empty without any.

    It looks at the state alone: no assembly waits for a file, or fails because of one.
    """
    reports = Reports(_LOG)

    def memory(context: AssembleContext) -> str:
        if context.state is None:
            return ""
        shown = show([memory.content for memory in context.state.memories], config)
        reports.give(shown.odd)
        return shown.text

    return memory
