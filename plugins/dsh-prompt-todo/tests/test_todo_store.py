"""The store: what it takes, and whom it tells."""

from __future__ import annotations

import json
import threading
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_todo import Config, Todo, TodoError, TodosChanged, TodoStore
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import PromptError, RuntimeState
from dsh_prompt.untrusted import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = [
    {"content": "Fix the tests", "status": "in_progress"},
    {"content": "Release", "status": "pending"},
]


def test_a_write_replaces_the_list() -> None:
    """The list is what was written last, and a state takes it."""
    store = TodoStore()
    assert not store.items
    written = store.write(PLAN)
    assert written == store.items == (Todo("Fix the tests", "in_progress"), Todo("Release"))
    assert RuntimeState(todos=store.items).todos == store.items
    store.write([Todo("Rest", "completed"), {"content": "Go on"}])
    assert store.items == (Todo("Rest", "completed"), Todo("Go on", "pending"))
    store.write(iter(()))
    assert not store.items


WRONG: list[tuple[object, str]] = [
    (None, "todos must be a list, not None"),
    ("[]", "todos must be a list, not '[]'"),
    ({"content": "a"}, "todos must be a list, not {'content': 'a'}"),
    ([5], "todos[0] must be an object with content and status, not 5"),
    ([{}], "todos[0].content must be a text that is not blank, not None"),
    ([{"content": " \n"}], r"todos[0].content must be a text that is not blank, not ' \n'"),
    ([Todo("")], "todos[0].content must be a text that is not blank, not ''"),
    (
        [{"content": "a", "status": "done"}],
        'todos[0].status must be "pending" or "in_progress" or "completed", not \'done\'',
    ),
    (
        [{"content": "a", "status": ["pending"]}],
        'todos[0].status must be "pending" or "in_progress" or "completed", not [\'pending\']',
    ),
    (
        [{"content": "a", "contents": "b"}],
        "todos[0]['contents'] is an unknown key; did you mean \"content\"?",
    ),
    (
        [{"content": "a", "activeForm": "b"}],
        'todos[0][\'activeForm\'] is an unknown key; there are "content" and "status"',
    ),
    ([{"content": "x" * 501}], "todos[0].content has 501 characters, and 500 at most are taken"),
    ([{"content": "a"}] * 101, "todos has more than 100 items; join or drop some"),
    (
        [{"content": "a", "status": "in_progress"}, PLAN[1], PLAN[0]],
        "2 todos are in_progress (todos[0], todos[2]), and 1 at most may be",
    ),
]


@pytest.mark.parametrize(("items", "problem"), WRONG)
def test_what_is_not_taken(items: Any, problem: str) -> None:
    """A wrong list raises an error that names the place, and the list stays as it was."""
    store = TodoStore()
    before = store.write(PLAN)
    with pytest.raises(TodoError) as caught:
        store.write(items)
    assert caught.value.problems == (problem,)
    assert str(caught.value) == problem
    assert isinstance(caught.value, PromptError)
    assert isinstance(caught.value, ValueError)
    assert store.items is before


def test_many_problems() -> None:
    """The first ones are told, and that there are more."""
    with pytest.raises(TodoError) as caught:
        TodoStore().write([{"content": ""}] * 50)
    *told, last = caught.value.problems
    assert [problem[:8] for problem in told] == [f"todos[{i}]" for i in range(5)]
    assert last == "and more of that kind"


def test_endless_lists() -> None:
    """No more is read than can be taken."""

    def forever() -> Iterator[Todo]:
        while True:
            yield Todo("again")

    with pytest.raises(TodoError, match="more than 3 items"):
        TodoStore(Config(max_todos=3)).write(forever())


def test_its_limits() -> None:
    """The settings bound what is taken."""
    store = TodoStore(Config(max_todos=2, max_content=3, max_in_progress=2))
    assert len(store.write([Todo("abc", "in_progress")] * 2)) == 2
    for items in ([Todo("a")] * 3, [Todo("abcd")]):
        with pytest.raises(TodoError):
            store.write(items)


def test_a_call_of_the_tool() -> None:
    """Arguments go in as they come from a provider, as an object or as JSON."""
    for arguments in ({"todos": PLAN}, json.dumps({"todos": PLAN})):
        store = TodoStore()
        assert store.call(arguments) == (
            "The list is written: 0 of 2 done, 1 in progress, 1 pending."
        )
        assert [todo.content for todo in store.items] == ["Fix the tests", "Release"]
        assert store.call({"todos": []}) == "The list is empty now."


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("", "the arguments are not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("{", "the arguments are not JSON: "),
        ("[" * 100_000, "the arguments are not JSON: "),
        (b"\xff\xfe\xfa", "the arguments are not JSON: "),
        ("1" * 5000, "the arguments are not JSON: "),
        ('"' + "x" * 5_000_000 + '"', "the arguments are longer than "),
        ("[]", 'the arguments must be an object with the key "todos", not []'),
        (None, 'the arguments must be an object with the key "todos", not None'),
        ({}, '"todos" is missing: the whole list of todos'),
        ({"todo": []}, "'todo' is an unknown key; did you mean \"todos\"?"),
        ({"todos": "[]"}, "todos must be a list, not '[]'"),
        ({"todos": PLAN, "merge": True}, "'merge' is an unknown key; there are \"todos\""),
        ({"todos": [{"content": "</memory>\u202e" * 9, "status": 1}]}, "status must be"),
        ({"todos": [], **{f"</skill>{i}": i for i in range(50_000)}}, "and more of that kind"),
    ],
)
def test_a_wrong_call(arguments: Any, problem: str) -> None:
    """The model is told what is wrong and what to do, in a text that is safe and short."""
    store = TodoStore()
    before = store.write(PLAN)
    result = store.call(arguments)
    first, *middle, last = result.splitlines()
    assert first == "The list stays as it was, since the call is wrong:"
    assert last == "Mend this, and send the whole list again."
    assert any(problem in line for line in middle)
    assert all(line.startswith("- ") for line in middle)
    assert not list(clean(result).findings())
    assert len(result) < 2000
    assert store.items is before


def test_listeners_are_told() -> None:
    """Each is told once of each change, in order, and of nothing where nothing changed."""
    store = TodoStore()
    seen: list[TodosChanged] = []
    undo = store.on_change(seen.append)
    first = store.write(PLAN)
    store.write(PLAN)
    assert seen == [TodosChanged((), first, 1)]
    store.call({"todos": []})
    assert seen[1:] == [TodosChanged(first, (), 2)]
    undo()
    undo()
    store.write(PLAN)
    assert len(seen) == 2


def test_the_same_listener_twice() -> None:
    """Each registration is one of its own, with its own undo."""
    store = TodoStore()
    seen: list[TodosChanged] = []
    undo, _ = store.on_change(seen.append), store.on_change(seen.append)
    store.write(PLAN)
    undo()
    store.write([])
    assert [event.revision for event in seen] == [1, 1, 2]


def test_a_listener_that_raises() -> None:
    """The list is written and the others are told; then the caller gets the error."""
    store = TodoStore()
    seen: list[TodosChanged] = []

    def broken(event: TodosChanged) -> None:
        raise RuntimeError("broken")

    store.on_change(broken)
    store.on_change(seen.append)
    with pytest.raises(RuntimeError, match="broken"):
        store.call({"todos": PLAN})
    assert [event.after for event in seen] == [store.items]
    assert len(store.items) == 2
    store.on_change(broken)
    with pytest.raises(ExceptionGroup) as caught:
        store.write([])
    assert len(caught.value.exceptions) == 2
    assert not store.items


def test_a_listener_that_writes_badly() -> None:
    """Its error is not taken for one of the model: the call was good."""
    store = TodoStore()
    store.on_change(lambda event: store.write([{}]))
    with pytest.raises(TodoError):
        store.call({"todos": PLAN})
    assert len(store.items) == 2


def test_a_listener_that_reads_and_writes() -> None:
    """A listener may use the store: no lock is held while it is called."""
    store = TodoStore()
    revisions: list[int] = []

    def drop_done(event: TodosChanged) -> None:
        revisions.append(event.revision)
        store.write([todo for todo in store.items if todo.status != "completed"])

    store.on_change(drop_done)
    store.write([Todo("a", "completed"), Todo("b")])
    assert store.items == (Todo("b"),)
    assert revisions == [1, 2]


@pytest.mark.parametrize("listener", [None, "print"])
def test_what_is_no_listener(listener: Any) -> None:
    """It is refused where it is given, and not when something changes."""
    with pytest.raises(TypeError, match="must be a plain function"):
        TodoStore().on_change(listener)


def test_an_async_listener() -> None:
    """It would never run, so it is refused."""

    async def function(event: TodosChanged) -> None: ...

    class Called:
        async def __call__(self, event: TodosChanged) -> None: ...

    for listener in (function, Called(), partial(function), Called().__call__):
        with pytest.raises(TypeError, match="must be a plain function"):
            TodoStore().on_change(listener)


def test_threads() -> None:
    """Writers at the same time lose no change: the revisions are one chain from list to list."""
    store = TodoStore()
    seen: list[TodosChanged] = []
    store.on_change(seen.append)
    start = threading.Barrier(4)

    def write(name: str) -> None:
        start.wait()
        for number in range(50):
            store.write([Todo(f"{name} {number}")])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chain = sorted(seen, key=lambda event: event.revision)
    assert [event.revision for event in chain] == list(range(1, 201))
    assert all(one.after == two.before for one, two in pairwise(chain))
    assert chain[-1].after == store.items


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
ITEM = st.fixed_dictionaries(
    {}, optional={"content": JSON, "status": st.sampled_from(["pending", "completed"]) | JSON}
)


@settings(max_examples=40)
@given(st.one_of(JSON, st.builds(lambda items: {"todos": items}, st.lists(ITEM, max_size=4))))
def test_any_arguments(arguments: Any) -> None:
    """Whatever a model writes is either the list from now on, or told to be wrong."""
    store = TodoStore()
    before = store.write(PLAN)
    result = store.call(arguments)
    if result.startswith("The list stays"):
        assert store.items is before
    else:
        items = [{"status": "pending", **item} for item in arguments["todos"]]
        assert [(t.content, t.status) for t in store.items] == [
            (item["content"], item["status"]) for item in items
        ]
    assert not list(clean(result).findings())
