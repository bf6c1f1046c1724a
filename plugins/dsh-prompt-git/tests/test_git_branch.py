"""The variable `git_branch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_git
import pytest

from dsh_prompt import RuntimeState
from dsh_prompt.testing import assert_section

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PromptAssembly, SystemPrompt


@pytest.mark.parametrize("name", ["main", "feature/one", "{{x}}", "größe", "(detached)"])
def test_name(
    name: str,
    repo: Path,
    git: Callable[..., str],
    assemble: Callable[..., PromptAssembly],
) -> None:
    """The value is the whole name of the branch."""
    git("checkout", "-q", "-B", name)
    assert assemble(repo).variables["git_branch"] == name


def test_empty_repository(empty: Path, assemble: Callable[..., PromptAssembly]) -> None:
    """The branch has its name before the first commit."""
    assert assemble(empty).variables["git_branch"] == "main"


def test_detached(
    repo: Path, git: Callable[..., str], assemble: Callable[..., PromptAssembly]
) -> None:
    """A detached head has no value."""
    git("checkout", "-q", "--detach")
    assert assemble(repo).variables["git_branch"] is None


def test_tag_of_the_same_name(
    repo: Path, git: Callable[..., str], assemble: Callable[..., PromptAssembly]
) -> None:
    """A tag called like the branch does not change the name."""
    git("tag", "main")
    assert assemble(repo).variables["git_branch"] == "main"


def test_section_refers_to_it(
    repo: Path, git: Callable[..., str], dsh_prompt_host: SystemPrompt
) -> None:
    """A section can name the branch, whose own braces are not looked at again."""
    git("checkout", "-q", "-b", "{{git_branch}}")
    dsh_prompt_host.load(dsh_prompt_git)
    dsh_prompt_host.section(name="where", order=30, text="You are on {{git_branch}}.")
    assembly = dsh_prompt_host.assemble(state=RuntimeState(workdir=str(repo)))
    assert_section(assembly, "where", "You are on {{git_branch}}.")
