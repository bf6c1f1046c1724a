"""What the model is told where its search or call is wrong."""

from __future__ import annotations


class ToolSearchError(ValueError):
    """Raised for arguments of `tool_search` that cannot be followed; its text is for the model."""
