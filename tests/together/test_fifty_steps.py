"""Fifty steps with all plugins: what changes is told in snapshots, and the prefix stays."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.together.agent import Agent, Script, host, make_project, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.adapters import Request

Call = tuple[str, dict[str, Any]]

READ: Call = ("read", {"path": "a"})
WRITE: Call = ("write", {"path": "a"})


def todos(*statuses: str) -> Call:
    """Give the call that writes the list, each item with its status."""
    items = [{"content": f"Part {n}", "status": status} for n, status in enumerate(statuses, 1)]
    return "todo_write", {"todos": items}


#: What the user says, what the world is like from then on, and what the model calls, to its text.
TURNS: list[tuple[str, dict[str, Any], list[Call]]] = [
    ("Plan the release.", {"permission_mode": "plan", "task": "release"}, [READ, WRITE, READ]),
    ("Go.", {"permission_mode": "default"}, [todos("in_progress", "pending"), READ, WRITE, READ]),
    ("I like tags signed.", {}, [("remember", {"content": "The user signs release tags."})]),
    ("Go on.", {"open_files": ["a.py"]}, [todos("completed", "in_progress"), READ, WRITE, READ]),
    ("Release it.", {"loaded_skills": ["release"]}, [("skill", {"name": "release"}), READ, READ]),
    ("Look again.", {"permission_mode": "plan"}, [WRITE, READ, READ, READ, READ]),
    ("Good.", {"permission_mode": "default"}, [todos("completed", "completed"), WRITE, READ]),
    ("What do I like?", {"task": "release tags"}, [("recall", {"query": "tags"}), READ]),
    ("And now?", {"summary": "The release was planned and made. Tags are signed."}, [READ, READ]),
    ("Note that.", {"project_notes": ["Releases are on Fridays."]}, [READ, WRITE, READ, READ]),
    ("The end.", {"loaded_skills": []}, [READ, WRITE, READ, todos(), READ]),
    ("Thanks.", {}, [READ, READ]),
]


def replies() -> list[Call | None]:
    return [call for _, _, calls in TURNS for call in (*calls, None)]


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Request]]:
    """Give the requests of the whole conversation."""
    folder = tmp_path_factory.mktemp("together")
    with host(folder) as prompt:
        agent = Agent(prompt, make_project(folder / "project"))
        model = Script(replies())
        talk(agent, model, {said: facts for said, facts, _ in TURNS})
        yield model.requests


def first_of(said: str) -> int:
    """Give the index of the first request after the user said this."""
    index = 0
    for text, _, calls in TURNS:
        if text == said:
            return index
        index += len(calls) + 1
    raise KeyError(said)


def snapshot_at(steps: list[Request], index: int) -> str:
    """Give the snapshot that holds in a request: the last one in its messages."""
    texts = [str(message.get("content")) for message in steps[index]["messages"]]
    return [text for text in texts if text.startswith("Current runtime context")][-1]


def outputs(steps: list[Request]) -> list[str]:
    messages = steps[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_there_are_fifty_steps_with_one_prefix(steps: list[Request]) -> None:
    """System prompt and tools are the same bytes in all of them, though nothing pins them."""
    prefixes = {json.dumps([step["messages"][0], step["tools"]]) for step in steps}
    assert len(steps) == 50
    assert len(prefixes) == 1
    assert len({step["prompt_cache_key"] for step in steps}) == 1


def test_each_request_goes_on_where_the_last_one_ended(steps: list[Request]) -> None:
    """So all that was sent is in the cache."""
    for before, after in itertools.pairwise(steps):
        assert after["messages"][: len(before["messages"])] == before["messages"]


def test_plan_mode_is_a_mask(steps: list[Request]) -> None:
    """Writing is refused in it, and only in it."""
    refused = [text for text in outputs(steps) if "plan mode is active" in text]
    written = [text for text in outputs(steps) if text == "write is done"]
    assert (len(refused), len(written)) == (2, 5)
    assert 'Permission mode: "plan"' in snapshot_at(steps, 0)
    assert 'Permission mode: "plan"' not in snapshot_at(steps, first_of("Go."))


def test_todos_are_ticked(steps: list[Request]) -> None:
    go_on = first_of("Go on.")
    assert "## Todo in progress\n\n- Part 1" in snapshot_at(steps, go_on)
    assert "## Todo in progress\n\n- Part 2" in snapshot_at(steps, go_on + 1)
    assert "2 of 2 done" in snapshot_at(steps, first_of("And now?"))
    assert "Todo" not in snapshot_at(steps, 49)


def test_memories_are_found(steps: list[Request]) -> None:
    found = snapshot_at(steps, first_of("What do I like?"))
    assert "<memory>" in found
    assert "* The user signs release tags." in found
    assert "<memory>" not in snapshot_at(steps, first_of("I like tags signed."))


def test_a_skill_is_loaded_and_put_away(steps: list[Request]) -> None:
    assert "Tag it, then push the tag." in snapshot_at(steps, first_of("Release it."))
    assert "Tag it, then push the tag." not in snapshot_at(steps, 49)
    assert "release: Releases a version." in steps[0]["messages"][0]["content"]


def test_a_summary_and_notes_come_up(steps: list[Request]) -> None:
    assert "The release was planned and made." in snapshot_at(steps, first_of("And now?"))
    assert "Releases are on Fridays." in snapshot_at(steps, first_of("Note that."))


def test_contexts_stand_in_one_order(steps: list[Request]) -> None:
    """Where the agent is, what it may do, its todos, the summary, memories, skills."""
    titles = [
        line for line in snapshot_at(steps, first_of("And now?")).splitlines() if line[:3] == "## "
    ]
    assert titles == [
        "## Date",
        "## Working directory",
        "## Open files",
        "## Permissions",
        "## Todos",
        "## Conversation so far",
        "## Memory",
        "## Loaded skills",
    ]
