"""A host with the plugin, and the two ways to read what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_env
import pytest

from dsh_prompt import RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def text() -> Callable[..., str | None]:
    """Give a function that reads the text of a context, None where it is absent or empty.

    `text("notes", {"project_notes": [...]}, max_notes=2)`: a context, a state, settings.
    """

    def read(name: str, state: dict[str, Any] | None, **settings: Any) -> str | None:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_env, config=settings)
        given = None if state is None else RuntimeState(**state)
        texts = {one.name: one.text for one in prompt.assemble(state=given).contexts}
        return texts.get(f"env:{name}") or None

    return read


@pytest.fixture
def value() -> Callable[..., str | None]:
    """Give a function that reads the value of a variable, for a state under some settings."""

    def read(name: str, state: dict[str, Any] | None = None, **settings: Any) -> str | None:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_env, config=settings)
        given = None if state is None else RuntimeState(**state)
        return prompt.assemble(state=given).variables[name]

    return read
