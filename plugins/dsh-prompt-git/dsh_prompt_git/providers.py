"""What the host calls in each assembly: a reading, and what its failures become."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Final, TypeVar

from dsh_prompt_git.errors import GitReadingError, NothingToReadError
from dsh_prompt_git.escaping import visible
from dsh_prompt_git.facts import read_branch, read_facts
from dsh_prompt_git.text import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext
    from dsh_prompt_git.config import Config

_T = TypeVar("_T")
_LOG: Final = logging.getLogger("dsh_prompt_git")
_LONGEST_REASON: Final = 500
_LONGEST_BRANCH: Final = 1000


def context_provider(config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the context's text, empty where there is nothing to tell."""

    def git(context: AssembleContext) -> str:
        facts = _attempt(read_facts, context, config, failure=logging.WARNING)
        return "" if facts is None else describe(facts, config)

    return git


def branch_provider(config: Config) -> Callable[[AssembleContext], str | None]:
    """Make the provider of the branch's name, None where there is none.

    Its failures are the context's too, which warns of them.
    """

    def git_branch(context: AssembleContext) -> str | None:
        name = _attempt(read_branch, context, config, failure=logging.DEBUG)
        return None if name is None else visible(name, _LONGEST_BRANCH)

    return git_branch


def _attempt(
    read: Callable[[str, Config], _T], context: AssembleContext, config: Config, *, failure: int
) -> _T | None:
    """Read for *context*; what goes wrong is logged, an ordinary absence at debug level alone."""
    try:
        return read(_directory(context), config)
    except NothingToReadError as exc:
        _log(logging.DEBUG, exc)
    except (GitReadingError, OSError) as exc:
        _log(failure, exc)
    return None


def _directory(context: AssembleContext) -> str:
    workdir = context.state.workdir if context.state is not None else None
    return os.fspath(workdir) if workdir else os.getcwd()  # noqa: PTH109


def _log(level: int, reason: Exception) -> None:
    text = visible(str(reason).encode("utf-8", "backslashreplace"), _LONGEST_REASON)
    _LOG.log(level, "nothing to tell of a git repository: %s", text)
