"""The last commits, by the plumbing command that no setting decorates."""

from __future__ import annotations

import attrs


@attrs.frozen
class Commit:
    """A commit: its whole hash and the first paragraph of its message in one line."""

    hash: bytes
    subject: bytes


def commits_arguments(count: int) -> tuple[str, ...]:
    """Give the arguments whose output `parse_commits` reads."""
    return (
        "rev-list",
        f"--max-count={count}",
        "--format=%H %s",
        "--encoding=UTF-8",
        "HEAD",
        "--",
    )


def parse_commits(output: bytes) -> tuple[Commit, ...]:
    """Read the commits, newest first; a cut subject of the last one stays cut.

    A line with the word commit goes before each, and a message cannot bring another line in.
    """
    lines = output.split(b"\n")[1::2]
    parted = (line.partition(b" ") for line in lines if line)
    return tuple(Commit(hash_, subject) for hash_, _, subject in parted)
