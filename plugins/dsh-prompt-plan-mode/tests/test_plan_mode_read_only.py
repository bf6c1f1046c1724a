"""Which tools count as read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import PlanMode

from dsh_prompt import RuntimeState, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def is_kept(plan: RuntimeState) -> Callable[..., bool]:
    """Give a function that tells whether plan mode keeps a tool, under the given settings."""

    def ask(name: str, annotations: dict[str, Any] | None = None, **settings: Any) -> bool:
        prompt = SystemPrompt()
        prompt.tool({"name": name, "annotations": annotations or {}})
        prompt.load(PlanMode, name="plan-mode", config=settings)
        kept = [tool.name for tool in prompt.assemble(state=plan).tools]
        prompt.unload("plan-mode")
        prompt.load(PlanMode, name="plan-mode", config={**settings, "mode": "mask"})
        assert (name in prompt.assemble(state=plan).denied) is (name not in kept)
        return name in kept

    return ask


@pytest.mark.parametrize(
    ("annotations", "kept"),
    [
        ({}, False),
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": False}, False),
        ({"readOnlyHint": None}, False),
        ({"readOnlyHint": 1}, False),
        ({"readOnlyHint": "true"}, False),
        ({"readonlyhint": True}, False),
        ({"destructiveHint": False}, False),
        ({"readOnlyHint": True, "destructiveHint": False}, True),
        ({"readOnlyHint": True, "destructiveHint": True}, False),
        ({"readOnlyHint": True, "openWorldHint": True}, True),
    ],
)
def test_annotations(is_kept: Callable[..., bool], annotations: dict[str, Any], kept: bool) -> None:
    """A tool counts by its annotations only where these say so, and do not contradict it."""
    assert is_kept("tool", annotations) is kept


@pytest.mark.parametrize(
    ("glob", "kept"),
    [
        ("git_log", True),
        ("git_*", True),
        ("*", True),
        ("git_lo?", True),
        ("[gs]it_log", True),
        ("[!s]it_log", True),
        ("GIT_LOG", False),
        ("git", False),
        ("git_", False),
        ("git_log_all", False),
    ],
)
def test_globs(is_kept: Callable[..., bool], glob: str, kept: bool) -> None:
    """A glob matches whole names, upper and lower case being different."""
    assert is_kept("git_log", read_only=[glob]) is kept


def test_any_of_the_globs(is_kept: Callable[..., bool]) -> None:
    """One glob that matches is enough."""
    assert is_kept("git_log", read_only=["read", "git_*"])


@pytest.mark.parametrize("hint", [{"readOnlyHint": False}, {"destructiveHint": True}])
def test_listing_wins_over_annotations(is_kept: Callable[..., bool], hint: dict[str, bool]) -> None:
    """What the settings list stays, whatever the tool says of itself."""
    assert is_kept("exit_plan_mode", hint, read_only=["exit_plan_mode"])


def test_not_read_only_wins_over_annotations(is_kept: Callable[..., bool]) -> None:
    """A tool whose word is not trusted goes out."""
    said = {"readOnlyHint": True}
    assert not is_kept("mcp__shady__search", said, not_read_only=["mcp__shady__*"])


def test_not_read_only_wins_over_read_only(is_kept: Callable[..., bool]) -> None:
    """An exception to a glob goes out, and the others that it matches stay."""
    settings = {"read_only": ["git_*"], "not_read_only": ["git_push"]}
    assert not is_kept("git_push", **settings)
    assert is_kept("git_log", **settings)
