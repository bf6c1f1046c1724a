"""Adding notes, and taking them away again."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_memory import Memories, MemoriesError, NoteRefusedError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_note_is_kept(memories: Memories) -> None:
    """What was added can be read again, as it was, with the time of its adding in UTC."""
    note_id = memories.add("Deploys run on Fridays.")
    note = memories.get(note_id)
    assert note is not None
    assert (note.id, note.content, note.score) == (note_id, "Deploys run on Fridays.", None)
    assert timedelta(0) <= datetime.now(UTC) - note.created < timedelta(minutes=1)
    assert memories.count() == 1


def test_notes_outlive_the_store(store: Callable[..., Memories]) -> None:
    """Another store of the same file has the notes of the one before."""
    first = store()
    note_id = first.add("Deploys run on Fridays.")
    first.close()
    found = store().get(note_id)
    assert found is not None
    assert found.content == "Deploys run on Fridays."


def test_equal_notes_are_one(memories: Memories) -> None:
    """A note that is there already keeps its id; space around it and kinds of lines are nothing."""
    first = memories.add("one\ntwo")
    assert memories.add("one\ntwo") == first
    assert memories.add("  one\r\ntwo\n") == first
    assert memories.add("one two") != first
    assert memories.count() == 2


def test_forgetting(memories: Memories) -> None:
    """A forgotten note is neither there nor found, and its id goes to no other."""
    note_id = memories.add("Deploys run on Fridays.")
    assert memories.forget(note_id)
    assert memories.get(note_id) is None
    assert memories.search("Fridays") == ()
    assert not memories.forget(note_id)
    assert memories.add("Deploys run on Fridays.") > note_id


@pytest.mark.parametrize("note_id", [0, -1, 2**63, 10**30])
def test_no_note_has_that_id(memories: Memories, note_id: int) -> None:
    """Numbers that no note can have are ids of nothing."""
    memories.add("one")
    assert memories.get(note_id) is None
    assert not memories.forget(note_id)


@pytest.mark.parametrize("note_id", ["1", 1.0, True, None])
def test_what_is_no_id(memories: Memories, note_id: Any) -> None:
    """What is no whole number is a mistake of the caller."""
    memories.add("one")
    for method in (memories.get, memories.forget):
        with pytest.raises(TypeError, match="the id of a note must be an int"):
            method(note_id)
    assert memories.count() == 1


def test_recent_notes(memories: Memories) -> None:
    """The notes that were added last come first."""
    for number in range(5):
        memories.add(f"note {number}")
    assert [note.content for note in memories.recent(2)] == ["note 4", "note 3"]
    assert len(memories.recent()) == 5
    assert len(memories.recent(10**30)) == 5


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "must not be blank"),
        (" \r\n\t", "must not be blank"),
        ("x" * 1001, "has 1001 characters, and 1000 is the most"),
        ("PNG\0\0\x01", r"is no text: it holds U\+0000 at character 3"),
        ("half \ud83d", r"is no text: it holds U\+D83D at character 5"),
        (b"bytes", "must be a text, not bytes"),
        (None, "must be a text, not NoneType"),
    ],
)
def test_what_is_no_note(memories: Memories, content: Any, complaint: str) -> None:
    """What is blank, too long or no text is refused with the reason, and nothing is kept."""
    with pytest.raises(NoteRefusedError, match=complaint) as caught:
        memories.add(content)
    assert isinstance(caught.value, ValueError)
    assert memories.count() == 0


def test_a_full_store(store: Callable[..., Memories]) -> None:
    """Past the limit a new note is refused, one that is there is not, and forgetting makes room."""
    memories = store(max_notes=2)
    first = memories.add("one")
    memories.add("two")
    with pytest.raises(NoteRefusedError, match="there are 2 notes, the most that may be"):
        memories.add("three")
    assert memories.add("one") == first
    memories.forget(first)
    memories.add("three")
    assert [note.content for note in memories.recent()] == ["three", "two"]


@given(contents=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30)))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_comes_back(store: Callable[..., Memories], contents: list[str]) -> None:
    """Whatever text is accepted comes back as it was, but for space around it and line ends."""
    memories = store()
    for old in memories.recent(1000):
        memories.forget(old.id)
    kept = {}
    for content in contents:
        try:
            kept[memories.add(content)] = content
        except NoteRefusedError:
            assert not content.strip() or "\0" in content
    for note_id, content in kept.items():
        note = memories.get(note_id)
        assert note is not None
        assert note.content.split() == content.split()
    memories.close()


def test_many_threads(memories: Memories) -> None:
    """One store serves many threads at once, and loses nothing."""

    def work(number: int) -> None:
        for count in range(10):
            memories.add(f"note {number} {count}")
            memories.search(f"note {number}")

    threads = [Thread(target=work, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {note.content for note in memories.recent(100)} == {
        f"note {number} {count}" for number in range(6) for count in range(10)
    }


def test_a_closed_store(memories: Memories) -> None:
    """A store that was closed says so; closing it twice is harmless."""
    with memories:
        memories.add("one")
    memories.close()
    for use in (memories.count, memories.recent, lambda: memories.add("two")):
        with pytest.raises(MemoriesError, match="is closed"):
            use()


def test_the_clock_may_go_back(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was added last is newest, whatever the clock says."""
    memories.add("first")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    memories.add("second")
    assert [note.content for note in memories.recent()] == ["second", "first"]
