"""Which snapshot message a history still needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt.render.prompt import SNAPSHOT_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SNAPSHOT_CLEARED = (
    "Current runtime context: none. Earlier runtime-context snapshots no longer apply."
)


class RuntimeContextProjection:
    """Follows the one snapshot that the visible history retains.

    A loop asks `project` before each step, appends what it gives as a user-role message,
    and calls `accept` once that message is part of the history.
    """

    __slots__ = ("_existed", "_retained")

    def __init__(self) -> None:
        self._retained: str | None = None
        self._existed = False

    def project(self, snapshot: str) -> str | None:
        """Give the text to append for *snapshot*, or None where the history has it.

        *snapshot* is what `render_context_snapshot` gave. Changes nothing: until `accept`,
        the same text is offered again.
        """
        wanted = snapshot
        if not snapshot:
            if not self._existed:
                return None
            wanted = SNAPSHOT_CLEARED
        return None if wanted == self._retained else wanted

    def accept(self, text: str) -> None:
        """Record that *text*, which `project` gave, was appended to the history."""
        self._retained = text
        self._existed = True

    def forget(self) -> None:
        """Record that compaction removed the retained snapshot from the history."""
        self._retained = None

    def to_dict(self) -> dict[str, Any]:
        """Give the projection as JSON; `from_dict` takes it back."""
        return {"retained": self._retained, "existed": self._existed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RuntimeContextProjection:
        """Take back what `to_dict` gave."""
        projection = cls()
        projection._retained, projection._existed = data["retained"], data["existed"]
        return projection

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]]) -> RuntimeContextProjection:
        """Restore the projection from a history of ``role``/``content`` messages.

        The last user-role snapshot counts. *content* (Gemini: *parts*) is a string, or a list
        of parts with ``text``, as provider clients take them.
        """
        projection = cls()
        for message in messages:
            if message.get("role") == "user":
                for text in _texts(message.get("content") or message.get("parts")):
                    if text.startswith(SNAPSHOT_HEADER + "\n\n") or text == SNAPSHOT_CLEARED:
                        projection.accept(text)
        return projection


def _texts(content: object) -> Iterable[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list | tuple):
        return []
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return [text for text in texts if isinstance(text, str)]
