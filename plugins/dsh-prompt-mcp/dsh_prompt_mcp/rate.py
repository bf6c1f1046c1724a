"""How much a server may send before it counts as a flood."""

from __future__ import annotations

from typing import Final

import anyio

from dsh_prompt_mcp.broken import BrokenError

_WINDOW: Final = 1.0


class Rate:
    """Counts what comes in each second; raises `BrokenError` where it is more than *most*."""

    def __init__(self, most: int, unit: str) -> None:
        self._most = most
        self._unit = unit
        self._began = 0.0
        self._counted = 0

    def count(self, amount: int = 1) -> None:
        """Count *amount* more."""
        now = anyio.current_time()
        if now - self._began >= _WINDOW:
            self._began, self._counted = now, 0
        self._counted += amount
        if self._counted > self._most:
            raise BrokenError(f"sends more than {self._most} {self._unit} in a second")
