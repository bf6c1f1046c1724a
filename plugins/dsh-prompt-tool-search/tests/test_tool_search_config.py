"""What can be set, and what a checkout cannot."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from dsh_prompt_tool_search import Config

from dsh_prompt.fields import TRUSTED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threshold", -1),
        ("threshold", True),
        ("always", "read"),
        ("always", [""]),
        ("limit", 0),
        ("limit", 21),
        ("index_chars", 499),
        ("order", float("nan")),
    ],
)
def test_a_wrong_value_names_its_field(field: str, value: object) -> None:
    """A setting that cannot be is refused."""
    settings: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=field):
        Config(**settings)


def test_what_hides_tools_needs_trust() -> None:
    """A checkout cannot hide tools."""
    trusted = {one.name for one in attrs.fields(Config) if one.metadata == TRUSTED}
    assert trusted == {"threshold", "always", "index_chars"}
