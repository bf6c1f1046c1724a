"""The settings and how the host takes them."""

from __future__ import annotations

import math

import dsh_prompt_git
import pytest
from dsh_prompt_git import Config

from dsh_prompt import PromptError, SystemPrompt


def test_defaults() -> None:
    """Every setting has a default."""
    assert Config() == Config(max_files=20, max_commits=5, timeout=2.0, untracked=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_files", -1),
        ("max_files", 1001),
        ("max_files", True),
        ("max_files", 1.5),
        ("max_commits", -1),
        ("max_commits", "5"),
        ("max_commits", 101),
        ("timeout", 0),
        ("timeout", -1.0),
        ("timeout", math.nan),
        ("timeout", math.inf),
        ("timeout", True),
        ("timeout", "2"),
        ("timeout", 61),
        ("untracked", 1),
        ("untracked", "no"),
    ],
)
def test_value_out_of_bounds(field: str, value: object) -> None:
    """A value that a field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^{field} must be .*, not .*{value!r}|^{field} must"):
        Config(**{field: value})  # type: ignore[arg-type]


def test_settings_are_fixed() -> None:
    """A built configuration does not change."""
    with pytest.raises(AttributeError):
        Config().max_files = 3  # type: ignore[misc]


def test_host_refuses_a_wrong_value(dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value says which, and the plugin stays out."""
    with pytest.raises(PromptError, match="max_files"):
        dsh_prompt_host.load(dsh_prompt_git, config={"max_files": -1})
    assert dsh_prompt_host.plugins == []
