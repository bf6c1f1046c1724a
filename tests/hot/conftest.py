"""Folders for distributions, and a process that is as it was after each test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import discovery
from tests.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder for sites: nothing else is installed, modules are forgotten afterwards."""
    monkeypatch.delenv("DSH_PROMPT_PLUGINS", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    everything = discovery._distributions

    def ours(name: str | None = None) -> list[Any]:
        return [d for d in everything(name) if Path(d.locate_file("")).is_relative_to(tmp_path)]

    monkeypatch.setattr(discovery, "_distributions", ours)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or name
        if str(tmp_path) in origin or name.startswith("dsh_test_"):
            del sys.modules[name]


@pytest.fixture
def site(folder: Path) -> Site:
    """Give an empty folder that stands first on ``sys.path``."""
    made = Site(folder / "site")
    sys.path.insert(0, str(made.folder))
    return made
