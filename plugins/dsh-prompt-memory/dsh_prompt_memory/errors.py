"""What can go wrong with notes; each text is fit to be shown to a person, or to a model."""

from __future__ import annotations


class MemoriesError(Exception):
    """Raised when notes cannot be kept or found; the root of the others."""


class NoteRefusedError(MemoriesError, ValueError):
    """Raised when a note is blank, too long or no text, or when there is no room for it."""


class ToolCallError(MemoriesError, ValueError):
    """Raised when a tool is called that is not of this plugin, or with wrong arguments."""


class StoreUnusableError(MemoriesError):
    """Raised when the file of the notes cannot be used, or its store has been closed."""
