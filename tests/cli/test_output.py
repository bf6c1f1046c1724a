"""Results go whole to where they belong, or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import click
import pytest

from dsh_prompt.cli.exits import UnusableError
from dsh_prompt.cli.output import Destination, write_file


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_holds_the_text_as_utf_8(workdir: Path) -> None:
    """The bytes are those of the text, with an escape for what UTF-8 cannot hold."""
    Destination.named("prompt.txt").write("ä\r\n☃ \ud800")
    assert Path("prompt.txt").read_bytes() == "ä\r\n☃ \\ud800".encode()
    assert names(workdir) == ["prompt.txt"]


def test_a_dash_is_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """``-`` is where it would go anyway."""
    Destination.named("-").write("ä")
    assert capsysbinary.readouterr().out == "ä".encode()


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_failure_keeps_the_old_file(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever fails, the old content stays and nothing else is left."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("prompt.txt").write_text("old")
    monkeypatch.setattr(step, fail)
    with pytest.raises(UnusableError, match=r'"prompt.txt" cannot be written: No space left'):
        Destination.named("prompt.txt").write("new")
    assert Path("prompt.txt").read_text() == "old"
    assert names(workdir) == ["prompt.txt"]


def test_an_interrupt_leaves_nothing_behind(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of it removes the temporary file, too."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(Path("prompt.txt"), b"new")
    assert names(workdir) == []


def test_the_new_file_is_complete_before_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can see half of it: until the last step the old content is there."""
    seen = []
    replace = Path.replace

    def look(temporary: Path, target: Path) -> Path:
        seen.append((target.read_bytes(), temporary.read_bytes(), temporary.parent))
        return replace(temporary, target)

    Path("prompt.txt").write_text("old")
    monkeypatch.setattr(Path, "replace", look)
    write_file(Path("prompt.txt"), b"new")
    assert seen == [(b"old", b"new", Path.cwd())]
    assert Path("prompt.txt").read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="no POSIX permissions")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_gets_what_the_umask_leaves(umask: int, mode: int) -> None:
    """Permissions are those of any file that a program creates."""
    before = os.umask(umask)
    try:
        write_file(Path("prompt.txt"), b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("prompt.txt").stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="no POSIX permissions")
def test_an_existing_file_keeps_its_permissions() -> None:
    """What the user set stays set."""
    Path("prompt.txt").touch(mode=0o640)
    Path("prompt.txt").chmod(0o640)
    write_file(Path("prompt.txt"), b"new")
    assert stat.S_IMODE(Path("prompt.txt").stat().st_mode) == 0o640


def test_a_link_stays_a_link(workdir: Path) -> None:
    """What it points to is replaced, also where that does not exist yet."""
    (workdir / "there").mkdir()
    Path("link").symlink_to(workdir / "there" / "prompt.txt")
    for content in (b"new", b"newer"):
        write_file(Path("link"), content)
        assert Path("link").is_symlink()
        assert (workdir / "there" / "prompt.txt").read_bytes() == content
    assert names(workdir / "there") == ["prompt.txt"]


@pytest.mark.skipif(os.name == "nt", reason="no devices in the file system")
def test_a_device_is_written_to_and_not_replaced() -> None:
    """``/dev/null`` is still a device afterwards."""
    write_file(Path("/dev/null"), b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_read_only_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it could be replaced does not mean that it may be written."""
    Path("prompt.txt").write_text("old")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        write_file(Path("prompt.txt"), b"new")
    assert Path("prompt.txt").read_text() == "old"


@pytest.mark.parametrize("place", [".", "gone/prompt.txt", "loop"])
def test_a_place_that_cannot_be_written_is_named(workdir: Path, place: str) -> None:
    """A folder, a missing folder or a circular link is an error that names it."""
    Path("loop").symlink_to("loop")
    with pytest.raises(UnusableError, match=f'^"{place}" cannot be written: '):
        Destination.named(place).write("x")
    assert names(workdir) == ["loop"]


def test_a_closed_standard_output_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that goes nowhere is not done."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UnusableError, match="standard output cannot be written"):
        Destination.named().write("x")


def test_a_reader_that_has_gone_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe without a reader is no error to talk about."""

    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError

    destination = Destination.named()
    with monkeypatch.context() as patch:
        patch.setattr("click.echo", gone)
        patch.setattr("os.dup2", gone)
        with pytest.raises(click.exceptions.Exit) as ending:
            destination.write("x")
    assert ending.value.exit_code == 141
