"""A host with tools, and the plugin loaded into it under settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import SystemPrompt


@pytest.fixture
def bare_host(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host without the plugin, with four tools."""
    for name in ("bash", "git_push", "git_status", "read"):
        dsh_prompt_host.tool({"name": name})
    return dsh_prompt_host


@pytest.fixture
def host(bare_host: SystemPrompt) -> Callable[..., SystemPrompt]:
    """Give a function that loads the plugin into the host, under the given settings."""

    def load(**settings: Any) -> SystemPrompt:
        bare_host.load(Policy, name="policy", config=settings)
        return bare_host

    return load
