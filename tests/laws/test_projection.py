"""The projection of runtime context: a history holds the newest snapshot, once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import (
    AssembledContext,
    PromptAssembly,
    RuntimeContextProjection,
    render_context_snapshot,
)

CLEARED = "Current runtime context: none. Earlier runtime-context snapshots no longer apply."


def snapshot_of(text: str) -> str:
    """Render a snapshot with *text* in it; none for an empty text."""
    context = AssembledContext("clock", text, literal=True)
    return render_context_snapshot(
        PromptAssembly(sections=[], contexts=[context], tools=[], variables={})
    )


def take(projection: RuntimeContextProjection, history: list[str]) -> None:
    """Take the steps of *history*, all of which succeed."""
    for snapshot in history:
        text = projection.project(snapshot)
        if text is not None:
            projection.accept(text)


snapshots = st.sampled_from(["", "noon", "dusk", "dawn"]).map(snapshot_of)


@given(history=st.lists(snapshots, max_size=6), snapshot=snapshots)
def test_an_accepted_snapshot_is_not_offered_again(history: list[str], snapshot: str) -> None:
    """What was appended holds until another snapshot comes."""
    projection = RuntimeContextProjection()
    take(projection, [*history, snapshot])
    assert projection.project(snapshot) is None


@given(history=st.lists(snapshots, max_size=6), snapshot=snapshots)
def test_a_snapshot_is_offered_until_it_is_accepted(history: list[str], snapshot: str) -> None:
    """Projecting changes nothing: a step that failed is offered its snapshot again."""
    projection = RuntimeContextProjection()
    take(projection, history)
    offered = projection.project(snapshot)
    for other in history:
        projection.project(other)
    assert projection.project(snapshot) == offered


@given(steps=st.lists(st.tuples(snapshots, st.booleans(), st.booleans()), max_size=12))
def test_a_projection_follows_its_model(steps: list[tuple[str, bool, bool]]) -> None:
    """Over accepted, failed and compacted steps, exactly the needed texts are offered."""
    projection, existed = RuntimeContextProjection(), False
    retained: str | None = None
    for snapshot, accepted, compacted in steps:
        wanted = snapshot or (CLEARED if existed else None)
        expected = None if wanted == retained else wanted
        assert projection.project(snapshot) == expected
        if accepted and expected is not None:
            projection.accept(expected)
            existed, retained = True, expected
        if compacted:
            projection.forget()
            retained = None


def test_nothing_is_said_of_a_context_that_never_was() -> None:
    """Without any snapshot so far, an empty one needs no message."""
    projection = RuntimeContextProjection()
    assert projection.project("") is None
    projection.forget()
    assert projection.project("") is None


@given(history=st.lists(snapshots, max_size=6))
def test_a_cleared_context_is_announced_once(history: list[str]) -> None:
    """After a snapshot an empty one gives the cleared text, and then nothing."""
    projection = RuntimeContextProjection()
    take(projection, [*history, snapshot_of("noon")])
    assert projection.project("") == CLEARED
    projection.accept(CLEARED)
    assert projection.project("") is None
    assert projection.project(snapshot_of("dusk")) == snapshot_of("dusk")


@given(
    history=st.lists(snapshots | st.sampled_from(["hello", "fix the tests"]), max_size=8),
    snapshot=snapshots,
)
def test_a_projection_is_restored_from_messages(history: list[str], snapshot: str) -> None:
    """A history with other messages in between restores the projection that made it."""
    projection, messages = RuntimeContextProjection(), []
    for text in history:
        ours = text == snapshot_of("") or text.startswith("Current runtime context")
        appended = projection.project(text) if ours else text
        if appended is not None:
            messages.append({"role": "user", "content": appended})
            messages.append({"role": "assistant", "content": "I see."})
        if appended is not None and ours:
            projection.accept(appended)
    restored = RuntimeContextProjection.from_messages(messages)
    assert restored.project(snapshot) == projection.project(snapshot)
