"""The settings, and what a checkout may not set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs
import dsh_prompt_memory
import pytest
from dsh_prompt_memory import MEMORIES, Config

from dsh_prompt import Config as HostConfig
from dsh_prompt import ConfigError, PluginLoadError, SystemPrompt
from dsh_prompt.testing import assert_tools

if TYPE_CHECKING:
    from pathlib import Path

WRONG = [
    ("path", "notes.db"),
    ("path", ""),
    ("path", ":memory:"),
    ("path", "/notes\0.db"),
    ("path", "~nosuchuser/notes.db"),
    ("path", 5),
    ("path", ["/notes.db"]),
    ("tools", 1),
    ("tools", "no"),
    ("max_items", -1),
    ("max_items", 101),
    ("max_items", True),
    ("max_chars", 499),
    ("max_chars", 2**40),
    ("max_note_chars", 49),
    ("max_note_chars", "1000"),
    ("max_notes", 0),
    ("max_notes", 1.5),
    ("timeout", 0),
    ("timeout", 61),
    ("timeout", True),
    ("timeout", None),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_wrong_value(field: str, value: Any) -> None:
    """A value that a field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^{field} must be .*, not {re.escape(repr(value))}$"):
        Config(**{field: value})


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_host_refuses_a_wrong_value(
    field: str, value: object, dsh_prompt_host: SystemPrompt
) -> None:
    """A host that is given a wrong value names plugin and field, and the plugin stays out."""
    with pytest.raises(PluginLoadError, match=rf'"memory".*\b{field}\b') as caught:
        dsh_prompt_host.load(dsh_prompt_memory, name="memory", config={field: value})
    assert isinstance(caught.value, ConfigError)
    assert dsh_prompt_host.plugins == []


def test_unknown_setting(dsh_prompt_host: SystemPrompt) -> None:
    """A setting that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=r'max_note:.*did you mean "max_notes"'):
        dsh_prompt_host.load(dsh_prompt_memory, config={"max_note": 5})


def test_what_needs_trust() -> None:
    """A checkout decides nothing: not where notes are written, nor what of them is shown."""
    fields = attrs.fields(Config)
    assert [one.name for one in fields if not one.metadata["dsh_prompt"]["trusted"]] == []


@pytest.mark.parametrize("trusted", [False, True])
def test_a_checkout_does_not_choose_the_file(
    trusted: bool, tmp_path: Path, dsh_prompt_host: SystemPrompt
) -> None:
    """Until it is trusted, the settings of a project have no effect."""
    file = tmp_path / "dsh-prompt.toml"
    stolen = tmp_path / "stolen.sqlite3"
    file.write_text(f"[plugins.config.memory]\npath = '{stolen}'\ntools = false\n")
    prompt = SystemPrompt(HostConfig.load(file, trusted=trusted))
    with prompt:
        info = prompt.load(dsh_prompt_memory, name="memory")
        assert len(info.ignored) == (0 if trusted else 2)
        assert (prompt.require(MEMORIES).path == stolen) is trusted
        assert_tools(prompt.assemble(), *([] if trusted else ["recall", "remember"]))
