"""What is said to be under way while git waits for its user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_git.operations import Operation, operations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def torn(repo: Path, git: Callable[..., str], commit: Callable[..., None]) -> Path:
    """Give a repository whose branches main and topic changed one file in different ways."""
    git("checkout", "-q", "-b", "topic")
    commit("first.txt", "topic\n", "Topic one")
    commit("topic.txt", "topic\n", "Topic two")
    git("checkout", "-q", "main")
    commit("first.txt", "main\n", "Main one")
    return repo


def _under_way(shown: list[str]) -> list[str]:
    return [line.removeprefix("under way: ") for line in shown if line.startswith("under way")]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("merge", "topic"), "merge"),
        (("cherry-pick", "topic^"), "cherry-pick"),
        (("cherry-pick", "main..topic"), "cherry-pick"),
        (("revert", "--no-commit", "HEAD"), "revert"),
        (("bisect", "start"), "bisect, begun on main"),
        (("rebase", "topic"), "rebase, begun on main (step 1 of 1)"),
        (("rebase", "--apply", "topic"), "rebase, begun on main (step 1 of 1)"),
    ],
)
def test_operation(
    command: tuple[str, ...],
    said: str,
    torn: Path,
    git: Callable[..., str],
    lines: Callable[..., list[str]],
) -> None:
    """An operation that waits for the user is named, with what git keeps of its beginning."""
    git(*command, check=False)
    assert _under_way(lines(torn)) == [said]


def test_conflicts_are_named(
    torn: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A file in conflict stands in a group of its own, before the staged ones."""
    git("merge", "topic", check=False)
    shown = lines(torn, max_commits=0)
    assert shown[2:] == [
        "conflicted: 1",
        "- both modified: first.txt",
        "staged: 1",
        "- added: topic.txt",
    ]


def test_rebase_tells_where_head_is(
    torn: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """In a rebase the head is detached and the files and commits are told all the same."""
    git("rebase", "topic", check=False)
    shown = lines(torn)
    assert shown[0].startswith("branch: none, detached at ")
    assert "- both modified: first.txt" in shown
    assert "last commits:" in shown


def test_between_two_picks(
    torn: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A pick of several commits is under way though the one in conflict is committed."""
    git("cherry-pick", "main..topic", check=False)
    git("add", "first.txt")
    git("commit", "-q", "-m", "Resolved")
    assert _under_way(lines(torn)) == ["cherry-pick"]


def test_applying_patches(
    torn: Path, git: Callable[..., str], write: Callable[..., Path], lines: Callable[..., list[str]]
) -> None:
    """A series of mailed patches that stopped is no rebase."""
    git("format-patch", "-q", "-o", ".git/patches", "main..topic")
    git("am", ".git/patches/0001-Topic-one.patch", check=False)
    assert _under_way(lines(torn)) == ["applying patches (step 1 of 1)"]


def test_state_files_that_are_traps(tmp_path: Path) -> None:
    """A pipe, a link or a folder in place of git's small files is not read."""
    state = tmp_path / "rebase-merge"
    state.mkdir()
    (tmp_path / "number").write_text("1")
    os.mkfifo(state / "head-name")
    (state / "msgnum").symlink_to(tmp_path / "number")
    (state / "end").mkdir()
    assert operations(str(tmp_path)) == (Operation("rebase"),)


def test_state_files_with_nonsense(repo: Path, lines: Callable[..., list[str]]) -> None:
    """What git would not have written is escaped or left out."""
    state = repo / ".git/rebase-merge"
    state.mkdir()
    (state / "head-name").write_bytes(b"refs/heads/\x1b[31m\xff")
    (state / "msgnum").write_text("9" * 5000)
    (state / "end").write_text("many")
    assert _under_way(lines(repo)) == [r"rebase, begun on \x1b[31m\xff"]
