"""The facts in words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from dsh_prompt_git.escaping import file_name, visible
from dsh_prompt_git.status import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_git.config import Config
    from dsh_prompt_git.facts import Facts
    from dsh_prompt_git.operations import Operation
    from dsh_prompt_git.status import Entry, Status

_NAME: Final = 200
_SUBJECT: Final = 100
_HASH: Final = 10
_NAMES_FROM_TOP: Final = "file names below are relative to the top of the repository"


def describe(facts: Facts, config: Config) -> str:
    """Say *facts* to a model: one fact a line, the same words for the same facts."""
    return "\n".join(_lines(facts, config))


def _lines(facts: Facts, config: Config) -> Iterator[str]:
    yield f"branch: {_branch(facts)}"
    if facts.status.upstream:
        yield f"upstream: {_upstream(facts.status)}"
    for operation in facts.operations:
        yield f"under way: {_operation(operation)}"
    if facts.place:
        yield f"working directory: {file_name(os.fsencode(facts.place), _NAME)} ({_NAMES_FROM_TOP})"
    yield from _files(facts.status, config)
    yield from _commits(facts)


def _branch(facts: Facts) -> str:
    head = facts.status.head
    if facts.branch is None:
        return f"none, detached at {_hash(head)}" if head else "none"
    name = visible(facts.branch, _NAME)
    return name if head else f"{name} (no commit yet)"


def _upstream(status: Status) -> str:
    name = visible(status.upstream or b"", _NAME)
    if status.distance is None:
        return f"{name} (distance unknown)"
    ahead, behind = status.distance
    return f"{name} ({ahead} ahead, {behind} behind)" if ahead or behind else f"{name} (up to date)"


def _operation(operation: Operation) -> str:
    started = f", begun on {visible(operation.branch, _NAME)}" if operation.branch else ""
    step = " (step {} of {})".format(*operation.step) if operation.step else ""
    return f"{operation.name}{started}{step}"


def _files(status: Status, config: Config) -> Iterator[str]:
    if status.clean:
        yield "files: clean"
    for group in GROUPS:
        yield from _group(group, status, config.max_files)
    if not config.untracked:
        yield "untracked: not looked for"


def _group(name: str, status: Status, shown: int) -> Iterator[str]:
    entries, more = status.files[name], name in status.open_groups
    if entries or more:
        yield f"{name}: {len(entries)}{'+' if more else ''}"
    yield from map(_entry, entries[:shown])
    if 0 < shown < len(entries):
        yield f"({len(entries) - shown}{'+' if more else ''} more)"


def _entry(entry: Entry) -> str:
    kind = "" if entry.kind == "untracked" else f"{entry.kind}: "
    origin = f"{file_name(entry.origin, _NAME)} -> " if entry.origin else ""
    return f"- {kind}{origin}{file_name(entry.path, _NAME)}"


def _commits(facts: Facts) -> Iterator[str]:
    if facts.commits:
        yield "last commits:"
    for commit in facts.commits:
        yield f"- {_hash(commit.hash)} {visible(commit.subject, _SUBJECT)}".rstrip()


def _hash(whole: bytes) -> str:
    return whole[:_HASH].decode("ascii", "replace")
