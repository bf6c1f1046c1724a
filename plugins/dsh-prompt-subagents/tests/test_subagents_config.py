"""The settings, and what a checkout may not set."""

from __future__ import annotations

import re
from typing import Any

import attrs
import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import Config

from dsh_prompt import PromptError, SystemPrompt
from dsh_prompt.fields import TRUSTED


def test_defaults() -> None:
    """Every setting has a default."""
    assert Config() == Config(
        tool="delegate", tool_schema=True, rules=None, max_shown=20, max_chars=300
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool", ""),
        ("tool", "two words"),
        ("tool", "tool\n"),
        ("tool", "\u0442ask"),
        ("tool", "x" * 65),
        ("tool", "{{x}}"),
        ("tool", None),
        ("tool_schema", "yes"),
        ("tool_schema", 1),
        ("rules", ""),
        ("rules", " \n"),
        ("rules", 1),
        ("max_shown", 0),
        ("max_shown", 201),
        ("max_shown", True),
        ("max_chars", 19),
        ("max_chars", 5001),
        ("max_chars", "300"),
    ],
)
def test_value_out_of_bounds(field: str, value: Any) -> None:
    """A value that a field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^{field} must be .*, not {re.escape(repr(value))}$"):
        Config(**{field: value})


def test_host_refuses_a_wrong_value(dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value says which, and the plugin stays out."""
    with pytest.raises(PromptError, match="max_shown"):
        dsh_prompt_host.load(dsh_prompt_subagents, config={"max_shown": 0})
    assert dsh_prompt_host.plugins == []


def test_what_needs_trust() -> None:
    """A checkout has no say in the words, or the tools, of an agent."""
    untrusted = {field.name for field in attrs.fields(Config) if field.metadata != TRUSTED}
    assert untrusted == {"max_shown", "max_chars"}
