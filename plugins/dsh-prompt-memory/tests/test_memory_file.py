"""The file of the notes: who may read it, what it must not be, and who else has it open."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import dsh_prompt_memory
import pytest
from dsh_prompt_memory import MEMORIES, Config, Memories, MemoriesError, StoreUnusableError
from dsh_prompt_memory.place import place_of
from dsh_prompt_memory.schema import complaint

from dsh_prompt import ConfigError, RuntimeState, SystemPrompt, render_context_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

posix = pytest.mark.skipif(os.name == "nt", reason="needs modes of POSIX")


def ask(file: Path, statement: str) -> Any:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchone()[0]


def test_opened_late(memories: Memories, file: Path) -> None:
    """There is no file, and no folder, before somebody needs them."""
    assert memories.path == file
    assert not file.parent.exists()
    assert memories.count() == 0
    assert file.exists()


def test_the_default_place(data_home: Path) -> None:
    """Without a setting, the file lies in the user's folder for data."""
    with Memories() as memories:
        memories.add("one")
        assert memories.path.name == "memories.sqlite3"
        assert memories.path.is_relative_to(data_home)
        assert memories.path.exists()


@posix
def test_a_relative_folder_is_nobodys(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names a relative folder does not put notes into a checkout."""
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    path = Memories().path
    assert path.is_absolute()
    assert path.is_relative_to(data_home)


def test_below_the_home(data_home: Path) -> None:
    """A path below ~ lies in the user's home."""
    assert Memories(Config(path="~/notes.db")).path == data_home / "notes.db"


def test_a_home_that_there_is_not() -> None:
    """A home of nobody is a wrong setting, and one that is gone later leaves no place."""
    with SystemPrompt() as prompt, pytest.raises(ConfigError, match="path must be below a"):
        prompt.load(dsh_prompt_memory, config={"path": "~nobody-here/n"})
    with pytest.raises(StoreUnusableError, match=r"path '~nobody-here/notes\.db'"):
        place_of("~nobody-here/notes.db")


@posix
def test_for_the_user_alone(memories: Memories, file: Path) -> None:
    """Nobody else may read the notes, whatever the mask of the process."""
    before = os.umask(0)
    try:
        memories.add("one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert set(modes) >= {file.name, f"{file.name}-wal"}
    assert set(modes.values()) == {0o600}


def test_written_ahead(memories: Memories, file: Path) -> None:
    """The file keeps a log that is written ahead, and says whose it is and which version."""
    memories.add("one")
    memories.close()
    assert ask(file, "PRAGMA journal_mode") == "wal"
    assert ask(file, "PRAGMA user_version") == 1
    assert ask(file, "PRAGMA application_id") == int.from_bytes(b"dshm")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_an_empty_file_is_new(memories: Memories, file: Path) -> None:
    """A process that died right after it made the file leaves one that can be used."""
    file.parent.mkdir()
    file.touch()
    assert memories.add("one") == 1


def foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")


def newer(file: Path) -> None:
    with Memories(Config(path=str(file))) as memories:
        memories.add("one")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")


def damaged(file: Path) -> None:
    with Memories(Config(path=str(file))) as memories:
        memories.add("one")
    data = file.read_bytes()
    file.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


def test_a_file_that_somebody_makes_meanwhile(file: Path) -> None:
    """It is new or made, never half of each, which would look like another program's."""
    file.parent.mkdir()
    ask(file, "PRAGMA journal_mode = WAL")
    seen = []

    def meanwhile(statement: str) -> None:
        if "user_version" in statement:
            with Memories(Config(path=str(file))) as memories:
                seen.append(memories.add("one"))

    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.set_trace_callback(meanwhile)
        assert complaint(connection) == ""
        assert complaint(connection) == ""
    assert seen == [1, 1]


UNUSABLE = [
    (foreign, "it is a database of another program"),
    (newer, r"a newer release wrote it \(version 99\)"),
    (damaged, "it is damaged; move it away to begin anew"),
    (lambda file: file.write_bytes(b"not a database\n" * 500), "it is no SQLite database"),
    (lambda file: file.mkdir(), "it is not a regular file"),
]


@pytest.mark.parametrize(("spoil", "reason"), UNUSABLE)
def test_a_file_that_cannot_be_used(
    memories: Memories, file: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    """What is no store of notes is told with its path, and not a byte of it is changed."""
    file.parent.mkdir()
    spoil(file)
    before = file.read_bytes() if file.is_file() else b""
    for use in (memories.count, lambda: memories.add("two"), lambda: memories.search("one")):
        with pytest.raises(StoreUnusableError, match=f"cannot be used: {reason}") as caught:
            use()
        assert str(caught.value).startswith(str(file))
        assert isinstance(caught.value, MemoriesError)
    assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.parametrize(("spoil", "reason"), UNUSABLE)
def test_no_assembly_fails_with_it(
    file: Path, spoil: Callable[[Path], None], reason: str, dsh_prompt_host: SystemPrompt
) -> None:
    """A file that cannot be used fails who uses the store, not an assembly."""
    file.parent.mkdir()
    spoil(file)
    dsh_prompt_host.load(dsh_prompt_memory, config={"path": str(file)})
    assembly = dsh_prompt_host.assemble(state=RuntimeState(memories=["Deploys run on Fridays."]))
    assert "Deploys run on Fridays." in render_context_snapshot(assembly)
    with pytest.raises(StoreUnusableError, match=reason):
        dsh_prompt_host.require(MEMORIES).search("one")


@posix
def test_a_folder_that_may_not_be_written_to(memories: Memories, file: Path) -> None:
    """Without the permission to write, the reason is told."""
    file.parent.mkdir()
    file.parent.joinpath("sub").touch()
    below = Memories(Config(path=str(file.parent / "sub" / "notes")))
    with pytest.raises(StoreUnusableError, match=r"cannot be used: (File exists|Not a directory)"):
        below.count()


@pytest.mark.parametrize(
    ("created", "year"), [(2**62, 9999), (-5, 1970), ("'soon'", 1970), ("X'ff'", 1970)]
)
def test_a_note_of_no_time(memories: Memories, file: Path, created: object, year: int) -> None:
    """A time that no clock shows spoils nothing."""
    memories.add("one")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE notes SET created = {created}")
    (note,) = memories.find("one")
    assert (note.content, note.created.year) == ("one", year)


def test_a_note_that_is_no_utf8(memories: Memories, file: Path) -> None:
    """Bytes that somebody else wrote into the file spoil one note alone."""
    memories.add("one good")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO notes VALUES (2, CAST(X'6f6e65ff' AS TEXT), 0), (3, X'626c6fff62', 0)"
        )
        connection.execute("INSERT INTO terms (rowid, content) VALUES (2, 'one'), (3, 'blob')")
    found = {note.id: note.content for note in memories.find("one blob")}
    assert found == {1: "one good", 2: "one\ufffd", 3: "blo\ufffdb"}


def test_who_waits_too_long(store: Callable[..., Memories], file: Path) -> None:
    """Where another process never ends its writing, the wait ends, and readers do not wait."""
    memories = store(timeout=0.05)
    memories.add("one")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert memories.count() == len(memories.search("one")) == 1
        with pytest.raises(StoreUnusableError, match="another process is writing to it"):
            memories.add("two")
        other.execute("ROLLBACK")
    assert memories.add("two") == 2


def test_readers_pass_by_a_writer_that_waits(
    memories: Memories, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one thread waits for another process to end its writing, others can search."""
    memories.add("one")
    waiting, go_on = Event(), Event()

    def sleep(seconds: float) -> None:
        waiting.set()
        assert go_on.wait(30)

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(time, "sleep", sleep)
        writer = Thread(target=memories.add, args=["two"])
        writer.start()
        assert waiting.wait(30)
        assert memories.count() == len(memories.search("one")) == 1
        other.execute("ROLLBACK")
    go_on.set()
    writer.join()
    assert memories.count() == 2


def test_a_write_that_fails_leaves_nothing(memories: Memories, file: Path) -> None:
    """Where the index cannot take a note, the note is not there either."""
    memories.add("one")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("ALTER TABLE terms RENAME TO gone")
    with pytest.raises(StoreUnusableError, match="no such table: terms"):
        memories.add("two")
    assert memories.count() == 1
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("ALTER TABLE gone RENAME TO terms")
    assert memories.add("two") == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(file: Path) -> None:
    """Parent and child each go on with a connection of their own, and close only that."""
    code = """
import os, sys
from dsh_prompt_memory import Config, Memories

memories = Memories(Config(path=sys.argv[1]))
memories.add("before")
child = os.fork()
if not child:
    memories.add("child")
    memories.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
memories.add("parent")
print(sorted(note.content for note in memories.recent()))
memories.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(file)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("['before', 'child', 'parent']\n", "")
    assert ask(file, "PRAGMA integrity_check") == "ok"
