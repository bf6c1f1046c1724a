"""Dependencies between plugins: loaded after what they require, and gone before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    DisposableContext,
    DisposedError,
    PluginConflictError,
    PluginLoadError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from dsh_prompt import ChangeEvent


def plugin(name: str, *requires: str, log: list[str] | None = None) -> Any:
    """Give a plugin with a variable of its own name, which notes what happens to it."""
    notes = [] if log is None else log

    class Plugin:
        def __init__(self) -> None:
            self.requires = requires

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            notes.append(f"+{name}")
            ctx.callback(notes.append, f"-{name}")

        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            return {name: "value"}

    Plugin.__name__ = name
    return Plugin


def names(prompt: SystemPrompt) -> list[str]:
    return [info.name for info in prompt.plugins]


def test_a_plugin_is_loaded_where_what_it_requires_is_loaded() -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("todo"))
    info = prompt.load(plugin("rules", "todo"))
    assert info.requires == ("todo",)


@pytest.mark.parametrize("requires", [["todo"], ("todo",)])
def test_requirements_are_a_list_or_a_tuple(requires: Any) -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("todo"))
    rules = plugin("rules")()
    rules.requires = requires
    assert prompt.load(rules, name="rules").requires == ("todo",)


@pytest.mark.parametrize("requires", ["todo", 3, [3]])
def test_what_is_no_list_of_names_fails_the_load(requires: Any) -> None:
    prompt = SystemPrompt()
    rules = plugin("rules")()
    rules.requires = requires
    with pytest.raises(PluginLoadError, match="requires"):
        prompt.load(rules, name="rules")
    assert names(prompt) == []


def test_a_missing_requirement_fails_the_load_and_is_named() -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("todos"))
    match = r'plugin "rules" .*requires "todo", which is not loaded; did you mean "todos"\?; load'
    with pytest.raises(PluginLoadError, match=match):
        prompt.load(plugin("rules", "todo"))
    assert names(prompt) == ["todos"]


def test_unloading_what_is_required_unloads_those_that_require_it_before() -> None:
    """All in one event and one generation, and it is asked for by one name only."""
    prompt, log = SystemPrompt(), list[str]()
    events: list[ChangeEvent] = []
    prompt.load(plugin("todo", log=log))
    prompt.load(plugin("rules", "todo", log=log))
    prompt.load(plugin("more", "rules", log=log))
    prompt.load(plugin("other", log=log))
    prompt.on_change(events.append)
    prompt.unload("todo")
    assert log == ["+todo", "+rules", "+more", "+other", "-more", "-rules", "-todo"]
    assert names(prompt) == ["other"]
    (event,) = events
    assert (event.kind, event.plugin) == ("unloaded", "todo")
    assert [item[:2] for item in event.removed] == [
        ("variable", "todo"),
        ("variable", "rules"),
        ("variable", "more"),
        ("plugin", "rules"),
        ("plugin", "more"),
    ]


def test_unloading_what_requires_leaves_what_is_required() -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("todo"))
    prompt.load(plugin("rules", "todo"))
    prompt.unload("rules")
    prompt.load(plugin("rules", "todo"))
    assert names(prompt) == ["todo", "rules"]


def test_a_plugin_of_a_scope_sees_those_of_its_scope_and_those_around_it() -> None:
    """The nearest one counts; one of another scope does not."""
    prompt = SystemPrompt()
    outer = prompt.create_scope("outer")
    inner = prompt.create_scope("inner", parent=outer)
    stranger = prompt.create_scope("stranger")
    prompt.load(plugin("base"))
    prompt.load(plugin("todo"), scope=outer)
    prompt.load(plugin("rules", "todo", "base"), scope=inner)
    for scope in (None, stranger):
        with pytest.raises(PluginLoadError, match='requires "todo"'):
            prompt.load(plugin("rules", "todo"), scope=scope)
    prompt.unload("base")
    assert names(prompt) == ["todo"]


def test_the_nearest_plugin_of_a_name_is_the_one_that_is_required() -> None:
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(plugin("todo"))
    prompt.load(plugin("todo"), scope=scope)
    prompt.load(plugin("rules", "todo"), scope=scope)
    prompt.unload("todo")
    assert names(prompt) == ["todo", "rules"]
    prompt.unload("todo", scope=scope)
    assert names(prompt) == []


def test_a_scope_that_goes_takes_what_requires_its_plugins_along() -> None:
    prompt, log = SystemPrompt(), list[str]()
    outer = prompt.create_scope("outer")
    inner = prompt.create_scope("inner", parent=outer)
    prompt.load(plugin("todo", log=log), scope=outer)
    prompt.load(plugin("rules", "todo", log=log), scope=inner)
    prompt.load(plugin("free", log=log), scope=inner)
    outer.dispose()
    assert log[3:] == ["-rules", "-todo"]
    assert [(info.name, info.scope) for info in prompt.plugins] == [("free", inner)]


def test_a_host_that_goes_takes_everything_along_in_order() -> None:
    """Whatever owns it: a scope that is older than the plugin it requires goes first too."""
    prompt, log = SystemPrompt(), list[str]()
    scope = prompt.create_scope("old")
    prompt.load(plugin("todo", log=log))
    prompt.load(plugin("rules", "todo", log=log), scope=scope)
    prompt.dispose()
    assert log == ["+todo", "+rules", "-rules", "-todo"]


def test_a_scope_that_moves_on_keeps_its_plugins() -> None:
    """They were loaded with what they require, and that is still there."""
    prompt = SystemPrompt()
    outer = prompt.create_scope("outer")
    inner = prompt.create_scope("inner", parent=outer)
    prompt.load(plugin("todo"), scope=outer)
    prompt.load(plugin("rules", "todo"), scope=inner)
    inner.rebind(None)
    assert names(prompt) == ["todo", "rules"]
    prompt.unload("todo", scope=outer)
    assert names(prompt) == []


def test_a_plugin_cannot_require_one_that_is_being_loaded_by_somebody_else() -> None:
    prompt = SystemPrompt()

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(plugin("rules", "Outer"))

    with pytest.raises(PluginLoadError, match='requires "Outer", which is not loaded'):
        prompt.load(Outer)
    assert names(prompt) == []


def test_a_reloaded_plugin_takes_those_that_require_it_along() -> None:
    """They are made anew, beside the old ones; the order stays."""
    prompt, log = SystemPrompt(), list[str]()
    events: list[ChangeEvent] = []
    prompt.load(plugin("todo", log=log))
    prompt.load(plugin("other", log=log))
    prompt.load(plugin("rules", "todo", log=log))
    prompt.on_change(events.append)
    log.clear()
    prompt.reload("todo")
    assert log == ["+todo", "+rules", "-rules", "-todo"]
    assert names(prompt) == ["todo", "other", "rules"]
    (event,) = events
    assert (event.kind, event.plugin, event.scope) == ("reloaded", "todo", None)
    assert event.added == event.removed
    assert [item[:2] for item in event.added] == [
        ("variable", "todo"),
        ("variable", "rules"),
        ("plugin", "rules"),
    ]
    prompt.unload("todo")
    assert names(prompt) == ["other"]


def test_reloading_what_requires_leaves_what_is_required_alone() -> None:
    prompt, log = SystemPrompt(), list[str]()
    prompt.load(plugin("todo", log=log))
    prompt.load(plugin("rules", "todo", log=log))
    log.clear()
    prompt.reload("rules")
    assert log == ["+rules", "-rules"]
    prompt.unload("todo")
    assert names(prompt) == []


def test_a_quarantined_requirement_counts_for_nothing() -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("todo"))
    prompt.quarantine("todo", "it hangs")
    match = 'requires "todo", which is quarantined: it hangs; reload that first'
    with pytest.raises(PluginLoadError, match=match):
        prompt.load(plugin("rules", "todo"))
    prompt.reload("todo")
    prompt.load(plugin("rules", "todo"))


def test_what_is_being_reloaded_cannot_be_reloaded_or_required() -> None:
    prompt, problems = SystemPrompt(), list[Exception]()

    class Todo:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            if names(prompt):
                with pytest.raises(PluginConflictError, match="being reloaded") as caught:
                    prompt.reload("Todo")
                problems.append(caught.value)
                with pytest.raises(PluginConflictError, match="being reloaded") as caught:
                    prompt.load(plugin("rules", "Todo"))
                problems.append(caught.value)

    prompt.load(Todo)
    prompt.reload("Todo")
    assert len(problems) == 2
    assert names(prompt) == ["Todo"]


def test_what_was_unloaded_while_it_was_reloaded_is_gone() -> None:
    prompt = SystemPrompt()

    class Todo:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            if names(prompt):
                prompt.unload("Todo")
            ctx.variable("todo", "value")

    prompt.load(Todo)
    with pytest.raises(PluginLoadError, match="was unloaded while it was reloaded"):
        prompt.reload("Todo")
    assert names(prompt) == []
    assert "todo" not in prompt.assemble().variables


def test_an_old_context_registers_nothing_after_a_reload() -> None:
    prompt, kept = SystemPrompt(), list[DisposableContext]()

    class Todo:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            kept.append(ctx)

    prompt.load(Todo)
    prompt.reload("Todo")
    with pytest.raises(DisposedError):
        kept[0].variable("late", "value")
    kept[1].variable("late", "value")
