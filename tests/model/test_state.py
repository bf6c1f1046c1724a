"""State: what is true of the agent, as an immutable value and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest

from dsh_prompt import AssembleContext, Config, ConfigError, RuntimeState, SystemPrompt

FULL: dict[str, Any] = {
    "workdir": "/src",
    "model": "m-1",
    "provider": "p",
    "permission_mode": "plan",
    "task": "Fix it.",
    "enabled_tools": ["read", "bash"],
    "open_files": ["a.py"],
    "todos": [
        {"content": "one", "status": "completed"},
        {"content": "two", "status": "in_progress"},
        {"content": "three", "status": "pending"},
    ],
    "loaded_skills": ["review"],
    "memories": [{"content": "tabs", "score": 0.5}, {"content": "spaces", "score": None}],
    "summary": "So far.",
    "project_notes": ["Be careful."],
    "discovered_tools": ["mcp__x__y"],
    "extra": {"git": {"branches": ["main"], "dirty": True}},
}


def test_every_field_is_optional() -> None:
    """An empty state has the default permission mode and nothing else."""
    state = RuntimeState()
    assert state.permission_mode == "default"
    others = attrs.asdict(state, filter=attrs.filters.exclude("permission_mode"))
    assert not any(others.values())
    assert RuntimeState.from_dict({}) == state


def test_a_state_round_trips_through_json() -> None:
    """With every field, in one and the same order."""
    state = RuntimeState.from_dict(json.loads(json.dumps(FULL)))
    assert state.to_dict() == FULL
    assert list(state.to_dict()) == list(FULL)
    assert RuntimeState.from_dict(json.loads(json.dumps(state.to_dict()))) == state


@pytest.mark.parametrize(
    ("todo", "error", "told"),
    [
        ({"content": "a", "status": "done"}, ValueError, "status of a todo must be one of 'pend"),
        ("a", TypeError, "a todo must be a Todo or a dict of its fields, not 'a'"),
    ],
)
def test_a_todo_that_is_none_is_refused_in_plain_words(
    todo: Any, error: type[Exception], told: str
) -> None:
    """Also where the state is not read from JSON."""
    with pytest.raises(error, match=told):
        RuntimeState(todos=[todo])


def test_todos_and_memories_have_their_fields() -> None:
    """A status is pending unless something else is said, a score may be missing."""
    state = RuntimeState.from_dict(FULL | {"todos": [{"content": "x"}]})
    assert (state.todos[0].content, state.todos[0].status) == ("x", "pending")
    assert [(memory.content, memory.score) for memory in state.memories] == [
        ("tabs", 0.5),
        ("spaces", None),
    ]


def test_a_state_can_be_built_in_code_as_in_json() -> None:
    """Lists become tuples, mappings the items that they describe."""
    assert RuntimeState(**FULL) == RuntimeState.from_dict(FULL)
    assert RuntimeState(workdir=Path("/src")).workdir == "/src"


def test_a_state_is_immutable_through_and_through() -> None:
    """Neither fields nor what they hold can be changed."""
    state: Any = RuntimeState.from_dict(FULL)
    for change in (
        lambda: setattr(state, "task", "other"),
        lambda: setattr(state.todos[0], "status", "pending"),
        lambda: state.extra.update(x=1),
        lambda: state.extra["git"].update(x=1),
        lambda: state.extra["git"]["branches"].append("x"),
        lambda: state.open_files.append("x"),
    ):
        with pytest.raises((attrs.exceptions.FrozenInstanceError, TypeError, AttributeError)):
            change()
    assert state.to_dict() == FULL


def test_a_state_shares_nothing_with_what_it_was_made_from() -> None:
    """Changing the mapping afterwards changes no state."""
    data = json.loads(json.dumps(FULL))
    state = RuntimeState.from_dict(data)
    data["extra"]["git"]["branches"].append("other")
    data["open_files"].append("b.py")
    assert state.to_dict() == FULL
    state.to_dict()["extra"]["git"]["dirty"] = False
    assert state.to_dict() == FULL


def test_a_state_is_a_value() -> None:
    """Equal ones are equal and hash alike, so that a cache may use them as keys."""
    one, other = RuntimeState.from_dict(FULL), RuntimeState.from_dict(FULL)
    assert (one, hash(one)) == (other, hash(other))
    assert attrs.evolve(one, task="other") != other


@pytest.mark.parametrize(
    ("data", "path", "nearest"),
    [
        ({"todo": []}, "todo", "todos"),
        ({"work_dir": "/"}, "work_dir", "workdir"),
        ({"todos": [{"content": "a"}, {"contents": "a"}]}, "todos[1].content", "content"),
        ({"memories": [{"content": "a", "scoer": 1}]}, "memories[0].scoer", "score"),
    ],
)
def test_an_unknown_field_is_refused_with_path_and_nearest(
    data: dict[str, Any], path: str, nearest: str
) -> None:
    """A typing error must not pass for a state."""
    with pytest.raises(ConfigError, match=f'did you mean "{nearest}"') as caught:
        RuntimeState.from_dict(data, file="state.json")
    assert (caught.value.path, caught.value.file) == (path, "state.json")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"workdir": 5}, "workdir"),
        ({"model": 5}, "model"),
        ({"permission_mode": None}, "permission_mode"),
        ({"enabled_tools": "read"}, "enabled_tools"),
        ({"enabled_tools": [5]}, "enabled_tools[0]"),
        ({"open_files": {"a": 1}}, "open_files"),
        ({"todos": {"content": "a"}}, "todos"),
        ({"todos": ["a"]}, "todos[0]"),
        ({"todos": [{"content": 5}]}, "todos[0].content"),
        ({"todos": [{"content": "a", "status": "done"}]}, "todos[0].status"),
        ({"todos": [{}]}, "todos[0].content"),
        ({"memories": [{"content": "a", "score": "1"}]}, "memories[0].score"),
        ({"memories": [{"content": "a", "score": True}]}, "memories[0].score"),
        ({"extra": []}, "extra"),
        ({"summary": ["a"]}, "summary"),
    ],
)
def test_a_wrong_type_is_refused_with_its_path(data: dict[str, Any], path: str) -> None:
    """Nothing is made into something else."""
    with pytest.raises(ConfigError) as caught:
        RuntimeState.from_dict(data)
    assert caught.value.path == path


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {1: "a"}])
def test_an_extra_that_is_no_json_is_refused_with_its_path(value: object) -> None:
    """It could not be written down."""
    with pytest.raises(ConfigError) as caught:
        RuntimeState.from_dict({"extra": {"git": value}})
    assert caught.value.path.startswith("extra")


def test_any_mapping_is_a_state_document() -> None:
    """As the annotation says; a read-only one is a mapping too."""
    assert RuntimeState.from_dict(MappingProxyType({"task": "x"})).task == "x"


@pytest.mark.parametrize("data", [None, 5, "x", ["x"]])
def test_a_state_document_is_a_mapping(data: Any) -> None:
    """Whatever a caller took for one."""
    with pytest.raises(ConfigError, match="expected a table"):
        RuntimeState.from_dict(data)


@pytest.mark.parametrize("fields", [{"enabled_tools": "read"}, {"todos": [{"status": "done"}]}])
def test_a_wrong_state_in_code_is_refused(fields: dict[str, Any]) -> None:
    """A lone ``str`` of tools is a mistake, not four names."""
    with pytest.raises((TypeError, ValueError)):
        RuntimeState(**fields)


def test_providers_see_the_state_that_was_given() -> None:
    """With `state`, or in a context of the caller's own."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    state = RuntimeState(task="Fix it.")
    prompt.variable("task", lambda context: context.state.task)
    assert prompt.assemble(state=state).variables == {"task": "Fix it."}
    assert prompt.assemble(AssembleContext(state=state)).variables == {"task": "Fix it."}


def test_a_state_that_is_none_is_refused() -> None:
    """A mapping is not a state; the error says how to make one of it."""
    prompt: Any = SystemPrompt()
    with pytest.raises(TypeError, match="from_dict"):
        prompt.assemble(state={"task": "x"})


def test_enabled_tools_are_information_only() -> None:
    """The core filters nothing by them."""
    prompt = SystemPrompt()
    prompt.tools([{"name": "read"}, {"name": "bash"}])
    assembly = prompt.assemble(state=RuntimeState(enabled_tools=("read",)))
    assert [tool.name for tool in assembly.tools] == ["bash", "read"]
