"""Text that somebody else wrote, made safe to show."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted.frame import defuse
from dsh_prompt.untrusted.invisible import reveal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_LISTED: Final = 10
_HIDDEN: Final = "invisible, direction-changing or private-use characters"


@attrs.frozen
class Clean:
    """A safe *text*, how many *tags* were made harmless in it, and what was *hidden* in it."""

    text: str
    tags: int
    hidden: Mapping[str, int]

    def findings(self) -> Iterator[str]:
        """Say what a person should know about the text; each goes on where its name ends."""
        if self.tags:
            yield f"holds tags of a frame, made harmless: {self.tags}"
        if self.hidden:
            yield f"holds {_HIDDEN}, shown escaped: {self._listed}"

    @property
    def _listed(self) -> str:
        found = sorted(self.hidden.items())
        listed = [f"U+{ord(character):04X} ({count})" for character, count in found[:_MOST_LISTED]]
        more = len(found) - len(listed)
        return ", ".join(listed) + (f" and {more} others" if more else "")


# The slow part of a reading, which comes out the same in each assembly until somebody edits a file.
@lru_cache(maxsize=256)
def clean(text: str, tags: tuple[str, ...] = ()) -> Clean:
    """Escape in *text* what could be taken for a frame, and what cannot be seen.

    *tags* are those of the caller's frames, besides the first party's.
    """
    # Tags first: they are found in spite of what is hidden between their letters.
    text, count = defuse(text, tags)
    text, hidden = reveal(text)
    return Clean(text, count, hidden)
