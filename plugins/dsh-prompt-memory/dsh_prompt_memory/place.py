"""Where the notes are kept, unless somebody says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dsh_prompt_memory.errors import StoreUnusableError

_NAME: Final = "memories.sqlite3"


def place_of(path: str | None) -> Path:
    """Give the file at *path*, `~` being the user's home, or the one in the user's data folder.

    Raises `StoreUnusableError` for a home that there is not.
    """
    try:
        return _data_folder() / _NAME if path is None else Path(path).expanduser()
    except RuntimeError as exc:
        raise StoreUnusableError(f"path {path!r} cannot be used: {exc}") from exc


def _data_folder() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - only where a store is opened

    folder = user_data_path("dsh-prompt", appauthor=False)
    # A relative one would lie in any checkout: the standard wants it to be ignored.
    return folder if folder.is_absolute() else Path.home() / ".local" / "share" / "dsh-prompt"
