"""Folders for distributions, beside which nothing else is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_prompt.plugins import discovery


@pytest.fixture
def folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder for sites, of which alone is known what is installed."""
    monkeypatch.delenv("DSH_PROMPT_PLUGINS", raising=False)
    everything = discovery._distributions

    def ours(name: str | None = None) -> list[Any]:
        return [d for d in everything(name) if Path(d.locate_file("")).is_relative_to(folder)]

    monkeypatch.setattr(discovery, "_distributions", ours)
    return folder
