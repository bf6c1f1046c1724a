"""Where nothing can be told there is no context, no variable and no error."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PromptAssembly


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Give a function that lists the plugin's warnings."""

    def found() -> list[str]:
        ours = [entry for entry in caplog.records if entry.name == "dsh_prompt_git"]
        return [entry.getMessage() for entry in ours if entry.levelno >= logging.WARNING]

    return found


@pytest.fixture
def silent(
    assemble: Callable[..., PromptAssembly], lines: Callable[..., list[str]]
) -> Callable[[Path], bool]:
    """Give a function that tells whether neither the context nor the variable says anything."""

    def ask(workdir: Path) -> bool:
        return lines(workdir) == [] and assemble(workdir).variables["git_branch"] is None

    return ask


def test_no_repository(
    tmp_path: Path, silent: Callable[[Path], bool], warnings: Callable[[], list[str]]
) -> None:
    """Outside of a repository nothing is said and nobody is warned."""
    assert silent(tmp_path)
    assert warnings() == []


def test_no_directory(tmp_path: Path, silent: Callable[[Path], bool]) -> None:
    """A working directory that is not there is like one outside of a repository."""
    assert silent(tmp_path / "missing")


def test_directory_that_is_a_file(repo: Path, lines: Callable[..., list[str]]) -> None:
    """A file in place of the working directory does no harm."""
    assert lines(repo / "first.txt")[0] == "branch: main"


def test_process_directory_gone(
    tmp_path: Path, assemble: Callable[..., PromptAssembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose working directory was deleted gets no context."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert assemble(None).variables["git_branch"] is None


def test_impossible_directory(tmp_path: Path, lines: Callable[..., list[str]]) -> None:
    """A working directory with a zero byte in its name is no error."""
    assert lines(tmp_path / "a\0b") == []


def test_bare_repository(
    tmp_path: Path,
    git: Callable[..., str],
    silent: Callable[[Path], bool],
    warnings: Callable[[], list[str]],
) -> None:
    """A bare repository has no work tree to tell of."""
    git("init", "-q", "--bare", str(tmp_path / "bare"))
    assert silent(tmp_path / "bare")
    assert warnings() == []


def test_bare_by_setting(
    repo: Path, git: Callable[..., str], silent: Callable[[Path], bool]
) -> None:
    """A repository that is bare by its setting has no work tree either."""
    git("config", "core.bare", "true")
    assert silent(repo)


def test_no_git(
    repo: Path, silent: Callable[[Path], bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without git on the search path nothing is said."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert silent(repo)


def test_git_that_cannot_start(
    repo: Path, silent: Callable[[Path], bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A git that the system refuses to start is no error."""
    broken = tmp_path / "git"
    broken.write_bytes(b"\x00\x01not a program")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert silent(repo)


@pytest.mark.parametrize("file", ["HEAD", "index", "config"])
def test_corrupt(
    file: str, repo: Path, lines: Callable[..., list[str]], warnings: Callable[[], list[str]]
) -> None:
    """A repository with a damaged file of its own gives no context and a warning."""
    (repo / ".git" / file).write_bytes(b"\x00garbage\x1b" * 9)
    assert lines(repo) == []
    assert not any("\x1b" in warning for warning in warnings())


def test_missing_objects(repo: Path, lines: Callable[..., list[str]]) -> None:
    """A repository that lost its objects gives no context."""
    for item in sorted((repo / ".git/objects").glob("??/*")):
        item.unlink()
    assert lines(repo) == []


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere\n", "gitdir: \x1b\n", "\x00" * 9])
def test_git_file_that_leads_nowhere(
    content: str, tmp_path: Path, silent: Callable[[Path], bool]
) -> None:
    """A `.git` file that names no repository is like a repository that is damaged."""
    (tmp_path / ".git").write_text(content)
    assert silent(tmp_path)


def test_empty_git_folder_hides_the_outer_repository(
    repo: Path, silent: Callable[[Path], bool]
) -> None:
    """A folder with a `.git` of its own is not told of as a part of the one around it."""
    (repo / "inner/.git").mkdir(parents=True)
    assert silent(repo / "inner")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_repository_of_somebody_else(
    repo: Path, silent: Callable[[Path], bool], warnings: Callable[[], list[str]]
) -> None:
    """A repository that git takes for unsafe stays unread, with git's reason in the log."""
    for path in (repo, repo / ".git"):
        os.chown(path, 12345, 12345)
    assert silent(repo)
    assert all("dubious ownership" in warning for warning in warnings())
    assert warnings() != []


def test_work_tree_elsewhere(
    repo: Path, tmp_path: Path, git: Callable[..., str], silent: Callable[[Path], bool]
) -> None:
    """A setting that moves the work tree does not make another directory's names known."""
    (tmp_path / "secret").mkdir()
    for target in (tmp_path / "secret", tmp_path):
        git("config", "core.worktree", str(target))
        assert silent(repo)
