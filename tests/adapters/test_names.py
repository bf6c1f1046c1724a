"""Names of tools that a provider does not take, and the way back."""

from __future__ import annotations

import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt.adapters.limits import ANTHROPIC, DEEPSEEK, GEMINI, OPENAI, Figure, Limits
from dsh_prompt.adapters.names import sent_names

LIMITS = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI, "deepseek": DEEPSEEK}
PATTERNS = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "deepseek": r"[a-zA-Z0-9_-]{1,64}",
}
every_provider = pytest.mark.parametrize("provider", LIMITS)

names = st.lists(
    st.text(min_size=1, max_size=150)
    | st.sampled_from(["read", "a.b", "a/b", "a:b", "1a", "a" * 64, "a" * 65, "\ud800", "a\n"]),
    max_size=6,
)


@every_provider
@given(names=names)
def test_every_name_becomes_one_that_the_provider_takes(provider: str, names: list[str]) -> None:
    """Two names stay two, and a good one stays as it is."""
    sent = sent_names(names, LIMITS[provider])
    assert set(sent) == set(names)
    assert len(set(sent.values())) == len(sent)
    for name, made in sent.items():
        assert re.fullmatch(PATTERNS[provider], made)
        assert made == name or not re.fullmatch(PATTERNS[provider], name)


@every_provider
@given(names=names, others=names)
def test_a_name_does_not_depend_on_the_other_tools(
    provider: str, names: list[str], others: list[str]
) -> None:
    """Or else a tool that comes would change the names of those that stay."""
    alone = sent_names(names, LIMITS[provider])
    assert alone.items() <= sent_names([*reversed(names), *others], LIMITS[provider]).items()


def test_the_name_is_the_same_on_every_machine() -> None:
    """A digest of the name itself, behind what can be read of it."""
    assert sent_names(["mcp/files", "read"], OPENAI) == {
        "mcp/files": "mcp_files_39d6de30",
        "read": "read",
    }
    assert sent_names(["1st"], GEMINI) == {"1st": "_1st_e01ddf65"}


def test_a_name_that_is_taken_is_not_made() -> None:
    """Also not where a tool is called what another one would become."""
    made = sent_names(["a/b"], OPENAI)["a/b"]
    sent = sent_names(["a/b", made], OPENAI)
    assert sent[made] == made
    assert sent["a/b"] != made


def test_a_short_limit_is_kept() -> None:
    """As another provider may have one."""
    short: Limits = attrs.evolve(OPENAI, name_length=Figure(12, "a test"))
    sent = sent_names(["a" * 13, "a" * 14], short)
    assert {len(name) for name in sent.values()} == {12}
