"""The file of the notes: opened late, shared among threads and processes, closed once."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Final

from dsh_prompt_memory import forks
from dsh_prompt_memory.errors import StoreUnusableError
from dsh_prompt_memory.schema import complaint, is_outdated, upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Seconds between two tries: less than most writes take.
_PAUSE: Final = 0.002
#: Seconds that a fork waits for another thread that waits for another process.
_PATIENCE: Final = 1.0
_REASONS: Final = {
    sqlite3.SQLITE_BUSY: "another process is writing to it all the time",
    sqlite3.SQLITE_CORRUPT: "it is damaged; move it away to begin anew",
    sqlite3.SQLITE_FULL: "there is no room left on its disk",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database",
    sqlite3.SQLITE_READONLY: "it, or its folder, may not be written to",
}
#: What a forked process got from its parent must be neither used nor closed there.
_inherited: Final[list[sqlite3.Connection]] = []


class Database:
    """The SQLite file at *path*, for all threads of a process.

    The file and its folder are made, for the user alone, when they are first needed. *timeout*:
    the seconds to wait for another process.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self.path = path
        self._timeout = timeout
        # Two, so that who reads does not wait while a writer waits for its turn.
        self._reader = _Line(path, timeout)
        self._writer = _Line(path, timeout)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for reading; raises `StoreUnusableError`."""
        with self._reader.used() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection in a transaction that is kept unless something raises.

        Raises `StoreUnusableError`.
        """
        with self._writer.used() as connection, _transaction(connection, self._timeout):
            yield connection

    def close(self) -> None:
        """Close the file for good; twice is harmless."""
        self._writer.close()
        self._reader.close()


class _Line:
    """One connection, opened late, for one thread at a time."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._lock = RLock()
        self._is_paused = False
        self._is_used = False
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._closed = False
        forks.prepare(self)

    @contextmanager
    def used(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; raises `StoreUnusableError`, also for what SQLite raises then."""
        with self._lock, self._explained():
            connection = self._opened()
            self._is_used = True
            try:
                yield connection
            finally:
                self._is_used = False

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._let_go()

    def pause(self) -> None:
        self._is_paused = self._lock.acquire(timeout=_PATIENCE)
        # What this very thread is in the middle of stays open.
        if self._is_paused and not self._is_used:
            # What cannot be closed now is not used in the child.
            with suppress(sqlite3.Error):
                self._let_go()

    def go_on(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._lock.release()

    def renew(self) -> None:
        self._lock = RLock()
        self._is_paused = self._is_used = False

    def _opened(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreUnusableError(f"the store of {self._path} is closed")
        if self._process != os.getpid():
            self._let_go()
        if self._connection is None:
            self._process = os.getpid()
            self._connection = self._open()
        return self._connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._process == os.getpid():
            connection.close()
        else:
            _inherited.append(connection)

    def _open(self) -> sqlite3.Connection:
        _make_file(self._path)
        connection = sqlite3.connect(
            self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Bytes that are no UTF-8 spoil one note, not the search that comes upon it.
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        if reason := complaint(connection):
            raise StoreUnusableError(f"{self._path} cannot be used: {reason}")
        self._switch_to_wal(connection)
        # What was acknowledged is on the disk, also after a loss of power. Notes are few.
        connection.execute("PRAGMA synchronous = FULL")
        if is_outdated(connection):
            # It looks again: another process may have been faster.
            with _transaction(connection, self._timeout):
                upgrade(connection)

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        """Let readers read while somebody writes."""
        (mode,) = _patiently(connection, "PRAGMA journal_mode = WAL", self._timeout).fetchone()
        if mode != "wal":
            raise StoreUnusableError(f"{self._path} cannot be used: its file system lacks WAL")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            reason = _REASONS.get(_code(exc)) or getattr(exc, "strerror", None) or str(exc)
            raise StoreUnusableError(f"{self._path} cannot be used: {reason}") from exc


@contextmanager
def _transaction(connection: sqlite3.Connection, timeout: float) -> Iterator[None]:
    # Writers queue up here: one that began by reading would be refused instead.
    _patiently(connection, "BEGIN IMMEDIATE", timeout)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            # Where even this fails, SQLite does it when the file is next opened.
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _patiently(connection: sqlite3.Connection, statement: str, timeout: float) -> sqlite3.Cursor:
    """Execute what may have to wait for another process, and try it again and again.

    SQLite's own waiting takes longer pauses each time, so that those who write much would keep it
    from ever getting a turn, and for some statements it does not wait at all.
    """
    deadline = time.monotonic() + timeout
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                return connection.execute(statement)
            except sqlite3.OperationalError as exc:
                if _code(exc) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(timeout * 1000)}")


def _make_file(path: Path) -> None:
    """Make the file, readable for the user alone; raises `OSError`.

    One that exists is not opened here: closing it would take away the locks that SQLite holds.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(None, "it is not a regular file") from None


def _code(exc: Exception) -> int:
    """Give the primary code of an error of SQLite, -1 for another."""
    code: int = getattr(exc, "sqlite_errorcode", -1)
    primary = 0xFF
    return code & primary if code >= 0 else -1
