"""What all tests need: a user without settings of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
