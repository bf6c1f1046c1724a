"""The setting, and what a checkout may not set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import dsh_prompt_summary
import pytest
from dsh_prompt_summary import Config

from dsh_prompt import Config as HostConfig
from dsh_prompt import ConfigError, PluginLoadError, RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from pathlib import Path

WRONG = [499, 100_001, -1, True, 3000.0, "3000", None]


def test_default() -> None:
    """The setting has a default."""
    assert Config().max_chars == 3000


@pytest.mark.parametrize("value", WRONG)
def test_wrong_value(value: Any) -> None:
    """A value that the field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^max_chars must be .*, not {re.escape(repr(value))}$"):
        Config(max_chars=value)


@pytest.mark.parametrize("value", WRONG)
def test_host_refuses_a_wrong_value(value: object, dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value names plugin and field, and the plugin stays out."""
    with pytest.raises(PluginLoadError, match=r'"summary".*\bmax_chars\b') as caught:
        dsh_prompt_host.load(dsh_prompt_summary, name="summary", config={"max_chars": value})
    assert isinstance(caught.value, ConfigError)
    assert dsh_prompt_host.plugins == []


def test_unknown_setting(dsh_prompt_host: SystemPrompt) -> None:
    """A setting that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=r'max_char:.*did you mean "max_chars"'):
        dsh_prompt_host.load(dsh_prompt_summary, config={"max_char": 500})


@pytest.mark.parametrize("trusted", [False, True])
def test_a_checkout_does_not_choose_the_length(trusted: bool, tmp_path: Path) -> None:
    """Until it is trusted, the setting of a project has no effect."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("[plugins.config.summary]\nmax_chars = 100000\n")
    with SystemPrompt(HostConfig.load(file, trusted=trusted)) as prompt:
        prompt.load(dsh_prompt_summary, name="summary")
        (context,) = prompt.assemble(state=RuntimeState(summary="x" * 50_000)).contexts
        assert (len(context.text) > 3000) is trusted
