"""What goes wrong in a conversation."""

from __future__ import annotations

from dsh_prompt.errors import PromptError


class ConversationError(PromptError):
    """Raised for a call that does not fit where a conversation stands."""
