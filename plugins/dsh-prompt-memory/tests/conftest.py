"""A store in a temporary folder, and what a model sees of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_memory
import pytest
from dsh_prompt_memory import Config, Memories

from dsh_prompt import RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a user's folder of the test's own, so that nobody's real notes take part."""
    path = tmp_path / "home"
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.setenv(name, str(path))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the place of a file of notes, in a folder that does not exist yet."""
    return tmp_path / "notes" / "memories.sqlite3"


@pytest.fixture
def store(file: Path) -> Iterator[Callable[..., Memories]]:
    """Give a function that makes a store under the given settings; all are closed afterwards."""
    made: list[Memories] = []

    def make(**settings: Any) -> Memories:
        made.append(Memories(Config(path=str(file), **settings)))
        return made[-1]

    yield make
    for memories in made:
        memories.close()


@pytest.fixture
def memories(store: Callable[..., Memories]) -> Memories:
    """Give a store with the default settings."""
    return store()


@pytest.fixture
def shown() -> Callable[..., str]:
    """Give a function that gives the text of the context for some contents, "" without one."""

    def show(*contents: Any, **settings: Any) -> str:
        with SystemPrompt() as prompt:
            prompt.load(dsh_prompt_memory, name="memory", config=settings)
            state = RuntimeState(memories=[{"content": content} for content in contents])
            (context,) = prompt.assemble(state=state).contexts
            return context.text

    return show
