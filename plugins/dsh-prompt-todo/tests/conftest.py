"""A host with the plugin, and what it says about todos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_todo
import pytest

from dsh_prompt import RuntimeState, render_context_sections

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import SystemPrompt


@pytest.fixture
def host(dsh_prompt_host: SystemPrompt) -> Callable[..., SystemPrompt]:
    """Give a function that loads the plugin into a host, under the given settings."""

    def load(**settings: Any) -> SystemPrompt:
        dsh_prompt_host.load(dsh_prompt_todo, name="todo", config=settings)
        return dsh_prompt_host

    return load


@pytest.fixture
def said(host: Callable[..., SystemPrompt]) -> Callable[..., dict[str, str]]:
    """Give a function that shows todos, and gives what is said of them by context."""

    def show(todos: Any, **settings: Any) -> dict[str, str]:
        prompt = host(**settings)
        return dict(render_context_sections(prompt.assemble(state=RuntimeState(todos=todos))))

    return show
