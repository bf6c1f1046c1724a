"""The settings, and what a checkout may not set."""

from __future__ import annotations

import math
import re
from typing import Any

import attrs
import dsh_prompt_agents_md
import pytest
from dsh_prompt_agents_md import Config

from dsh_prompt import PromptError, SectionOrder, SystemPrompt


def test_defaults() -> None:
    """Every setting has a default."""
    assert Config() == Config(
        user_files=("~/.config/AGENTS.md",),
        base_names=("AGENTS.md", "CLAUDE.md"),
        local_names=("AGENTS.local.md", "CLAUDE.local.md"),
        root_markers=(".git",),
        max_bytes=32768,
        max_file_bytes=1048576,
        order=SectionOrder.ENVIRONMENT,
    )


@pytest.mark.parametrize("field", ["base_names", "local_names", "root_markers"])
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("", "is empty"),
        (".", "is nothing but dots"),
        ("..", "is nothing but dots"),
        ("...", "is nothing but dots"),
        ("../AGENTS.md", "holds a slash, a backslash or a NUL"),
        ("docs/AGENTS.md", "holds a slash, a backslash or a NUL"),
        ("docs\\AGENTS.md", "holds a slash, a backslash or a NUL"),
        ("AGENTS\0.md", "holds a slash, a backslash or a NUL"),
        (3, "is not a string"),
    ],
)
def test_what_is_no_name(field: str, name: Any, complaint: str) -> None:
    """What is no name of a file in a directory raises, saying which one and why."""
    with pytest.raises(ValueError, match=rf"^{field}\[1\] {complaint}: {re.escape(repr(name))}$"):
        Config(**{field: ("fine", name)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("AGENTS.md", "is neither absolute nor below ~"),
        ("", "is neither absolute nor below ~"),
        ("~/a\0", "holds a NUL"),
    ],
)
def test_what_is_no_path_of_a_user_file(path: str, complaint: str) -> None:
    """A user's file must be the same one in every working directory."""
    with pytest.raises(ValueError, match=rf"^user_files\[0\] {complaint}: "):
        Config(user_files=(path,))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("user_files", "~/AGENTS.md"),
        ("base_names", "AGENTS.md"),
        ("max_bytes", -1),
        ("max_bytes", True),
        ("max_bytes", 1.5),
        ("max_bytes", 2**40),
        ("max_file_bytes", 0),
        ("max_file_bytes", "1"),
        ("order", math.nan),
        ("order", True),
        ("order", "first"),
    ],
)
def test_value_out_of_bounds(field: str, value: Any) -> None:
    """A value that a field does not take raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=rf"^{field} must be .*, not {re.escape(repr(value))}$"):
        Config(**{field: value})


def test_lists_become_tuples() -> None:
    """What JSON calls a list is taken."""
    assert Config(base_names=["A"]).base_names == ("A",)  # type: ignore[arg-type]


def test_host_refuses_a_wrong_value(dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value says which, and the plugin stays out."""
    with pytest.raises(PromptError, match="base_names"):
        dsh_prompt_host.load(dsh_prompt_agents_md, config={"base_names": ["../secret"]})
    assert dsh_prompt_host.plugins == []


def test_what_needs_trust() -> None:
    """A checkout decides nothing: not what is read, how much of it, or where it stands."""
    untrusted = {
        field.name
        for field in attrs.fields(Config)
        if field.metadata.get("dsh_prompt") != {"trusted": True}
    }
    assert untrusted == set()
