"""The repository around a directory, and the one way to ask it something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt_git.errors import NothingToReadError, RefusedError
from dsh_prompt_git.executable import find_git, safe_path
from dsh_prompt_git.process import Deadline, run
from dsh_prompt_git.sealing import (
    FILTER_SETTINGS,
    filter_overrides,
    sealed_environment,
    sealed_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt_git.process import Output

#: Of one answer; a longer one is cut, so that no repository fills the memory.
LIMIT: Final = 1 << 20


@attrs.frozen
class Repository:
    """A repository with a work tree, under a deadline.

    *root*: the top of the work tree. *git_dir*: where its own state is. *place*: the directory
    that was asked about, relative to *root*, empty at the top.
    """

    root: str
    git_dir: str
    place: str
    _git: _Git

    def ask(self, *arguments: str, options: Sequence[str] = ()) -> Output:
        """Run one git command at the top of the work tree; a failure is in the result."""
        return self._git.run(*arguments, options=options)

    def filters_off(self) -> list[str]:
        """Give the options for a command that may compare the contents of files.

        Raises `RefusedError` where git cannot list the drivers, or lists too many.
        """
        listed = self.ask(*FILTER_SETTINGS)
        none_configured = 1
        if listed.code not in (0, none_configured):
            raise RefusedError(complaint(listed))
        return filter_overrides(listed.stdout)


@attrs.frozen
class _Git:
    """The program, and how it is run."""

    program: str
    root: str
    environment: dict[str, str]
    deadline: Deadline

    def run(self, *arguments: str, options: Sequence[str] = ()) -> Output:
        return run(
            [self.program, *sealed_options(), *options, *arguments],
            cwd=self.root,
            env=self.environment,
            deadline=self.deadline,
            limit=LIMIT,
        )


def open_repository(directory: str, deadline: Deadline) -> Repository:
    """Find the repository that *directory* lies in.

    Raises `NothingToReadError` where there is none or it has no work tree, `RefusedError` where
    git does not accept it.
    """
    directory = _real(directory)
    root = _find_root(directory)
    search_path = safe_path(root, os.environ.get("PATH", os.defpath))
    environment = sealed_environment(os.environ, search_path)
    git = _Git(find_git(root, search_path), root, environment, deadline)
    place = os.path.relpath(directory, root)
    return Repository(root, _git_dir(git), "" if place == os.curdir else place, git)


def _real(directory: str) -> str:
    try:
        return os.path.realpath(directory)
    except (OSError, ValueError) as exc:
        raise NothingToReadError(f"there is no such directory: {exc}") from exc


def _find_root(directory: str) -> str:
    """Give the nearest directory upward that git would take for the top of a work tree."""
    folder = directory
    while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            raise NothingToReadError("there is no repository around the directory")
        folder = parent
    return folder


def _git_dir(git: _Git) -> str:
    """Give the directory of the repository's state, where its work tree is the expected one.

    The way up is empty there; it is not where a setting moves the work tree elsewhere, which would
    list a directory that nobody asked about.
    """
    answer = git.run("rev-parse", "--show-cdup", "--absolute-git-dir")
    if answer.code != 0:
        raise RefusedError(complaint(answer))
    way_up, _, git_dir = answer.stdout.partition(b"\n")
    if way_up or not git_dir:
        raise NothingToReadError("the repository has no work tree here")
    return os.fsdecode(git_dir.removesuffix(b"\n"))


def complaint(output: Output) -> str:
    """Give the first line that git wrote about its failure."""
    first = output.stderr.partition(b"\n")[0].decode("utf-8", "backslashreplace")
    return first or f"git ended with {output.code}"
