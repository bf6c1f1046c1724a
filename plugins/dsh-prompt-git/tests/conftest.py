"""Real repositories in temporary folders, and the two ways to read them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING, Any

import dsh_prompt_git
import pytest

from dsh_prompt import PromptAssembly, RuntimeState, SystemPrompt, render_context_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Everything here needs git, and most of it a POSIX shell.
collect_ignore_glob = ["*"] if os.name == "nt" or shutil.which("git") is None else []


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's and the machine's git settings out, and the hashes the same everywhere."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    settings = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
        "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    }
    for who in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{who}_NAME": "Ada", f"GIT_{who}_EMAIL": "ada@example.org"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Give a repository without a commit."""
    path = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
    return path


@pytest.fixture
def git(empty: Path) -> Callable[..., str]:
    """Give a function that runs git in the repository, or in *at*, and gives its output."""

    def run(*arguments: str, at: Path = empty, check: bool = True, text: str | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=at,
            check=check,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            input=text,
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def write(empty: Path) -> Callable[..., Path]:
    """Give a function that writes a file of the repository, executable where asked."""

    def file(name: str, text: str = "text\n", *, executable: bool = False) -> Path:
        path = empty / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return file


@pytest.fixture
def commit(git: Callable[..., str], write: Callable[..., Path]) -> Callable[..., None]:
    """Give a function that commits a file with a text, the file's name in the subject."""

    def one(name: str, text: str = "text\n", subject: str = "") -> None:
        write(name, text)
        git("add", "--all")
        git("commit", "-q", "-m", subject or f"Add {name}")

    return one


@pytest.fixture
def repo(empty: Path, commit: Callable[..., None]) -> Path:
    """Give a repository with one commit on main and nothing changed."""
    commit("first.txt")
    return empty


@pytest.fixture
def assemble() -> Callable[..., PromptAssembly]:
    """Give a function that assembles through a host with the plugin, under the given settings."""

    def run(workdir: Path | None, **settings: Any) -> PromptAssembly:
        prompt = SystemPrompt()
        prompt.load(dsh_prompt_git, config=settings)
        state = None if workdir is None else RuntimeState(workdir=str(workdir))
        return prompt.assemble(state=state)

    return run


@pytest.fixture
def lines(assemble: Callable[..., PromptAssembly]) -> Callable[..., list[str]]:
    """Give a function that reads the lines of the rendered context, none where it is absent."""

    def read(workdir: Path, **settings: Any) -> list[str]:
        settings = {"timeout": 30.0, **settings}
        snapshot = render_context_snapshot(assemble(workdir, **settings))
        return snapshot.partition("## Git repository\n\n")[2].splitlines()

    return read


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Give a program that leaves `sung` beside itself when somebody runs it."""
    folder = tmp_path / "canary"
    folder.mkdir()
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch '{folder}/sung'\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def sung(canary: Path) -> Callable[[], bool]:
    """Give a function that tells whether the canary ran, and forgets it."""

    def ask() -> bool:
        trace = canary.with_name("sung")
        found = trace.exists()
        trace.unlink(missing_ok=True)
        return found

    return ask
