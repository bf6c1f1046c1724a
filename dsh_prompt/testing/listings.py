"""Folders list their files in an order that nobody promises: here it is one that we choose."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


def sort(*, turned: bool) -> None:
    """Let `os.listdir` and `os.scandir` of this process sort by name, or the other way round."""
    listdir, scandir = os.listdir, os.scandir

    def listed(path: Any = ".") -> Any:
        return sorted(listdir(path), reverse=turned)

    def scanned(path: Any = ".") -> Any:
        with scandir(path) as entries:
            return _Entries(sorted(entries, key=lambda entry: entry.name, reverse=turned))

    os.listdir = listed
    os.scandir = scanned


class _Entries:
    """Entries of a folder, as `os.scandir` gives them."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the rest up."""
        self._entries = iter(())
