"""One reading of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dsh_prompt_git.commits import Commit, commits_arguments, parse_commits
from dsh_prompt_git.errors import RefusedError
from dsh_prompt_git.operations import Operation, operations
from dsh_prompt_git.process import Deadline
from dsh_prompt_git.repository import complaint, open_repository
from dsh_prompt_git.status import STATUS, Status, parse_status

if TYPE_CHECKING:
    from dsh_prompt_git.config import Config
    from dsh_prompt_git.repository import Repository


@attrs.frozen
class Facts:
    """What was read.

    *branch*: the one checked out, None where head is detached. *place*: the directory asked about,
    relative to the top of the work tree, empty at the top. *commits*: the last ones, newest first.
    """

    branch: bytes | None
    place: str
    operations: tuple[Operation, ...]
    status: Status
    commits: tuple[Commit, ...]


def read_facts(directory: str, config: Config) -> Facts:
    """Read the repository around *directory*.

    Raises a `GitReadingError` where there is nothing to tell.
    """
    repository = open_repository(directory, Deadline(config.timeout))
    status = _status(repository, untracked=config.untracked)
    return Facts(
        branch=_branch(repository),
        place=repository.place,
        operations=operations(repository.git_dir),
        status=status,
        commits=_commits(repository, config.max_commits) if status.head else (),
    )


def read_branch(directory: str, config: Config) -> bytes | None:
    """Read the branch checked out around *directory*, None where head is detached.

    Raises a `GitReadingError` where there is nothing to tell.
    """
    return _branch(open_repository(directory, Deadline(config.timeout)))


def _branch(repository: Repository) -> bytes | None:
    answer = repository.ask("symbolic-ref", "--quiet", "HEAD")
    if answer.code != 0:
        return None
    return answer.stdout.removesuffix(b"\n").removeprefix(b"refs/heads/")


def _status(repository: Repository, *, untracked: bool) -> Status:
    look = "normal" if untracked else "no"
    options = repository.filters_off()
    answer = repository.ask(*STATUS, f"--untracked-files={look}", options=options)
    if answer.code:
        raise RefusedError(complaint(answer))
    return parse_status(answer.stdout, complete=answer.complete)


def _commits(repository: Repository, count: int) -> tuple[Commit, ...]:
    return parse_commits(repository.ask(*commits_arguments(count)).stdout) if count else ()
