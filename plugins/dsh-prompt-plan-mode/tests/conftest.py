"""A host with tools and sections around the plan text, and an agent in plan mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import PlanMode

from dsh_prompt import RuntimeState

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import SystemPrompt


@pytest.fixture
def plan() -> RuntimeState:
    """Give the state of an agent in plan mode."""
    return RuntimeState(permission_mode="plan")


@pytest.fixture
def bare_host(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host without the plugin: one read-only tool, two others, and sections about them."""
    prompt = dsh_prompt_host
    prompt.section(name="rules", order=10, text="Be precise.")
    prompt.section(name="guidance", order=100, text="Use the tools.")
    prompt.section(name="editing", order=110, text="Edit with edit.", requires_tools=["edit"])
    prompt.context(name="git", order=20, text="branch: main")
    prompt.context(name="todos", order=80, text="nothing to do")
    prompt.tool({"name": "read", "annotations": {"readOnlyHint": True}})
    prompt.tool({"name": "edit", "annotations": {"readOnlyHint": False}})
    prompt.tool({"name": "run"})
    return prompt


@pytest.fixture
def host(bare_host: SystemPrompt) -> Callable[..., SystemPrompt]:
    """Give a function that loads the plugin into the host, under the given settings."""

    def load(**settings: Any) -> SystemPrompt:
        bare_host.load(PlanMode, name="plan-mode", config=settings)
        return bare_host

    return load
