"""The history of one agent, with a prefix that stays byte for byte."""

from __future__ import annotations

from dsh_prompt.conversation.conversation import Conversation
from dsh_prompt.conversation.errors import ConversationError
from dsh_prompt.conversation.pin import Pin

__all__ = ["Conversation", "ConversationError", "Pin"]
