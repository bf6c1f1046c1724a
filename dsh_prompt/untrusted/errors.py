"""Why a file gave no text."""

from __future__ import annotations


class UnusableError(Exception):
    """Raised when a file is there but cannot or must not be shown; its text says why."""
