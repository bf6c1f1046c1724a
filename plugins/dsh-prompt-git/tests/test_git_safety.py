"""A hostile repository runs nothing.

Each trap is sprung by plain git first, so that a trap that catches nobody proves nothing.
"""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_git.process import Deadline
from dsh_prompt_git.repository import open_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PromptAssembly


@pytest.fixture
def lured(
    repo: Path,
    git: Callable[..., str],
    sung: Callable[[], bool],
    lines: Callable[..., list[str]],
    assemble: Callable[..., PromptAssembly],
) -> Callable[..., list[str]]:
    """Give a function that shows that plain git runs the canary and the plugin does not.

    *control* is the plain command, *again* puts the repository back as it was. It gives the
    context's lines.
    """

    def check(*control: str, again: Callable[[], object] = lambda: None) -> list[str]:
        git(*control, check=False)
        assert sung(), "plain git did not run the canary"
        again()
        shown = lines(repo)
        variable = assemble(repo, timeout=30.0).variables["git_branch"]
        assert not sung()
        assert variable in (None, "main")
        return shown

    return check


def _commit_by_hand(git: Callable[..., str], message: str, header: str = "") -> str:
    """Make the head a commit such as no git would write, and give its hash."""
    author = "Ada <ada@example.org> 1767323045 +0000"
    tree = git("rev-parse", "HEAD^{tree}")
    text = f"tree {tree}\nauthor {author}\ncommitter {author}\n{header}\n{message}\n"
    made = git("hash-object", "-t", "commit", "-w", "--stdin", text=text)
    git("update-ref", "HEAD", made)
    return made


def _touch(path: Path) -> None:
    """Make git doubt what it knows of a file."""
    os.utime(path, (1, 1))


def test_fsmonitor(canary: Path, git: Callable[..., str], lured: Callable[..., list[str]]) -> None:
    """A configured file system monitor is not asked."""
    git("config", "core.fsmonitor", str(canary))
    assert lured("status")[0] == "branch: main"


@pytest.mark.parametrize("setting", ["clean", "process"])
@pytest.mark.parametrize("driver", ["plain", "Ünï.dotted", "quo'te", "back\\slash"])
def test_filter_driver(
    setting: str,
    driver: str,
    repo: Path,
    canary: Path,
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """A filter driver of any name is not run on a file whose times changed."""
    (repo / ".git/info/attributes").write_text(f"* filter={driver}\n")
    git("config", f"filter.{driver}.{setting}", str(canary))
    git("config", f"filter.{driver}.required", "true")
    _touch(repo / "first.txt")
    shown = lured("status", again=lambda: _touch(repo / "first.txt"))
    assert shown[1] == "files: clean"


@pytest.mark.parametrize(
    "include",
    ["[include]", '[includeIf "onbranch:main"]', '[includeIf "gitdir:**"]', "[extensions]"],
)
def test_filter_driver_from_elsewhere(
    include: str,
    repo: Path,
    canary: Path,
    write: Callable[..., Path],
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """A filter driver of an included file or of the work tree's own settings is not run."""
    write(".git/info/attributes", "* filter=trap\n")
    write(".git/config.worktree", f'[FILTER "trap"]\nCLEAN = {canary}\n')
    rest = "worktreeConfig = true" if include == "[extensions]" else "path = config.worktree"
    with (repo / ".git/config").open("a") as config:
        config.write(f"{include}\n{rest}\n")
    git("config", "core.repositoryFormatVersion", "1")
    _touch(repo / "first.txt")
    assert lured("status", again=lambda: _touch(repo / "first.txt"))[1] == "files: clean"


def test_filter_driver_that_cannot_be_named(
    repo: Path, canary: Path, git: Callable[..., str], lured: Callable[..., list[str]]
) -> None:
    """A filter driver that no option can name makes the plugin stay out."""
    (repo / ".git/info/attributes").write_text("* filter=a=b\n")
    git("config", "filter.a=b.clean", str(canary))
    _touch(repo / "first.txt")
    assert lured("status", again=lambda: _touch(repo / "first.txt")) == []


def test_more_filter_drivers_than_can_be_named(repo: Path, lines: Callable[..., list[str]]) -> None:
    """Filter drivers without end make the plugin stay out."""
    with (repo / ".git/config").open("a") as config:
        config.writelines(f'[filter "{number:0100}"]\nclean = x\n' for number in range(30_000))
    assert lines(repo) == []


@pytest.mark.parametrize("hook", ["post-index-change", "reference-transaction"])
def test_hooks(
    hook: str,
    repo: Path,
    canary: Path,
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """No hook runs, neither in its usual place nor where a setting puts it."""
    git("config", "core.hooksPath", str(canary.parent))
    canary.with_name(hook).symlink_to(canary)
    _touch(repo / "first.txt")
    control = ("status",) if hook == "post-index-change" else ("update-ref", "refs/x", "HEAD")
    lured(*control, again=lambda: _touch(repo / "first.txt"))


def test_hooks_of_any_command(
    repo: Path, canary: Path, git: Callable[..., str], sung: Callable[[], bool]
) -> None:
    """Even a command that writes would run no hook."""
    canary.with_name("reference-transaction").symlink_to(canary)
    git("config", "core.hooksPath", str(canary.parent))
    git("update-ref", "refs/one", "HEAD")
    assert sung()
    repository = open_repository(str(repo), Deadline(30))
    assert repository.ask("update-ref", "refs/two", "HEAD").code == 0
    assert not sung()


def test_pager(
    repo: Path,
    canary: Path,
    git: Callable[..., str],
    sung: Callable[[], bool],
    lines: Callable[..., list[str]],
) -> None:
    """A configured pager is not run."""
    for setting in ("core.pager", "pager.status", "pager.rev-list", "pager.symbolic-ref"):
        git("config", setting, str(canary))
    _, terminal = os.openpty()
    subprocess.run(["git", "status"], cwd=repo, stdout=terminal, check=False)
    assert sung()
    assert lines(repo)[1] == "files: clean"
    assert not sung()


@pytest.mark.parametrize("setting", ["diff.external", "diff.trap.command", "diff.trap.textconv"])
def test_diff_programs(
    setting: str,
    repo: Path,
    canary: Path,
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """No program that shows differences is run."""
    (repo / ".git/info/attributes").write_text("* diff=trap\n")
    git("config", setting, str(canary))
    (repo / "first.txt").write_text("changed\n")
    assert "- modified: first.txt" in lured("diff")


def test_signature_program(
    canary: Path, git: Callable[..., str], lured: Callable[..., list[str]]
) -> None:
    """A signed commit is shown without a check of its signature."""
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    signed = _commit_by_hand(git, "Signed", signature)
    git("config", "gpg.program", str(canary))
    git("config", "log.showSignature", "true")
    assert lured("log")[-1] == f"- {signed[:10]} Signed"


def test_alias(canary: Path, git: Callable[..., str], lured: Callable[..., list[str]]) -> None:
    """An alias that is called like a command is not taken for it."""
    for command in ("other", "status", "config", "rev-parse", "rev-list", "symbolic-ref"):
        git("config", f"alias.{command}", f"!{canary}")
    lured("other")


def test_submodule(
    repo: Path,
    tmp_path: Path,
    canary: Path,
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """Git does not go into submodules, whose settings are their own."""
    git("clone", "-q", str(repo), str(tmp_path / "source"))
    source = str(tmp_path / "source")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "sub")
    git("commit", "-q", "-m", "Add sub")
    for setting in ("core.fsmonitor", "filter.inner.clean"):
        git("config", setting, str(canary), at=repo / "sub")
    git("config", "submodule.sub.ignore", "none")
    (repo / ".git/modules/sub/info/attributes").write_text("* filter=inner\n")
    file = repo / "sub/first.txt"
    _touch(file)
    assert lured("status", again=lambda: _touch(file))[1] == "files: clean"


@pytest.mark.parametrize("url", ["ext::{canary} %S", "ssh://host/path", "file:///nowhere"])
def test_lazy_fetch(
    url: str,
    repo: Path,
    canary: Path,
    git: Callable[..., str],
    lured: Callable[..., list[str]],
) -> None:
    """A missing object of a partial clone is not fetched, by whatever program."""
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": url.format(canary=canary),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(canary),
        "core.sshCommand": str(canary),
        "credential.helper": str(canary),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }
    for name, value in settings.items():
        git("config", name, value)
    if url.startswith("file"):
        git("config", "remote.origin.url", str(repo / ".git"))
    tree = git("rev-parse", "HEAD^{tree}")
    (repo / ".git/objects" / tree[:2] / tree[2:]).unlink()
    (repo / ".git/index").unlink()
    lured("status")


def test_git_of_the_repository(
    repo: Path,
    canary: Path,
    sung: Callable[[], bool],
    lines: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A git that the repository brings along is not the one that runs."""
    (repo / "bin").mkdir()
    canary.with_name("git").symlink_to(repo / "bin/git")
    for place in (repo, repo / "bin"):
        (place / "git").write_text(canary.read_text())
        (place / "git").chmod(0o755)
    folders = ["", ".", "bin", str(repo), str(repo / "bin"), str(canary.parent)]
    monkeypatch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))
    monkeypatch.chdir(repo)
    assert lines(repo)[0] == "branch: main"
    assert not sung()


def test_environment_does_not_redirect(
    repo: Path,
    tmp_path: Path,
    canary: Path,
    git: Callable[..., str],
    sung: Callable[[], bool],
    lines: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Variables that point git elsewhere, trace it or configure it have no effect."""
    git("init", "-q", "-b", "elsewhere", str(tmp_path / "other"))
    hostile = {
        "GIT_DIR": str(tmp_path / "other/.git"),
        "GIT_WORK_TREE": str(tmp_path / "other"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path),
        "GIT_NAMESPACE": "other",
        "GIT_EXEC_PATH": str(canary.parent),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_TRACE2_EVENT": str(tmp_path / "trace"),
        "GIT_EXTERNAL_DIFF": str(canary),
        "GIT_SSH_COMMAND": str(canary),
        "GIT_PAGER": str(canary),
        "GIT_LITERAL_PATHSPECS": "nonsense",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(canary),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={canary}'",
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    assert lines(repo)[:2] == ["branch: main", "files: clean"]
    assert not sung()
    assert not (tmp_path / "trace").exists()


def _state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Give what would show that somebody wrote into *folder*."""
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
        found[str(path)] = (facts.st_mode, facts.st_mtime_ns, content)
    return found


def test_nothing_is_written(repo: Path, lines: Callable[..., list[str]]) -> None:
    """Reading leaves the repository as it was, its index not refreshed and no lock taken."""
    _touch(repo / "first.txt")
    before = _state(repo)
    assert lines(repo)[1] == "files: clean"
    assert _state(repo) == before


def test_locked_index(repo: Path, lines: Callable[..., list[str]]) -> None:
    """A lock that somebody else holds does not disturb."""
    (repo / ".git/index.lock").touch()
    assert lines(repo)[:2] == ["branch: main", "files: clean"]


def test_replaced_commit(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """The commit that is shown is the real one, not one that was put in its place."""
    other = git("commit-tree", "HEAD^{tree}", "-m", "Something else")
    git("replace", "HEAD", other)
    assert lines(repo)[-1].endswith("Add first.txt")


def test_subject_with_control_characters(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """Escape sequences and bytes that are no text are visible in a subject."""
    _commit_by_hand(git, "\x1b]0;x\x07 \r \u202e \udcff")
    subject = lines(repo)[-1].split(" ", 2)[2]
    assert subject == r"\x1b]0;x\x07 \r \u202e \xff"


def test_endless_subject(
    repo: Path, git: Callable[..., str], lines: Callable[..., list[str]]
) -> None:
    """A subject of megabytes is cut short."""
    tree = git("rev-parse", "HEAD^{tree}")
    git("update-ref", "HEAD", git("commit-tree", tree, text="x" * 3_000_000))
    subject = lines(repo)[-1].split(" ", 2)[2]
    assert subject == "x" * 99 + "\u2026"
