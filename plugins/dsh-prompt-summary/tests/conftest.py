"""What a model sees of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_summary
import pytest

from dsh_prompt import RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def shown() -> Callable[..., str]:
    """Give a function that gives the text of the context for a summary, "" without one."""

    def show(summary: Any, **settings: Any) -> str:
        with SystemPrompt() as prompt:
            prompt.load(dsh_prompt_summary, name="summary", config=settings)
            (context,) = prompt.assemble(state=RuntimeState(summary=summary)).contexts
            return context.text

    return show
