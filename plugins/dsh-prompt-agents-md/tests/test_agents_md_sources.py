"""Which files are read, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dsh_prompt_agents_md import read_instructions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ["AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"]


def test_order_within_a_directory(
    write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """Files that everybody shares stand before local ones."""
    for name in reversed(NAMES):
        write(name, f"{name} says this.")
    assert paths() == NAMES


def test_order_of_directories(
    home: Path, write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """The user's file is first, then come the project's, from its top to the working directory."""
    (home / ".config").mkdir()
    (home / ".config/AGENTS.md").write_text("Of mine.")
    for folder in ("a/b/c", "a/b", "a", "a/other", "."):
        write(f"{folder}/AGENTS.md", f"In {folder}.")
    assert paths("a/b") == ["~/.config/AGENTS.md", "AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"]


def test_nothing_above_the_top(project: Path, paths: Callable[..., list[str]]) -> None:
    """What lies above the top of the project is not read."""
    (project.parent / "AGENTS.md").write_text("Not mine.")
    assert paths() == []


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_nearest_marker_is_the_top(
    kind: str, project: Path, write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """The marker is a directory, or a file as in worktrees and submodules; the nearest counts."""
    write("AGENTS.md", "Outer.")
    write("vendor/inner/AGENTS.md", "Inner.")
    marker = project / "vendor/inner/.git"
    marker.mkdir() if kind == "directory" else marker.write_text("gitdir: elsewhere")
    write("vendor/inner/src/AGENTS.md", "Deepest.")
    assert paths("vendor/inner/src") == ["AGENTS.md", "src/AGENTS.md"]


def test_without_a_marker(tmp_path: Path) -> None:
    """Where there is no project, the working directory stands alone."""
    folder = tmp_path / "loose/inner"
    folder.mkdir(parents=True)
    for place in (folder, folder.parent):
        (place / "AGENTS.md").write_text(f"In {place.name}.")
    assert [file.text for file in read_instructions(folder).files] == ["In inner."]


def test_settings_name_files_and_markers(
    project: Path, write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """Other names and markers can be set."""
    write("AGENTS.md", "Not asked for.")
    write("deep/TOP", "")
    write("deep/GEMINI.md", "One.")
    write("deep/mine.md", "Two.")
    settings = {"base_names": ("GEMINI.md",), "local_names": ("mine.md",), "root_markers": ("TOP",)}
    assert paths("deep", **settings) == ["GEMINI.md", "mine.md"]


def test_several_user_files(home: Path, paths: Callable[..., list[str]]) -> None:
    """The user's files are read in the order in which they are set; those that lack are not."""
    for name in (".codex/AGENTS.md", ".claude/CLAUDE.md"):
        (home / name).parent.mkdir()
        (home / name).write_text(f"From {name}.")
    files = ("~/.claude/CLAUDE.md", "~/.none/AGENTS.md", str(home / ".codex/AGENTS.md"))
    assert paths(user_files=files) == ["~/.claude/CLAUDE.md", "~/.codex/AGENTS.md"]


def test_user_file_outside_of_the_home(tmp_path: Path, paths: Callable[..., list[str]]) -> None:
    """A user's file that is not in the home is shown by its whole path."""
    file = tmp_path / "shared.md"
    file.write_text("For all of us.")
    assert paths(user_files=(str(file),)) == [file.as_posix()]


@pytest.mark.posix
def test_user_file_may_be_a_link_to_anywhere(
    home: Path, tmp_path: Path, shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """A user's own file is followed wherever it leads: managers of dotfiles make such links."""
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "agents").write_text("Kept elsewhere.")
    (home / ".config").symlink_to(dotfiles)
    (dotfiles / "AGENTS.md").symlink_to("agents")
    assert shown() == [("~/.config/AGENTS.md", "Kept elsewhere.")]


def test_home_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, paths: Callable[..., list[str]]
) -> None:
    """A path below a home that does not exist names no file."""
    assert paths(user_files=("~nobody-of-that-name/AGENTS.md",)) == []


@pytest.mark.posix
def test_working_directory_that_is_a_link(
    project: Path, tmp_path: Path, write: Callable[..., Path]
) -> None:
    """A link to a directory stands for what it leads to, and so do the directories above it."""
    write("AGENTS.md", "Top.")
    write("src/AGENTS.md", "Source.")
    (tmp_path / "way-in").symlink_to(project / "src")
    files = read_instructions(tmp_path / "way-in").files
    assert [file.path for file in files] == ["AGENTS.md", "src/AGENTS.md"]


def test_relative_working_directory(
    project: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path starts at the working directory of the process."""
    write("src/AGENTS.md")
    monkeypatch.chdir(project)
    assert [file.path for file in read_instructions("src").files] == ["src/AGENTS.md"]


def test_directory_that_is_not_there(project: Path, write: Callable[..., Path]) -> None:
    """A directory that does not exist yet has the instructions of those above it."""
    write("AGENTS.md")
    instructions = read_instructions(project / "not/yet")
    assert [file.path for file in instructions.files] == ["AGENTS.md"]
    assert instructions.problems == ()


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_is_no_path(path: str) -> None:
    """What the file system cannot name gives no text and one problem."""
    instructions = read_instructions(path)
    assert (instructions.text, instructions.files) == ("", ())
    assert [problem.what for problem in instructions.problems] == ["is not a path"]


@pytest.mark.posix
def test_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path from a directory that was removed gives no text and one problem."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    instructions = read_instructions(".")
    assert (instructions.text, instructions.files) == ("", ())
    assert list(map(str, instructions.problems)) == [". cannot be found: No such file or directory"]


@pytest.mark.parametrize("content", ["", " \n\t\n", "\ufeff\n"])
def test_empty_file(
    content: str, write: Callable[..., Path], reading: Callable[..., object]
) -> None:
    """A file without a word in it is as good as none."""
    write("AGENTS.md", content)
    assert reading() == reading("elsewhere")


def test_order_does_not_depend_on_the_file_system(
    write: Callable[..., Path], reading: Callable[..., object], project: Path
) -> None:
    """The files may have come to be in any order."""
    for name in NAMES:
        write(name, name * 2)
    before = reading()
    for name in NAMES:
        (project / name).rename(project / "aside")
        (project / "aside").rename(project / name)
    assert reading() == before
