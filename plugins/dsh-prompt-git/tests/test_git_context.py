"""What the context says of a repository in each of its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import dsh_prompt_git
import pytest

from dsh_prompt import RuntimeState, SystemPrompt, render_context_snapshot
from dsh_prompt.testing import assert_context

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PromptAssembly

_TASTE = (
    "color.ui=always",
    "column.ui=always",
    "core.abbrev=4",
    "core.quotePath=true",
    "diff.renames=false",
    "format.pretty=%n%n%B",
    "i18n.logOutputEncoding=utf-16",
    "log.decorate=full",
    "log.showSignature=true",
    "notes.displayRef=*",
    "status.aheadBehind=false",
    "status.branch=false",
    "status.relativePaths=true",
    "status.renames=false",
    "status.short=true",
    "status.showStash=true",
    "status.showUntrackedFiles=no",
    "status.submoduleSummary=true",
)


def test_clean_work_tree(repo: Path, lines: Callable[..., list[str]]) -> None:
    """A clean work tree is said to be so, between the branch and the last commit."""
    assert lines(repo) == [
        "branch: main",
        "files: clean",
        "last commits:",
        "- 04a85ff0b6 Add first.txt",
    ]


def test_each_group_counts_and_names_its_files(
    repo: Path,
    git: Callable[..., str],
    write: Callable[..., Path],
    commit: Callable[..., None],
    lines: Callable[..., list[str]],
) -> None:
    """Staged, changed and untracked files are counted and named with what happened to them."""
    commit("gone.txt", "other\n")
    git("mv", "first.txt", "moved.txt")
    write("new.txt", "new\n")
    git("add", "new.txt")
    write("new.txt", "newer\n")
    (repo / "gone.txt").unlink()
    write("folder/untracked.txt")
    assert lines(repo, max_commits=0) == [
        "branch: main",
        "staged: 2",
        "- renamed: first.txt -> moved.txt",
        "- added: new.txt",
        "changed: 2",
        "- deleted: gone.txt",
        "- modified: new.txt",
        "untracked: 1",
        "- folder/",
    ]


def test_changed_type(repo: Path, lines: Callable[..., list[str]]) -> None:
    """A file that became a link has changed its type."""
    (repo / "first.txt").unlink()
    (repo / "first.txt").symlink_to("elsewhere")
    assert "- type changed: first.txt" in lines(repo)


def test_names_are_bounded(
    repo: Path, write: Callable[..., Path], lines: Callable[..., list[str]]
) -> None:
    """A group shows as many names as it may and says how many there are."""
    for number in range(5):
        write(f"{number}.txt")
    assert lines(repo, max_files=2, max_commits=0)[1:] == [
        "untracked: 5",
        "- 0.txt",
        "- 1.txt",
        "(3 more)",
    ]


def test_counts_alone(
    repo: Path, write: Callable[..., Path], lines: Callable[..., list[str]]
) -> None:
    """Without any names the counts remain."""
    write("new.txt")
    assert lines(repo, max_files=0, max_commits=0) == ["branch: main", "untracked: 1"]


def test_untracked_not_looked_for(
    repo: Path, write: Callable[..., Path], lines: Callable[..., list[str]]
) -> None:
    """With untracked files left alone the text says that nobody looked."""
    write("new.txt")
    assert lines(repo, untracked=False, max_commits=0)[1:] == [
        "files: clean",
        "untracked: not looked for",
    ]


def test_last_commits(
    repo: Path, commit: Callable[..., None], lines: Callable[..., list[str]]
) -> None:
    """The last commits come newest first and no more of them than asked for."""
    commit("second.txt")
    commit("third.txt", subject="A subject\nof two lines\n\nand a body")
    shown = lines(repo, max_commits=2)
    assert [line.split(" ", 2)[2] for line in shown[-2:]] == [
        "A subject of two lines",
        "Add second.txt",
    ]


def test_subdirectory(
    repo: Path, commit: Callable[..., None], lines: Callable[..., list[str]]
) -> None:
    """From within the repository the place is told, and names still start at the top."""
    commit("source/inner/file.txt")
    (repo / "source/inner/file.txt").write_text("changed\n")
    shown = lines(repo / "source/inner", max_commits=0)
    assert shown[1].startswith("working directory: source/inner (")
    assert shown[-1] == "- modified: source/inner/file.txt"


def test_process_directory(
    repo: Path, assemble: Callable[..., PromptAssembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a runtime state the process's own working directory counts."""
    monkeypatch.chdir(repo)
    assert "branch: main" in render_context_snapshot(assemble(None))


def test_state_wins_over_process_directory(
    repo: Path, tmp_path: Path, lines: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state's working directory is read though the process is in a repository."""
    monkeypatch.chdir(repo)
    assert lines(tmp_path) == []


def test_empty_repository(
    empty: Path, write: Callable[..., Path], lines: Callable[..., list[str]]
) -> None:
    """Before the first commit the branch and the files can be told."""
    write("new.txt")
    assert lines(empty) == ["branch: main (no commit yet)", "untracked: 1", "- new.txt"]


def test_detached_head(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A detached head is named by its commit."""
    git("checkout", "-q", "--detach")
    assert lines(repo)[0] == f"branch: none, detached at {git('rev-parse', 'HEAD')[:10]}"


def test_branch_called_detached(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A branch with the name that git prints for a detached head is still a branch."""
    git("checkout", "-q", "-b", "(detached)")
    assert lines(repo)[0] == "branch: (detached)"


def test_braces_stay(
    repo: Path,
    git: Callable[..., str],
    write: Callable[..., Path],
    lines: Callable[..., list[str]],
) -> None:
    """Braces in names are text and refer to no variable."""
    git("checkout", "-q", "-b", "{{cwd}}")
    write("{{name}}")
    shown = lines(repo)
    assert "branch: {{cwd}}" in shown
    assert "- {{name}}" in shown


@pytest.mark.parametrize(
    ("commits_here", "commits_there", "said"),
    [(0, 0, "up to date"), (2, 0, "2 ahead, 0 behind"), (1, 3, "1 ahead, 3 behind")],
)
def test_upstream(
    commits_here: int,
    commits_there: int,
    said: str,
    repo: Path,
    git: Callable[..., str],
    lines: Callable[..., list[str]],
) -> None:
    """The distance to the upstream is counted both ways."""
    git("branch", "there")
    git("branch", "--set-upstream-to=there")
    for number in range(commits_there):
        tip = git("commit-tree", "there^{tree}", "-p", "there", "-m", f"there {number}")
        git("update-ref", "refs/heads/there", tip)
    for number in range(commits_here):
        git("commit", "-q", "--allow-empty", "-m", f"here {number}")
    assert lines(repo)[1] == f"upstream: there ({said})"


def test_upstream_gone(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """An upstream that is no longer there has a name and no distance."""
    git("branch", "there")
    git("branch", "--set-upstream-to=there")
    git("branch", "-D", "there")
    assert lines(repo)[1] == "upstream: there (distance unknown)"


def test_linked_work_tree(
    repo: Path, tmp_path: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A linked work tree tells of its own branch and its own operation."""
    git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    git("bisect", "start", at=tmp_path / "linked")
    assert lines(tmp_path / "linked")[:2] == ["branch: other", "under way: bisect, begun on other"]
    assert lines(repo)[:2] == ["branch: main", "files: clean"]


def test_submodule(
    repo: Path, tmp_path: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """Inside a submodule its own repository is told of."""
    source = tmp_path / "source"
    git("clone", "-q", str(repo), str(source))
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "sub")
    git("checkout", "-q", "-b", "inner", at=repo / "sub")
    assert lines(repo / "sub", max_commits=0) == ["branch: inner", "files: clean"]


def test_same_facts_same_text(
    repo: Path, write: Callable[..., Path], assemble: Callable[..., PromptAssembly]
) -> None:
    """Two assemblies of an unchanged repository have the same fingerprint."""
    write("new.txt")
    assert assemble(repo).fingerprint() == assemble(repo).fingerprint()


async def _assemble_async(workdir: Path) -> str:
    prompt = SystemPrompt()
    prompt.load(dsh_prompt_git)
    assembly = await prompt.assemble_async(state=RuntimeState(workdir=str(workdir)))
    return render_context_snapshot(assembly)


def test_async_assembly(repo: Path) -> None:
    """An asynchronous assembly tells the same."""
    assert "branch: main\nfiles: clean" in anyio.run(_assemble_async, repo)


def test_where_it_comes_from(repo: Path, assemble: Callable[..., PromptAssembly]) -> None:
    """The context stands under its name and order and belongs to the plugin."""
    assert assert_context(assemble(repo), "git", plugin="dsh_prompt_git").order == 20


def test_settings_of_taste(
    repo: Path,
    git: Callable[..., str],
    write: Callable[..., Path],
    lines: Callable[..., list[str]],
) -> None:
    """What a user sets for the look of git's output changes nothing."""
    write("größe.txt")
    git("mv", "first.txt", "moved.txt")
    before = lines(repo)
    for setting in _TASTE:
        git("config", *setting.split("=", 1))
    assert lines(repo) == before


def test_every_assembly_reads_anew(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A branch that changed between two assemblies shows in the second."""
    before = lines(repo)[0]
    git("checkout", "-q", "-b", "next")
    assert (before, lines(repo)[0]) == ("branch: main", "branch: next")
