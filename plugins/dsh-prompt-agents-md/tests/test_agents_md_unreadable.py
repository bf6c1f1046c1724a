"""What is there but cannot be read is reported, and stops nobody."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_agents_md import Instructions


needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _directory(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _through_a_file(path: Path) -> None:
    path.with_name("file").write_text("x")
    path.symlink_to("file/below")


def _link_to_a_directory(path: Path) -> None:
    path.symlink_to(".")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_directory, "is not read: it is not a regular file"),
        (_pipe, "is not read: it is not a regular file"),
        (_socket, "cannot be read: "),
        (_dangling, "cannot be read: it is a link that leads nowhere"),
        (_loop, "cannot be read: "),
        (_through_a_file, "cannot be read: "),
        (_link_to_a_directory, "is not read: it is not a regular file"),
    ],
)
@pytest.mark.parametrize("whose", ["the project's", "the user's"])
def test_what_is_no_file(
    make: Callable[[Path], None],
    what: str,
    whose: str,
    project: Path,
    write: Callable[..., Path],
    reading: Callable[..., Instructions],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever has a file's name without being one is reported, and the next file is read."""
    monkeypatch.chdir(project.parent)
    name = "AGENTS.md" if whose == "the project's" else "mine"
    make(project / name)
    write("CLAUDE.md", "Fine.")
    instructions = reading(user_files=(str(project / "mine"),))
    assert [file.path for file in instructions.files] == ["CLAUDE.md"]
    (problem,) = instructions.problems
    assert problem.path.endswith(name)
    assert problem.what.startswith(what)


@pytest.mark.posix
def test_no_permission(write: Callable[..., Path], problems: Callable[..., list[str]]) -> None:
    """A file that the user may not read is reported."""
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write("AGENTS.md").chmod(0)
    assert problems() == ["AGENTS.md cannot be read: Permission denied"]


@pytest.mark.posix
def test_directory_that_may_not_be_listed(
    project: Path, write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """A directory that may be passed through but not listed hides nothing whose name is known."""
    write("src/AGENTS.md")
    (project / "src").chmod(0o111)
    assert paths("src") == ["src/AGENTS.md"]


@pytest.mark.parametrize(("size", "fits"), [(100, True), (101, False)])
def test_limit_of_a_file(
    size: int,
    fits: bool,
    write: Callable[..., Path],
    paths: Callable[..., list[str]],
    problems: Callable[..., list[str]],
) -> None:
    """A file may have as many bytes as are allowed, and not one more."""
    write("AGENTS.md", "x" * size)
    assert paths(max_file_bytes=100) == ["AGENTS.md"] * fits
    complaint = "AGENTS.md is not read: it has more than 100 bytes"
    assert problems(max_file_bytes=100) == [complaint] * (not fits)


@needs_proc
def test_limit_of_a_file_that_does_not_tell_its_size(problems: Callable[..., list[str]]) -> None:
    """A file that had no size when it was opened is read up to the limit and not further."""
    assert Path("/proc/self/status").stat().st_size == 0
    complaint = "/proc/self/status is not read: it has more than 16 bytes"
    assert problems(user_files=("/proc/self/status",), max_file_bytes=16) == [complaint]


@needs_proc
@pytest.mark.posix
def test_no_descriptor_is_left_open(
    project: Path, write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """However a reading ends, what it opened is closed."""
    write("AGENTS.md", "x" * 200)
    write("src/AGENTS.md", "fine")
    (project / "src/CLAUDE.md").mkdir()
    _pipe(project / "CLAUDE.md")
    before = _descriptors()
    assert len(reading("src", max_file_bytes=100).problems) == 3
    assert _descriptors() == before
