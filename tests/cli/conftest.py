"""Ways to run the command line, and distributions to run it with."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import pytest

import dsh_prompt
from dsh_prompt.cli import main
from dsh_prompt.plugins import discovery
from tests.cli.installing import Site

if TYPE_CHECKING:
    from collections.abc import Iterator


@attrs.frozen
class Outcome:
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode()


class Run(Protocol):
    """Runs the command line in this process."""

    def __call__(self, *args: str | Path, stdin: str = "") -> Outcome:
        """Run it with *args*."""
        ...


@pytest.fixture(autouse=True)
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, whatever the caller's environment says."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("DSH_PROMPT_PLUGINS", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(autouse=True)
def _no_other_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide what is installed beside the package: others may have plugins of their own."""
    everything = discovery._distributions

    def ours(name: str | None = None) -> list[Any]:
        return [d for d in everything(name) if Path(d.locate_file("")).is_relative_to(tmp_path)]

    monkeypatch.setattr(discovery, "_distributions", ours)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give a folder of distributions, importable in this process and in programs."""
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    yield site
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(site.folder)):
            del sys.modules[name]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line in this process."""

    def run(*args: str | Path, stdin: str = "") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ending:
            main.main([str(arg) for arg in args], "dsh-prompt")
        out, err = capsysbinary.readouterr()
        assert isinstance(ending.value.code, int)
        return Outcome(ending.value.code, out, err.decode())

    return run


@pytest.fixture
def environment(site: Site) -> dict[str, str]:
    """Give the environment of a program that finds the package and the test's plugins."""
    package = Path(dsh_prompt.__file__).parents[1]
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(site.folder), str(package)))}


class Program:
    """The command line as a process of its own."""

    command = (sys.executable, "-m", "dsh_prompt")

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def start(self, *args: str, **options: object) -> subprocess.Popen[bytes]:
        """Start it; *options* are those of `subprocess.Popen`."""
        return subprocess.Popen((*self.command, *args), env=self.environment, **options)  # type: ignore[call-overload,no-any-return]

    def run(self, *args: str, cwd: Path | None = None) -> Outcome:
        """Run it with pipes."""
        done = subprocess.run(
            (*self.command, *args), env=self.environment, cwd=cwd, capture_output=True, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture
def program(environment: dict[str, str]) -> Program:
    """Run the command line as a process of its own."""
    return Program(environment)
