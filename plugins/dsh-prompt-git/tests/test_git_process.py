"""A git that hangs, floods or leaves children: a real program of that name."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_git.errors import OutOfTimeError, RefusedError
from dsh_prompt_git.process import Deadline, run

from dsh_prompt import render_context_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PromptAssembly

_LIMIT = 1000


@pytest.fixture
def stand_in(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give a function that puts a shell script in the place of git.

    The script's `real` is the real answer to where the repository is.
    """

    def put(script: str) -> None:
        program = tmp_path / "programs/git"
        program.parent.mkdir()
        answer = f"real() {{ printf '\\n{repo}/.git\\n'; }}\n"
        program.write_text(f"#!/bin/sh\n{answer}{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    return put


@pytest.fixture
def witness(tmp_path: Path) -> Callable[[], bytes]:
    """Give a function that waits until nobody holds the pipe `witness`, and gives what came.

    A process that was killed said nothing; one that was left alone says so in the end.
    """
    path = tmp_path / "witness"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait() -> bytes:
        os.set_blocking(reading, True)
        with os.fdopen(reading, "rb") as pipe:
            return pipe.read()

    return wait


_HANG = "exec 9>'{witness}'; (sleep 20; echo survived >&9) & sleep 20; echo survived >&9"


@pytest.mark.parametrize("when", ["rev-parse", "config", "status", "rev-list"])
def test_git_that_hangs(
    when: str,
    repo: Path,
    tmp_path: Path,
    stand_in: Callable[[str], None],
    witness: Callable[[], bytes],
    lines: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A git that does not answer in time gives no context and one warning, and is killed whole."""
    hang = _HANG.format(witness=tmp_path / "witness")
    status = "printf '# branch.oid 1234\\0'"
    stand_in(
        f'case "$*" in *{when}*) {hang};; *rev-parse*) real;; *status*) {status};; *) exit 1;; esac'
    )
    assert lines(repo, timeout=0.3) == []
    assert witness() == b""
    warnings = [entry for entry in caplog.records if entry.levelno >= logging.WARNING]
    assert [entry.name for entry in warnings] == ["dsh_prompt_git"]
    assert "did not answer within 0.3 s" in warnings[0].getMessage()


def test_child_that_holds_the_output(
    repo: Path,
    tmp_path: Path,
    stand_in: Callable[[str], None],
    witness: Callable[[], bytes],
    lines: Callable[..., list[str]],
) -> None:
    """A child that git left behind, its output still open, is killed too."""
    stand_in(f"(exec 9>'{tmp_path}/witness'; sleep 20; echo survived >&9) & real")
    assert lines(repo, timeout=0.3) == []
    assert witness() == b""


def test_status_without_end(
    repo: Path, stand_in: Callable[[str], None], lines: Callable[..., list[str]]
) -> None:
    """Of an endless list the first part is read, and the count says that there is more."""
    flood = r"printf '# branch.oid 1234\0'; yes '? name' | tr '\n' '\0'"
    stand_in(f'case "$*" in *rev-parse*) real;; *status*) {flood};; *) exit 1;; esac')
    shown = lines(repo, max_files=1)
    assert shown[0] == "branch: none, detached at 1234"
    assert shown[1].startswith("untracked: 1")
    assert shown[1].endswith("+")
    assert shown[2] == "- name"
    assert shown[3].endswith("+ more)")


def test_huge_work_tree(
    repo: Path, commit: Callable[..., None], lines: Callable[..., list[str]]
) -> None:
    """A real git that lists more than is read gives a count that says so."""
    # Long paths, so that few files are enough; with a tracked one, git lists each of the others.
    folder = "/".join(["d" * 250] * 3)
    commit(f"{folder}/tracked")
    for number in range(1100):
        (repo / folder / f"{number:0250}").touch()
    shown = lines(repo, max_commits=0, max_files=1)
    assert shown[1] == "untracked: 1042+"


def test_complaints_without_end(
    repo: Path,
    stand_in: Callable[[str], None],
    lines: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A git that fails with more words than anybody reads is warned of in a short line."""
    stand_in("yes '\x1b[31mno' | head -c 1000000 | tr '\\n' ' ' >&2; exit 3")
    assert lines(repo) == []
    warnings = [entry.getMessage() for entry in caplog.records if entry.name == "dsh_prompt_git"]
    assert r"\x1b[31mno" in warnings[-1]
    assert max(map(len, warnings)) < 3000


@pytest.mark.parametrize("trap", [".gitattributes", ".gitignore", ".git/pipe"])
def test_pipe_that_nobody_writes(
    trap: str,
    repo: Path,
    git: Callable[..., str],
    assemble: Callable[..., PromptAssembly],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A repository that makes the real git wait for ever costs the timeout and nothing more."""
    git("config", "include.path", "pipe" if trap == ".git/pipe" else "nothing")
    os.mkfifo(repo / trap)
    os.utime(repo / "first.txt", (1, 1))
    (repo / "new.txt").touch()
    assert render_context_snapshot(assemble(repo, timeout=0.5)) == ""
    assert "did not answer within 0.5 s" in caplog.text


def _run(script: str, seconds: float = 30.0) -> tuple[int | None, bytes, bytes]:
    output = run(
        ["/bin/sh", "-c", script],
        cwd="/",
        env=dict(os.environ),
        deadline=Deadline(seconds),
        limit=_LIMIT,
    )
    return output.code, output.stdout, output.stderr


def test_program_that_ends() -> None:
    """The result of a program is its status and what it wrote to either side."""
    assert _run("echo out; echo err >&2; exit 7") == (7, b"out\n", b"err\n")


def test_program_without_input() -> None:
    """A program that reads finds nothing to read and no terminal."""
    assert _run("cat; : </dev/tty")[1] == b""


@pytest.mark.parametrize("size", [_LIMIT - 1, _LIMIT, _LIMIT + 1, 1_000_000])
def test_output_up_to_the_limit(size: int) -> None:
    """Output below the limit is whole; from the limit on it is cut and the program stopped."""
    code, said, _ = _run(f"head -c {size} /dev/zero")
    assert (code is None, len(said)) == (size >= _LIMIT, min(size, _LIMIT))


def test_output_closed_early() -> None:
    """A program that closes its output and goes on is out of time all the same."""
    with pytest.raises(OutOfTimeError, match=r"within 0\.2 s"):
        _run("exec >&- 2>&-; sleep 20", seconds=0.2)


def test_no_time_left() -> None:
    """A deadline that passed starts nothing."""
    deadline = Deadline(0)
    with pytest.raises(OutOfTimeError):
        run(["/nowhere"], cwd="/", env={}, deadline=deadline, limit=1)


@pytest.mark.parametrize("command", [["/nowhere"], ["/bin/echo", "\0"], ["/bin/echo", "x" * 10**7]])
def test_program_that_cannot_start(command: list[str]) -> None:
    """A program that is not there or cannot take its arguments is refused."""
    with pytest.raises(RefusedError, match="cannot be started"):
        run(command, cwd="/", env={}, deadline=Deadline(5), limit=1)
