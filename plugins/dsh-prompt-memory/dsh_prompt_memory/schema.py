"""What stands in the file of the notes, and how a file of an older release gets there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

#: In the header of each file, so that no other program's file is taken for one of these: "dshm".
_APPLICATION: Final = 0x6473686D

#: One step for each version; what has been released is never edited.
_STEPS: Final = (
    (
        # An id is never given again: somebody may still have it and mean the old note.
        """
        CREATE TABLE notes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            content TEXT NOT NULL UNIQUE,
            created INTEGER NOT NULL  -- seconds since 1970, UTC
        )
        """,
        # Terms come folded and apart, so all that the tokenizer has left to do is English endings.
        "CREATE VIRTUAL TABLE terms USING fts5(content, tokenize = 'porter ascii')",
    ),
)


def complaint(connection: sqlite3.Connection) -> str:
    """Say why the file may not be written to; empty where it is new, or one of these."""
    # One view of it: another process may be about to make it.
    connection.execute("BEGIN")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        application, version = _header(connection)
    finally:
        # After some errors SQLite has ended it.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if application == _APPLICATION:
        newer = version > len(_STEPS)
        return f"a newer release wrote it (version {version})" if newer else ""
    return "it is a database of another program" if application or version or tables else ""


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Tell whether there are steps that the file has not seen."""
    return _header(connection)[1] < len(_STEPS)


def upgrade(connection: sqlite3.Connection) -> None:
    """Take the steps that the file has not seen, all or none; the caller is in a transaction."""
    _, version = _header(connection)
    for step in _STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {len(_STEPS)}")


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version
