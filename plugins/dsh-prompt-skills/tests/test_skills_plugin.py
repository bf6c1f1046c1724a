"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_skills
import pytest

from dsh_prompt import RuntimeState
from dsh_prompt.testing import assert_deterministic, assert_unloads_clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def state(local: Path, project: Path, write: Callable[..., Path]) -> RuntimeState:
    """Give the state of an agent in a project with many skills, some of them broken."""
    for number in range(30):
        write(local, f"s{number}", f"Body {number}.")
    write(project / ".claude/skills", "s1")
    write(local, "bad", description="")
    return RuntimeState(workdir=str(project), loaded_skills=["s3", "s1", "gone"])


def test_unload(state: RuntimeState) -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean(dsh_prompt_skills, state=state)


def test_deterministic(state: RuntimeState) -> None:
    """Of the same files it says the same in every process."""
    assert_deterministic(dsh_prompt_skills, config={"max_catalogue_chars": 900}, state=state)
