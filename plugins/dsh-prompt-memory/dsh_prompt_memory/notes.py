"""What is kept: notes, and what may become one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.model.state import Memory
from dsh_prompt_memory.errors import NoteRefusedError

if TYPE_CHECKING:
    from datetime import datetime

_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")


@attrs.frozen
class Note:
    """A note: its *id*, its *content*, and when it was *created*, in UTC.

    *score* tells how well it matches the search that found it, more being better; None where
    there was no search.
    """

    id: int
    content: str
    created: datetime
    score: float | None = None

    def to_state(self) -> Memory:
        """Give what `RuntimeState.memories` holds of it."""
        return Memory(self.content, self.score)


def checked(content: str, max_chars: int) -> str:
    """Give *content* as it is stored: lines end alike, and there is no space around it.

    Raises `NoteRefusedError` for what is blank, no text, or longer than *max_chars*.
    """
    if not isinstance(content, str):
        raise NoteRefusedError(f"a note must be a text, not {type(content).__name__}")
    text = content.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise NoteRefusedError("a note must not be blank")
    if len(text) > max_chars:
        raise NoteRefusedError(
            f"the note has {len(text)} characters, and {max_chars} is the most: shorten it"
        )
    if found := _NO_TEXT.search(text):
        raise NoteRefusedError(
            f"the note is no text: it holds U+{ord(found.group()):04X} at character {found.start()}"
        )
    return text
