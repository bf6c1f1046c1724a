"""Which tools fit a query: BM25 over stemmed words, by the full-text index of SQLite."""

from __future__ import annotations

import sqlite3
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from dsh_prompt_tool_search.words import query_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dsh_prompt import ToolSchema

_MOST_WORDS = 64
_MOST_CHARS = 10_000
_DEPTH = 6

# What a name says counts most, and what parameters say least.
_TABLE = (
    "CREATE VIRTUAL TABLE tools USING fts5"
    "(name, description, parameters, tokenize='porter unicode61')"
)
_FIND = "SELECT rowid, bm25(tools, 4.0, 2.0, 0.5) FROM tools WHERE tools MATCH ? ORDER BY 2, rowid"


def has_full_text() -> bool:
    """Tell whether the SQLite of this Python has its full-text index."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(_TABLE)
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


class Ranking:
    """An index of *tools*, made once; it may be used by several threads."""

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        self._tools = sorted(tools, key=lambda tool: tool.name.encode("utf-8", "surrogatepass"))
        self._lock = Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self._index.close)
        self._index.execute(_TABLE)
        self._index.executemany("INSERT INTO tools VALUES (?, ?, ?)", map(_row, self._tools))

    def find(self, query: str) -> list[ToolSchema]:
        """Give the tools that have a word of *query*, the best first; equal ones by name."""
        exact = [tool for tool in self._tools if tool.name == query.strip()]
        words = query_words(query[:_MOST_CHARS], _MOST_WORDS)
        if not words:
            return exact
        with self._lock:
            rows = self._index.execute(_FIND, (" OR ".join(f'"{word}"' for word in words),))
            # Rounded, as the last digits may be other ones on another machine.
            ranked = sorted((round(rank, 6), row) for row, rank in rows)
        found = [self._tools[row - 1] for _, row in ranked]
        return list({id(tool): tool for tool in [*exact, *found]}.values())


def _row(tool: ToolSchema) -> tuple[str, str, str]:
    parameters = " ".join(_said(tool.parameters, _DEPTH))
    return _text(tool.name), _text(tool.description), _text(parameters)


def _text(text: str) -> str:
    return " ".join(words_of(text[:_MOST_CHARS])).encode("utf-8", "replace").decode()


def _said(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Give names and descriptions of parameters, those inside of objects too."""
    properties = schema.get("properties")
    if depth == 0 or not isinstance(properties, dict):
        return
    for name, inner in properties.items():
        yield name
        if isinstance(inner, dict):
            if isinstance(inner.get("description"), str):
                yield inner["description"]
            yield from _said(inner, depth - 1)
