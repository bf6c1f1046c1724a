"""Hosts with the plugin, and a machine whose zone a test may set."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import dsh_prompt_clock
import pytest
from dsh_prompt_clock import NOW

from dsh_prompt import AssembleContext, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime


@pytest.fixture
def told() -> Callable[..., str]:
    """Give a function that reads what the model is told at a moment, under the given settings."""

    def read(moment: datetime | None = None, **settings: Any) -> str:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_clock, config=settings)
        context = AssembleContext()
        if moment is not None:
            context[NOW] = moment
        (clock,) = prompt.assemble(context).contexts
        return clock.text

    return read


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Give a function that sets the zone of the process, as its environment does."""
    if os.name == "nt":
        pytest.skip("Windows does not read TZ")

    def set_to(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()
