"""The end of a connection, as an exception."""

from __future__ import annotations


class BrokenError(Exception):
    """Raised when a server cannot be used any longer; its text goes on after the server's name."""
