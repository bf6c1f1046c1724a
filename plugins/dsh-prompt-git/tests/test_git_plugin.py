"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_git

from dsh_prompt import PromptAssembly, RuntimeState
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_unload(repo: Path) -> None:
    """After it is unloaded nothing of it is left, not even a program that still runs."""
    assert_unloads_clean(dsh_prompt_git, state=RuntimeState(workdir=str(repo)))


def test_deterministic(repo: Path) -> None:
    """Of one repository it says the same in every process."""
    state = RuntimeState(workdir=str(repo))
    assert_deterministic(dsh_prompt_git, config={"timeout": 30.0}, state=state)


def test_the_prefix_stays(
    repo: Path, commit: Callable[..., None], assemble: Callable[..., PromptAssembly]
) -> None:
    """Commits show in the runtime context, and cost no cached byte."""

    def step(number: int) -> PromptAssembly:
        commit(f"{number}.txt")
        return assemble(repo, timeout=30.0)

    assert_stable_prefix(step, 3)
