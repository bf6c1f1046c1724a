"""One reading: find the files, make them safe, fit them into the budget."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsh_prompt.untrusted import (
    Problem,
    Reader,
    UnusableError,
    clean,
    decode,
    signature,
    visible_name,
)
from dsh_prompt_agents_md.config import Config
from dsh_prompt_agents_md.fitting import fit
from dsh_prompt_agents_md.places import candidates
from dsh_prompt_agents_md.siblings import Found, circular, distinct
from dsh_prompt_agents_md.values import InstructionFile, Instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dsh_prompt.untrusted import Candidate


def read_instructions(
    workdir: str | os.PathLike[str], config: Config | None = None
) -> Instructions:
    """Read the instruction files for an agent that works in *workdir*.

    Nothing that is wrong with a file raises: it is in the `problems` of what is returned.
    """
    config = config or Config()
    if not config.max_bytes:
        return Instructions("")
    try:
        # Where a link leads to is where the agent works.
        directory = os.path.realpath(os.fspath(workdir))
    except ValueError:
        return _nothing(workdir, "is not a path")
    except OSError as exc:
        # A relative path leads nowhere once the directory of the process is gone.
        return _nothing(workdir, f"cannot be found: {exc.strerror}")
    problems: list[Problem] = []
    found = _find(directory, config, problems)
    fitted = fit(_cleaned(found, config.max_bytes, problems), config.max_bytes)
    problems += _missing(found, fitted.files, config.max_bytes)
    return Instructions(fitted.text, fitted.files, tuple(problems))


def _nothing(workdir: str | os.PathLike[str], what: str) -> Instructions:
    return Instructions("", (), (Problem(visible_name(os.fspath(workdir)), what),))


# What was found is not kept for the next time. To tell that nothing has changed takes about half
# as long as a reading, which is half a millisecond before a model call of seconds.
def _find(directory: str, config: Config, problems: list[Problem]) -> list[Found]:
    found: list[Found] = []
    with Reader() as reader:
        for siblings in candidates(directory, config):
            files = list(_readable(reader, siblings, config.max_file_bytes, problems))
            what = "is not shown: what it points to only points on, in a circle"
            problems += [_problem(file.candidate, what) for file in circular(files)]
            found += distinct(files)
    return found


def _readable(
    reader: Reader, siblings: Iterable[Candidate], limit: int, problems: list[Problem]
) -> Iterator[Found]:
    for candidate in siblings:
        try:
            if data := reader.read(candidate, limit):
                yield Found(candidate, decode(data))
        except UnusableError as exc:
            problems.append(_problem(candidate, str(exc)))


def _cleaned(found: Sequence[Found], limit: int, problems: list[Problem]) -> list[InstructionFile]:
    """Make the files safe to show, as far as *limit* bytes could hold them."""
    files: list[InstructionFile] = []
    room = limit
    for file in reversed(found):
        # Nobody is to wait for the cleaning of what is thrown away then.
        if files and len(file.text) > room:
            room = 0
            files.append(InstructionFile(file.candidate.shown, "", "left out"))
            continue
        room -= len(file.text)
        cleaned = clean(file.text[: limit + 1])
        problems += [_problem(file.candidate, what) for what in cleaned.findings()]
        files.append(InstructionFile(file.candidate.shown, cleaned.text, "whole"))
    return files[::-1]


def _missing(
    found: Iterable[Found], files: Iterable[InstructionFile], limit: int
) -> Iterator[Problem]:
    for one, file in zip(found, files, strict=True):
        if file.shown != "whole":
            what = f"is {file.shown}: all files together exceed {limit} bytes"
            yield _problem(one.candidate, what)


def _problem(candidate: Candidate, what: str) -> Problem:
    return Problem(candidate.shown, what, signature(candidate.path))
