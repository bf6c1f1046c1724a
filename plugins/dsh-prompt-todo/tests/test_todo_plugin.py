"""The plugin in a host: its tool, its rules, its service, its settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import dsh_prompt_todo
import pytest
from dsh_prompt_todo import TODO_WRITE, TODOS, Config, Todo, TodoStore
from dsh_prompt_todo.tool import todo_write

from dsh_prompt import Config as HostConfig
from dsh_prompt import (
    ConfigError,
    DuplicateContributionError,
    PluginLoadError,
    RuntimeState,
    SectionOrder,
    SystemPrompt,
    render_context_snapshot,
)
from dsh_prompt.adapters import adapter
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import run
from dsh_prompt.testing import (
    assert_deterministic,
    assert_section,
    assert_tools,
    assert_unloads_clean,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dsh_prompt.adapters import Request
    from dsh_prompt.typing import (
        Activates,
        ContributesContexts,
        ContributesSections,
        ContributesTools,
    )

    _activates: Activates = dsh_prompt_todo
    _sections: ContributesSections = dsh_prompt_todo
    _contexts: ContributesContexts = dsh_prompt_todo
    _tools: ContributesTools = dsh_prompt_todo

STATE = RuntimeState(todos=[Todo("Think", "in_progress"), Todo("Write")])


def test_rules_come_with_the_tool(host: Callable[..., SystemPrompt]) -> None:
    """The rules stand among the guidance for tools, stable, while the tool is in the list."""
    prompt = host()
    assembly = prompt.assemble()
    section = assert_section(assembly, "todo:rules", contains="replaces the whole list")
    assert (section.order, section.cacheable) == (SectionOrder.TOOL_GUIDANCE, True)
    assert_tools(assembly, TODO_WRITE)


def test_no_rules_without_the_tool(host: Callable[..., SystemPrompt]) -> None:
    """Where a scope or a listener takes the tool away, the rules go; the todos stay."""
    prompt = host()
    scope = prompt.create_scope("reader")
    scope.restrict(deny=[TODO_WRITE])
    for assembly in (prompt.assemble(scope=scope, state=STATE), _without_tools(prompt)):
        assert "todo:rules" not in [section.name for section in assembly.sections]
        assert [context.name for context in assembly.contexts] == ["todo:current", "todo"]


def _without_tools(prompt: SystemPrompt) -> Any:
    prompt.on_assemble(lambda assembly: assembly.tools.clear())
    return prompt.assemble(state=STATE)


def test_a_denied_tool_keeps_its_rules(host: Callable[..., SystemPrompt]) -> None:
    """A mask changes nothing in the prefix."""
    prompt = host()
    before = prompt.assemble().fingerprint().prefix
    prompt.on_assemble(lambda assembly: assembly.deny(TODO_WRITE, "not now"))
    assert prompt.assemble().fingerprint().prefix == before


def test_a_tool_of_the_harness(host: Callable[..., SystemPrompt]) -> None:
    """A harness that has the tool already keeps it, and the rules go with that one."""
    prompt = host(tool=False)
    assert "todo:rules" not in [section.name for section in prompt.assemble().sections]
    prompt.tool({"name": TODO_WRITE, "description": "Its own."})
    assert_section(prompt.assemble(), "todo:rules")
    prompt.unload("todo")
    with pytest.raises((DuplicateContributionError, PluginLoadError), match="todo_write"):
        prompt.load(dsh_prompt_todo, name="todo")


def test_what_the_settings_change_in_the_words(host: Callable[..., SystemPrompt]) -> None:
    """Rules and schema say the limits that the store has."""
    prompt = host(max_in_progress=3, max_content=99, max_todos=7)
    assembly = prompt.assemble()
    assert_section(assembly, "todo:rules", contains="Up to 3 todos at a time")
    words = json.dumps(assembly.tools[0].parameters)
    assert all(part in words for part in ("99 characters", "At most 3 of all", "7 at most"))


@pytest.mark.parametrize(
    "name", ["openai_chat", "openai_responses", "anthropic_messages", "gemini_generate",
             "deepseek_chat"],
)  # fmt: skip
def test_each_provider_takes_the_schema(host: Callable[..., SystemPrompt], name: str) -> None:
    """The tool passes the checks of every adapter."""
    assembly = host().assemble()
    request = adapter(name)(assembly, [], model="a-model")
    assert request.skipped == ()
    assert TODO_WRITE in json.dumps(request.to_dict())


def test_the_schema_describes_what_the_store_takes() -> None:
    """What is required and allowed in the schema is what the store asks for and takes."""
    schema: Any = todo_write(Config()).parameters
    item = schema["properties"]["todos"]["items"]
    assert (schema["required"], item["required"]) == (["todos"], ["content", "status"])
    assert schema["additionalProperties"] is item["additionalProperties"] is False
    for status in item["properties"]["status"]["enum"]:
        TodoStore().write([{"content": "a", "status": status}])


def test_an_agent_loop(host: Callable[..., SystemPrompt]) -> None:
    """A loop runs the tool with the store, and the next call shows the new list."""
    prompt = host()
    store = prompt.require(TODOS)
    arguments = {"todos": [{"content": "Think", "status": "in_progress"}]}
    call = {"name": TODO_WRITE, "arguments": json.dumps(arguments)}
    replies: list[dict[str, Any]] = [
        {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]},
        {"content": "Done."},
    ]
    sent: list[Request] = []

    def model(request: Request) -> dict[str, Any]:
        sent.append(request)
        return {"choices": [{"message": {"role": "assistant", **replies[len(sent) - 1]}}]}

    def tool(name: str, arguments: Mapping[str, Any]) -> str:
        return store.call(arguments)

    talk = Conversation(prompt, adapter="openai_chat")
    run(talk, model, tool, model="m", text="Go.", state=lambda: RuntimeState(todos=store.items))
    assert "Think" not in str(sent[0]["messages"])
    assert "The list is written: 0 of 1 done" in str(sent[1]["messages"])
    assert sent[1]["messages"][-1]["content"].endswith("## Todo in progress\n\n- Think")
    assert sent[0]["messages"][0] == sent[1]["messages"][0]


def test_the_service_goes_with_the_plugin(host: Callable[..., SystemPrompt]) -> None:
    """After an unload there is no store; a new load has an empty one, and takes the old list."""
    prompt = host()
    old = prompt.require(TODOS)
    old.write([Todo("Think")])
    prompt.unload("todo")
    assert prompt.get(TODOS) is None
    prompt.load(dsh_prompt_todo, name="todo")
    new = prompt.require(TODOS)
    assert new.items == ()
    assert new.write(old.items) == old.items


def test_an_agent_of_its_own(host: Callable[..., SystemPrompt]) -> None:
    """A scope may have a list of its own, beside the one of the host."""
    prompt = host()
    scope = prompt.create_scope("helper")
    assert scope.require(TODOS) is prompt.require(TODOS)
    scope.provide(TODOS, TodoStore())
    scope.require(TODOS).write([Todo("Help")])
    assert prompt.require(TODOS).items == ()


def test_braces_in_rules_are_text(host: Callable[..., SystemPrompt]) -> None:
    """No text of the plugin is a template."""
    prompt = host()
    assembly = prompt.assemble(state=STATE)
    assert assert_section(assembly, "todo:rules").literal
    assert [context.literal for context in assembly.contexts] == [True, True]
    assert "Think" in render_context_snapshot(assembly)


WRONG = [
    ("max_items", -1),
    ("max_items", 1001),
    ("max_chars", "4000"),
    ("max_chars", True),
    ("max_content", 0),
    ("max_in_progress", 0),
    ("max_in_progress", 21),
    ("max_todos", 0),
    ("max_todos", 1.5),
    ("tool", "yes"),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_wrong_value(field: str, value: Any) -> None:
    """A value that a setting does not take raises an error that names it, alone and in a host."""
    with pytest.raises(ValueError, match=rf"^{field} must be "):
        Config(**{field: value})
    with pytest.raises(ConfigError, match=rf'"todo".*\b{field}\b'):
        SystemPrompt().load(dsh_prompt_todo, name="todo", config={field: value})


def test_unknown_setting() -> None:
    """A setting that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=r'max_item: .*did you mean "max_items"'):
        SystemPrompt().load(dsh_prompt_todo, config={"max_item": 5})


@pytest.mark.parametrize("trusted", [False, True])
def test_a_checkout_does_not_hide_the_plan(trusted: bool, tmp_path: Path) -> None:
    """Until it is trusted, none of its settings has an effect."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(
        "[plugins.config.todo]\nmax_items = 0\nmax_chars = 0\nmax_content = 1\n"
        "max_in_progress = 20\nmax_todos = 1\ntool = false\n"
    )
    prompt = SystemPrompt(HostConfig.load(file, trusted=trusted))
    info = prompt.load(dsh_prompt_todo, name="todo")
    assert len(info.ignored) == (0 if trusted else 6)
    snapshot = render_context_snapshot(prompt.assemble(state=STATE))
    assert ("- Think" in snapshot) is not trusted
    assert ("- [pending] Write" in snapshot) is not trusted


def test_unload() -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean(dsh_prompt_todo, state=STATE)


def test_unload_while_a_loop_holds_the_store() -> None:
    """A store that somebody holds, with listeners, keeps nothing of the host alive."""
    import gc  # noqa: PLC0415 - for this test alone
    import weakref  # noqa: PLC0415

    prompt = SystemPrompt()
    prompt.load(dsh_prompt_todo, name="todo")
    store = prompt.require(TODOS)
    store.on_change(print)
    gone = weakref.ref(prompt)
    prompt.dispose()
    del prompt
    gc.collect()
    assert gone() is None
    assert store.items == ()


def test_deterministic() -> None:
    """It says the same in every process."""
    assert_deterministic(dsh_prompt_todo, config={"max_items": 1}, state=STATE)
