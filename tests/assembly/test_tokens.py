"""Tokens, roughly: the same number everywhere, and never far from what vendors say."""

from __future__ import annotations

import pytest

from dsh_prompt.assembly.tokens import approximate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("\u4f60\u597d\u4e16\u754c", 3), ("\ud800", 1)],
)
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    """Rounded up; a lone surrogate, as in names of files, counts like any other character."""
    assert approximate_tokens(text) == tokens


def test_it_is_near_what_a_vendor_says_of_its_own_tokens() -> None:
    """DeepSeek tells 0.3 tokens for an English character, and 0.6 for a Chinese one."""
    assert approximate_tokens("e" * 1000) == pytest.approx(300, rel=0.25)
    assert approximate_tokens("\u4f60" * 1000) == pytest.approx(600, rel=0.25)
