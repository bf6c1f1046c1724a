"""Which snapshot message a history still needs."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_prompt import (
    RuntimeContextProjection,
    SystemPrompt,
    join_context_sections,
    render_context_snapshot,
)

CLEARED = "Current runtime context: none. Earlier runtime-context snapshots no longer apply."
ONE = join_context_sections([("git", "On branch main.")])
TWO = join_context_sections([("git", "On branch work.")])


def accepted(*texts: str) -> RuntimeContextProjection:
    """Make a projection to which these *texts* were appended."""
    projection = RuntimeContextProjection()
    for text in texts:
        projection.accept(text)
    return projection


def test_the_first_snapshot_is_appended() -> None:
    """There is none in the history yet."""
    assert RuntimeContextProjection().project(ONE) == ONE


def test_nothing_is_said_as_long_as_there_was_nothing() -> None:
    """No snapshot ever, and none now."""
    assert RuntimeContextProjection().project("") is None


def test_project_changes_nothing() -> None:
    """A step that failed does not accept, and is offered the text again."""
    projection = RuntimeContextProjection()
    assert [projection.project(ONE), projection.project(ONE)] == [ONE, ONE]
    assert projection.project("") is None
    assert projection.project(TWO) == TWO


def test_the_retained_snapshot_is_not_repeated() -> None:
    """Until it changes."""
    projection = accepted(ONE)
    assert projection.project(ONE) is None
    assert projection.project(TWO) == TWO
    projection.accept(TWO)
    assert projection.project(TWO) is None
    assert projection.project(ONE) == ONE


def test_an_empty_snapshot_after_another_is_said_once() -> None:
    """That the earlier ones no longer apply; then there is nothing to say."""
    projection = accepted(ONE)
    assert projection.project("") == CLEARED
    assert projection.project("") == CLEARED
    projection.accept(CLEARED)
    assert projection.project("") is None
    assert projection.project(ONE) == ONE


def test_a_snapshot_that_compaction_removed_is_sent_again() -> None:
    """Though it is the same."""
    projection = accepted(ONE)
    projection.forget()
    assert projection.project(ONE) == ONE
    projection.accept(ONE)
    assert projection.project(ONE) is None


def test_a_cleared_text_that_compaction_removed_is_sent_again() -> None:
    """A snapshot existed once; what the model remembers of it nobody knows."""
    projection = accepted(ONE, CLEARED)
    projection.forget()
    assert projection.project("") == CLEARED


def test_forgetting_what_never_was_is_harmless() -> None:
    """There still was nothing."""
    projection = RuntimeContextProjection()
    projection.forget()
    assert projection.project("") is None


@pytest.mark.parametrize(
    ("history", "snapshot", "expected"),
    [
        ([], ONE, ONE),
        ([], "", None),
        ([ONE], ONE, None),
        ([ONE], TWO, TWO),
        ([ONE], "", CLEARED),
        ([ONE, TWO], ONE, ONE),
        ([ONE, TWO], TWO, None),
        ([ONE, CLEARED], "", None),
        ([ONE, CLEARED], ONE, ONE),
        ([CLEARED, ONE], ONE, None),
        (["Hello.", ONE, "Go on."], ONE, None),
    ],
)
def test_a_history_restores_the_projection(
    history: list[str], snapshot: str, expected: str | None
) -> None:
    """The last snapshot in it is the one retained."""
    messages = [{"role": "user", "content": text} for text in history]
    assert RuntimeContextProjection.from_messages(messages).project(snapshot) == expected


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": ONE},
        {"role": "system", "content": ONE},
        {"role": "user", "content": f"You said: {ONE}"},
        {"role": "user", "content": ONE.partition("\n")[0]},
        {"role": "user", "content": f"{CLEARED} Really."},
        {"role": "user", "content": None},
        {"role": "user"},
        {"content": ONE},
        {"role": "user", "content": [{"type": "image"}, {"text": None}, 5]},
    ],
)
def test_other_messages_are_no_snapshots(message: dict[str, Any]) -> None:
    """Neither of other roles, nor texts that only contain one."""
    projection = RuntimeContextProjection.from_messages([message])
    assert projection.project("") is None
    assert projection.project(ONE) == ONE


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "Hello."}, {"type": "text", "text": ONE}],
        ({"type": "text", "text": ONE},),
        ["Hello.", ONE],
    ],
)
def test_the_content_of_a_message_may_have_parts(content: Any) -> None:
    """As provider clients take it."""
    messages = [{"role": "user", "content": content}]
    assert RuntimeContextProjection.from_messages(messages).project(ONE) is None


def test_messages_may_come_from_an_iterator() -> None:
    """They are read once."""
    messages = ({"role": "user", "content": text} for text in (ONE, TWO))
    assert RuntimeContextProjection.from_messages(messages).project(TWO) is None


def test_a_loop_sends_a_snapshot_only_when_it_changed() -> None:
    """Project, append, accept: the way a loop uses it, on what a host renders."""
    prompt, branch = SystemPrompt(), ["main"]
    prompt.context(name="git", order=1, text=lambda: branch[0] and f"On branch {branch[0]}.")
    projection = RuntimeContextProjection()
    history: list[str] = []
    for name in ("main", "main", "work", "", "", "main"):
        branch[0] = name
        text = projection.project(render_context_snapshot(prompt.assemble()))
        if text is not None:
            history.append(text)
            projection.accept(text)
    assert history == [ONE, TWO, CLEARED, ONE]
    messages = [{"role": "user", "content": text} for text in history]
    assert RuntimeContextProjection.from_messages(messages).project(ONE) is None


def test_a_projection_is_restored_from_messages_of_gemini() -> None:
    """Its messages have parts."""
    messages = [{"role": "user", "parts": [{"text": ONE}]}]
    assert RuntimeContextProjection.from_messages(messages).project(ONE) is None
