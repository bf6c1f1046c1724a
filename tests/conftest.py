"""What all tests need: a user without settings of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True, scope="session")
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the settings, and the trusted files, of whoever runs the tests out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of a user's own settings, of which there are none yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    folder = tmp_path / "user" / "dsh-prompt"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder for sites; modules that a test imports from it are forgotten after it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
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
