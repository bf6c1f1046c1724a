"""The settings, and what a checkout may not set."""

from __future__ import annotations

import re
from typing import Any

import attrs
import dsh_prompt_skills
import pytest
from dsh_prompt_skills import Config

from dsh_prompt import PromptError, SystemPrompt


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("roots", "skills", "must be a list of strings, not 'skills'"),
        ("roots", ["skills"], "[0] is neither absolute nor below ~: 'skills'"),
        ("user_roots", ["~/a", "~/b\0"], "[1] holds a NUL: '~/b\\x00'"),
        ("user_roots", [1], "[0] is not a string: 1"),
        ("project_roots", [""], "[0] names no folder: ''"),
        ("project_roots", ["."], "[0] names no folder: '.'"),
        ("project_roots", ["a/../../b"], "[0] leads upward: 'a/../../b'"),
        ("project_roots", ["/etc"], "[0] is no path below a folder, with / between its parts"),
        ("project_roots", ["a\\b"], "[0] is no path below a folder, with / between its parts"),
        ("project_roots", ["C:x"], "[0] is no path below a folder, with / between its parts"),
        ("root_markers", [".."], "[0] is nothing but dots: '..'"),
        ("root_markers", ["a/b"], "[0] holds a slash, a backslash or a NUL: 'a/b'"),
        ("installed", 1, "must be true or false, not 1"),
        ("max_catalogue_chars", -1, "must be a whole number from 0 to 1048576, not -1"),
        ("max_body_chars", 0, "must be a whole number from 1 to 1048576, not 0"),
        ("max_loaded_chars", True, "must be a whole number from 1 to 4194304, not True"),
        ("max_file_bytes", "1", "must be a whole number from 1 to 4194304, not '1'"),
        ("order", float("nan"), "must be a finite number, not nan"),
    ],
)
def test_wrong_settings(field: str, value: Any, complaint: str) -> None:
    """A wrong setting is named, by the class and by the host."""
    separator = "" if complaint.startswith("[") else " "
    with pytest.raises(ValueError, match=f"^{re.escape(field + separator + complaint)}"):
        Config(**{field: value})
    with pytest.raises(PromptError, match=field):
        SystemPrompt().load(dsh_prompt_skills, config={field: value})


def test_unknown_setting() -> None:
    """An unknown key is refused, with the nearest one."""
    with pytest.raises(PromptError, match="project_roots"):
        SystemPrompt().load(dsh_prompt_skills, config={"project_root": []})


def test_all_need_trust() -> None:
    """A checkout's own settings count only once a person has trusted it."""
    for field in attrs.fields(Config):
        assert field.metadata["dsh_prompt"]["trusted"] is True
