"""The settings, and what a checkout may not set."""

from __future__ import annotations

import re
from typing import Any

import attrs
import dsh_prompt_env
import pytest
from dsh_prompt_env import Config

from dsh_prompt import PromptError, SystemPrompt
from dsh_prompt.fields import TRUSTED


def test_defaults() -> None:
    """Every setting has a default."""
    assert Config() == Config(
        variables=("platform", "shell", "cwd", "model", "provider"),
        platform=None,
        shell=None,
        max_open_files=20,
        max_open_chars=8000,
        max_notes=20,
        max_note_chars=2000,
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_open_files", -1),
        ("max_open_files", 1001),
        ("max_open_files", True),
        ("max_open_files", "20"),
        ("max_open_chars", 99),
        ("max_open_chars", 100_001),
        ("max_notes", -1),
        ("max_notes", 101),
        ("max_notes", 1.0),
        ("max_note_chars", 99),
        ("max_note_chars", 100_001),
        ("max_note_chars", None),
        ("variables", "cwd"),
        ("variables", None),
        *[
            (field, value)
            for field in ("platform", "shell")
            for value in ("", " ", "a\nb", "a\u200b", "\ud800", "</memory>", "x" * 201, 1, True)
        ],
    ],
)
def test_value_out_of_bounds(field: str, value: Any) -> None:
    """A value that a field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^{field} must be .*, not {re.escape(repr(value))}$"):
        Config(**{field: value})


@pytest.mark.parametrize("name", ["", "home", "CWD", "cwd\n"])
def test_no_variable(name: str) -> None:
    """A name of no variable raises, and says which ones there are."""
    message = rf"^variables\[1\] is none of platform, shell, .*: {re.escape(repr(name))}$"
    with pytest.raises(ValueError, match=message):
        Config(variables=("cwd", name))


def test_host_refuses_a_wrong_value(dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value says which, and the plugin stays out."""
    with pytest.raises(PromptError, match="max_notes"):
        dsh_prompt_host.load(dsh_prompt_env, config={"max_notes": -1})
    assert dsh_prompt_host.plugins == []


def test_what_needs_trust() -> None:
    """A checkout decides on the number of file names alone."""
    untrusted = {field.name for field in attrs.fields(Config) if field.metadata != TRUSTED}
    assert untrusted == {"max_open_files"}
