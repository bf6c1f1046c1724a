"""Why a reading gave nothing; none of these leaves the plugin."""

from __future__ import annotations


class GitReadingError(Exception):
    """Raised when facts cannot be read; the root of the others."""


class NothingToReadError(GitReadingError):
    """Raised when there is no git, no repository or no work tree: an ordinary state."""


class RefusedError(GitReadingError):
    """Raised when git refuses a repository, or reading it safely is not possible."""


class OutOfTimeError(GitReadingError):
    """Raised when a reading takes longer than its timeout."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"git did not answer within {seconds:g} s")
