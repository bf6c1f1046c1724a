"""The pytest plugin. The package is imported by the fixtures, so that its coverage counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dsh_prompt import PluginInfo, RuntimeState, Scope, SystemPrompt


class Load(Protocol):
    """Loads a plugin, as `SystemPrompt.load` does."""

    def __call__(
        self,
        plugin: object,
        name: str | None = None,
        config: object = None,
        scope: Scope | None = None,
    ) -> PluginInfo:
        """Load *plugin*."""
        ...


class MakeState(Protocol):
    """Makes a runtime state of its fields."""

    def __call__(self, **fields: Any) -> RuntimeState:
        """Make the state."""
        ...


@pytest.fixture
def dsh_prompt_host() -> Iterator[SystemPrompt]:
    """Give a fresh host without plugins, and dispose it afterwards."""
    from dsh_prompt import AsyncProviderError, SystemPrompt  # noqa: PLC0415
    from dsh_prompt.testing.loops import run_in_own_loop  # noqa: PLC0415

    host = SystemPrompt()
    yield host
    try:
        host.dispose()
    except AsyncProviderError:
        run_in_own_loop(host.dispose_async)


@pytest.fixture
def dsh_prompt_load(dsh_prompt_host: SystemPrompt) -> Load:
    """Give a function that loads a plugin into ``dsh_prompt_host``."""
    from dsh_prompt import AsyncProviderError  # noqa: PLC0415

    def load(
        plugin: object,
        name: str | None = None,
        config: object = None,
        scope: Scope | None = None,
    ) -> PluginInfo:
        try:
            return dsh_prompt_host.load(plugin, name, config, scope)
        except AsyncProviderError as error:
            way_out = "in an async test, write: await dsh_prompt_host.load_async(...)"
            raise AsyncProviderError(f"{error}; {way_out}") from error

    return load


@pytest.fixture
def dsh_prompt_state(tmp_path: Path) -> MakeState:
    """Give a function that makes a state, with ``tmp_path`` as its ``workdir``."""
    from dsh_prompt import RuntimeState  # noqa: PLC0415

    def state(**fields: Any) -> RuntimeState:
        return RuntimeState(**{"workdir": str(tmp_path), **fields})

    return state


@pytest.fixture
def dsh_prompt_snapshot(request: pytest.FixtureRequest) -> Any:
    """Give a syrupy snapshot that compares assemblies and texts with readable files."""
    try:
        from dsh_prompt.testing.snapshots import PromptSnapshotExtension  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "syrupy":
            raise
        message = 'dsh_prompt_snapshot needs syrupy: pip install "dsh-prompt[testing]"'
        raise pytest.UsageError(message) from error
    return request.getfixturevalue("snapshot").use_extension(PromptSnapshotExtension)
