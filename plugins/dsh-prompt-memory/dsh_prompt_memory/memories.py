"""The store of the notes, as an agent loop sees it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

from dsh_prompt import Key
from dsh_prompt_memory.config import Config
from dsh_prompt_memory.database import Database
from dsh_prompt_memory.errors import NoteRefusedError
from dsh_prompt_memory.notes import Note, checked
from dsh_prompt_memory.place import place_of
from dsh_prompt_memory.terms import index_terms, match_expression
from dsh_prompt_memory.tools import Calls

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from dsh_prompt.model.state import Memory

_COLUMNS: Final = "notes.id, CAST(notes.content AS TEXT), CAST(notes.created AS INTEGER)"
#: The last second of the year 9999.
_LATEST: Final = 253_402_300_799
#: Beyond these, there is no row of SQLite.
_IDS: Final = range(1, 2**63)


class Memories:
    """Notes in a SQLite file, found by their words.

    *config* says where the file is, how many notes it may hold and how long they may be. It is
    opened when it is first needed.

    All methods may be called from any thread, and by any number of processes at once. They wait
    for the disk, so an async loop calls them in a worker thread. Each raises `StoreUnusableError`
    where the file cannot be used.
    """

    def __init__(self, config: Config | None = None) -> None:
        self._config = Config() if config is None else config
        self._database = Database(place_of(self._config.path), self._config.timeout)
        self._calls = Calls(self._config)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._database.path

    def add(self, content: str) -> int:
        """Keep a note, and give its id; of one that is there already, the id that it has.

        When this returns, the note is on the disk. Raises `NoteRefusedError` for a note that is
        blank, too long or no text, and where there are as many as there may be.
        """
        text = checked(content, self._config.max_note_chars)
        with self._database.writing() as connection:
            known = connection.execute("SELECT id FROM notes WHERE content = ?", (text,)).fetchone()
            return known[0] if known else self._insert(connection, text)

    def forget(self, note_id: int) -> bool:
        """Delete a note, and tell whether it was there; its id is never given again."""
        if not _may_be(note_id):
            return False
        with self._database.writing() as connection:
            connection.execute("DELETE FROM terms WHERE rowid = ?", (note_id,))
            return connection.execute("DELETE FROM notes WHERE id = ?", (note_id,)).rowcount > 0

    def search(self, query: str, limit: int = 5) -> tuple[Memory, ...]:
        """Give what `RuntimeState.memories` takes: the notes that match *query* best, as `find`."""
        return tuple(note.to_state() for note in self.find(query, limit))

    def find(self, query: str, limit: int = 5) -> tuple[Note, ...]:
        """Give the at most *limit* notes that match *query* best, best first, then newest first.

        *query* is any text; no character in it has a meaning of its own. A note matches if it
        shares a word with it. Case, accents and English endings make no difference. Where a script
        has no spaces, two characters side by side count as a word.
        """
        expression = match_expression(_checked_query(query))
        wanted = _checked_limit(limit)
        if not expression:
            return ()
        return self._notes(
            f"SELECT {_COLUMNS}, -bm25(terms) AS score FROM terms JOIN notes"  # noqa: S608
            " ON notes.id = terms.rowid WHERE terms MATCH ? ORDER BY score DESC, id DESC LIMIT ?",
            (expression, wanted),
        )

    def recent(self, limit: int = 20) -> tuple[Note, ...]:
        """Give the at most *limit* notes that were added last, newest first."""
        return self._notes(
            f"SELECT {_COLUMNS}, NULL FROM notes ORDER BY id DESC LIMIT ?",  # noqa: S608
            (_checked_limit(limit),),
        )

    def get(self, note_id: int) -> Note | None:
        """Give one note, None where there is none of that id."""
        if not _may_be(note_id):
            return None
        found = self._notes(
            f"SELECT {_COLUMNS}, NULL FROM notes WHERE id = ?",  # noqa: S608
            (note_id,),
        )
        return found[0] if found else None

    def count(self) -> int:
        """Give the number of notes."""
        with self._database.reading() as connection:
            return _count(connection)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Do what a model calls for, `remember` or `recall`, and give the text for it.

        Raises `ToolCallError` for another tool and for wrong arguments, `NoteRefusedError` as `add`
        does; the texts of both are written for the model.
        """
        return self._calls.answer(self, name, arguments)

    def close(self) -> None:
        """Close the file for good; every other method then raises. Twice is harmless."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _insert(self, connection: sqlite3.Connection, text: str) -> int:
        if _count(connection) >= self._config.max_notes:
            raise NoteRefusedError(
                f"there are {self._config.max_notes} notes, the most that may be: forget some first"
            )
        note_id = connection.execute(
            "INSERT INTO notes (content, created) VALUES (?, ?)", (text, int(time.time()))
        ).lastrowid
        assert note_id is not None  # noqa: S101 - an insertion has one
        connection.execute(
            "INSERT INTO terms (rowid, content) VALUES (?, ?)", (note_id, index_terms(text))
        )
        return note_id

    def _notes(self, statement: str, values: Iterable[Any]) -> tuple[Note, ...]:
        with self._database.reading() as connection:
            rows = connection.execute(statement, tuple(values)).fetchall()
        return tuple(
            Note(note_id, content, _moment(created), score)
            for note_id, content, created, score in rows
        )


#: Under this key the plugin provides its store.
MEMORIES = Key[Memories]("memories")


def _moment(created: int) -> datetime:
    # What another program has written there spoils one note, not the search that comes upon it.
    return datetime.fromtimestamp(min(max(created, 0), _LATEST), UTC)


def _count(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM notes").fetchone()
    return int(count)


def _may_be(note_id: object) -> bool:
    """Tell whether there could be a note of that id; a wrong type is a mistake."""
    if isinstance(note_id, bool) or not isinstance(note_id, int):
        raise TypeError(f"the id of a note must be an int, not {note_id!r}")
    return note_id in _IDS


def _checked_query(query: object) -> str:
    if not isinstance(query, str):
        raise TypeError(f"query must be a str, not {query!r}")
    return query


def _checked_limit(limit: object) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit must be a whole number from 1, not {limit!r}")
    return min(limit, _IDS[-1])
