"""Scopes: what an agent sees, what it inherits, and what is left when it goes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    ChangeEvent,
    DisposableContext,
    DisposedError,
    InvalidContributionError,
    PluginConflictError,
    PluginNotFoundError,
    PromptAssembly,
    Registration,
    Scope,
    ScopeError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def seen(prompt: SystemPrompt, scope: Scope | None = None) -> str:
    """Give the value of the variable ``v`` as *scope* sees it, ``-`` where it sees none."""
    return prompt.assemble(scope=scope).variables.get("v") or "-"


def tools(prompt: SystemPrompt, scope: Scope | None = None) -> list[str]:
    """Give the names of the tools that *scope* sees."""
    return [tool.name for tool in prompt.assemble(scope=scope).tools]


class Plugin:
    """Sets a variable, and notes its name in the assemblies that it takes part in."""

    def __init__(self, value: str = "plugin") -> None:
        self.value = value
        self.log: list[str] = []

    @hookimpl
    def contribute_variables(self) -> dict[str, str]:
        return {"v": self.value}

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        self.log.append("assembled")

    @hookimpl
    def deactivate(self) -> None:
        self.log.append("deactivated")


# What a scope is


def test_a_scope_has_a_name_and_a_parent() -> None:
    """Without a parent it stands over the global level."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    scope = prompt.create_scope("agent", parent=parent)
    assert (scope.name, scope.parent) == ("agent", parent)
    assert (parent.name, parent.parent) == ("parent", None)
    assert isinstance(scope, DisposableContext)


def test_a_scope_is_a_key_compared_by_identity() -> None:
    """Two of one name are two scopes, with layers of their own."""
    prompt = SystemPrompt()
    one, other = prompt.create_scope("agent"), prompt.create_scope("agent")
    one.variable("v", "one")
    assert one != other
    assert {one: 1, other: 2}[one] == 1
    assert (seen(prompt, one), seen(prompt, other)) == ("one", "-")


@pytest.mark.parametrize("name", [None, 5, b"agent"])
def test_a_name_that_is_no_str_is_refused(name: Any) -> None:
    """Messages and tables show it."""
    with pytest.raises(InvalidContributionError, match="name"):
        SystemPrompt().create_scope(name)


def test_the_repr_of_a_scope_shows_its_name_and_its_end() -> None:
    """So that a log tells a live scope from a disposed one."""
    scope = SystemPrompt().create_scope("agent")
    assert "agent" in repr(scope)
    scope.dispose()
    assert "disposed" in repr(scope)


# What it sees


def test_nearer_scopes_win_a_name() -> None:
    """From the global level through the chain of parents to the scope itself."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    scope = prompt.create_scope("agent", parent=parent)
    levels: list[DisposableContext] = [prompt, parent, scope]
    expected = ["-"] * 3
    for level, value in zip(levels, ("global", "parent", "agent"), strict=True):
        level.variable("v", value)
        expected[levels.index(level) :] = [value] * (3 - levels.index(level))
        assert [seen(prompt, level.scope) for level in levels] == expected


def test_siblings_and_children_do_not_show_in_a_scope() -> None:
    """Inheritance runs downwards only."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.create_scope("sibling").variable("v", "sibling")
    prompt.create_scope("child", parent=scope).variable("v", "child")
    assert seen(prompt, scope) == seen(prompt) == "-"


def test_a_scope_created_by_another_is_not_its_child() -> None:
    """Whose lifetime it shares and whose contributions it sees are two things."""
    prompt = SystemPrompt()
    owner = prompt.create_scope("owner")
    owner.variable("v", "owner")
    scope = owner.create_scope("agent")
    assert (scope.parent, seen(prompt, scope)) == (None, "-")
    owner.dispose()
    with pytest.raises(DisposedError):
        scope.variable("v", "agent")


def test_a_chain_may_be_long() -> None:
    """The farthest ancestor shows through."""
    prompt = SystemPrompt()
    first = scope = prompt.create_scope("0")
    for number in range(1, 200):
        scope = prompt.create_scope(str(number), parent=scope)
    first.variable("v", "first")
    assert seen(prompt, scope) == "first"


def test_a_suppressor_of_an_ancestor_reaches_all_below() -> None:
    """Contexts return when the last suppressor of the chain is gone."""
    prompt = SystemPrompt()
    prompt.context(name="git", order=1, text="main")
    parent = prompt.create_scope("parent")
    scope = prompt.create_scope("agent", parent=parent)
    undo = parent.suppress_runtime_context()
    assert prompt.assemble(scope=scope).contexts == []
    assert len(prompt.assemble().contexts) == 1
    undo()
    assert len(prompt.assemble(scope=scope).contexts) == 1


# Parents


def test_a_rebound_scope_sees_its_new_parent_and_so_do_those_below() -> None:
    """The next assembly shows it."""
    prompt = SystemPrompt()
    old, new = prompt.create_scope("old"), prompt.create_scope("new")
    old.variable("v", "old")
    new.variable("v", "new")
    scope = prompt.create_scope("agent", parent=old)
    child = prompt.create_scope("child", parent=scope)
    for parent, expected in ((old, "old"), (new, "new"), (None, "-")):
        scope.rebind(parent)
        assert scope.parent is parent
        assert seen(prompt, scope) == seen(prompt, child) == expected


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_a_chain_may_not_form_a_cycle(depth: int) -> None:
    """A scope can stand below neither itself nor anything below it."""
    prompt = SystemPrompt()
    scope = last = prompt.create_scope("agent")
    for number in range(depth):
        last = prompt.create_scope(str(number), parent=last)
    with pytest.raises(ScopeError, match=r'cycle.*"agent"'):
        scope.rebind(last)
    assert scope.parent is None
    assert seen(prompt, last) == "-"


def test_a_parent_that_would_close_a_cycle_of_before_and_after_is_refused() -> None:
    """It is found when it arises, as at a load, and the scope goes on working."""
    prompt = SystemPrompt()
    parent, scope = prompt.create_scope("parent"), prompt.create_scope("agent")
    for name, other, where in (("a", "b", parent), ("b", "a", scope)):
        hook = hookimpl(before=[other])(lambda assembly: None)
        prompt.load(SimpleNamespace(system_prompt_assemble=hook), name=name, scope=where)
    with pytest.raises(PluginConflictError, match="cycle"):
        scope.rebind(parent)
    assert scope.parent is None
    prompt.assemble(scope=scope)


@pytest.mark.parametrize("parent", ["agent", 5, SystemPrompt()])
def test_a_parent_is_a_scope(parent: Any) -> None:
    """A name or a host is not one."""
    prompt = SystemPrompt()
    with pytest.raises(ScopeError):
        prompt.create_scope("agent", parent=parent)


@pytest.mark.parametrize(
    "use",
    [
        lambda prompt, foreign: prompt.create_scope("agent", parent=foreign),
        lambda prompt, foreign: prompt.create_scope("agent").rebind(foreign),
        lambda prompt, foreign: prompt.assemble(scope=foreign),
        lambda prompt, foreign: prompt.load(Plugin(), scope=foreign),
        lambda prompt, foreign: prompt.unload("Plugin", scope=foreign),
    ],
    ids=["parent", "rebind", "assemble", "load", "unload"],
)
def test_a_scope_of_another_host_is_refused(use: Callable[[SystemPrompt, Scope], object]) -> None:
    """Its layer is no part of this one."""
    foreign = SystemPrompt().create_scope("foreign")
    with pytest.raises(ScopeError, match="foreign"):
        use(SystemPrompt(), foreign)


def test_a_disposed_scope_cannot_be_rebound() -> None:
    """It stays a key, but nothing about it changes any more."""
    prompt = SystemPrompt()
    scope, parent = prompt.create_scope("agent"), prompt.create_scope("parent")
    scope.dispose()
    with pytest.raises(DisposedError):
        scope.rebind(parent)


# Its end


def test_the_disposal_of_a_scope_withdraws_its_layer_and_leaves_its_children_theirs() -> None:
    """They are no part of it, only below it."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    parent.variable("v", "parent")
    child.section(name="child", order=1, text="kept")
    parent.dispose()
    assert seen(prompt, child) == "-"
    assert prompt.assemble(scope=child).sections[-1].text == "kept"
    child.variable("v", "child")
    assert seen(prompt, child) == "child"


def test_the_disposal_of_a_scope_unloads_the_plugins_loaded_into_it() -> None:
    """Those of its children, and the global ones, stay."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    child = prompt.create_scope("child", parent=scope)
    plugin = Plugin()
    prompt.load(plugin, name="own", scope=scope)
    prompt.load(Plugin(), name="child", scope=child)
    prompt.load(Plugin(), name="global")
    scope.dispose()
    assert plugin.log == ["deactivated"]
    assert [info.name for info in prompt.plugins] == ["child", "global"]


def test_a_disposed_scope_stays_a_valid_key() -> None:
    """An assembly for it sees what its ancestors and the global level hold, then and later."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    scope = prompt.create_scope("agent", parent=parent)
    scope.variable("v", "agent")
    scope.dispose()
    assert seen(prompt, scope) == "-"
    parent.variable("v", "parent")
    assert seen(prompt, scope) == "parent"
    parent.dispose()
    prompt.variable("v", "global")
    assert seen(prompt, scope) == "global"


def test_a_disposed_scope_stays_a_valid_parent() -> None:
    """Of scopes that have it already, and of new ones."""
    prompt = SystemPrompt()
    grandparent = prompt.create_scope("grandparent")
    parent = prompt.create_scope("parent", parent=grandparent)
    parent.variable("v", "parent")
    parent.dispose()
    scope = prompt.create_scope("agent", parent=parent)
    grandparent.variable("v", "grandparent")
    assert (scope.parent, seen(prompt, scope)) == (parent, "grandparent")


def test_nothing_is_loaded_in_a_disposed_scope() -> None:
    """It has no plugins to be found."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), scope=scope)
    scope.dispose()
    with pytest.raises(PluginNotFoundError):
        prompt.unload("Plugin", scope=scope)


def test_a_scope_is_disposed_with_the_plugin_that_created_it() -> None:
    """What is registered in it belongs to the plugin."""
    prompt = SystemPrompt()
    scopes: list[Scope] = []

    class Creator:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            scopes.append(ctx.create_scope("agent"))
            scopes[0].variable("v", "creator")

    prompt.load(Creator())
    assert seen(prompt, scopes[0]) == "creator"
    source = prompt.assemble(scope=scopes[0]).source_of("variable", "v")
    assert (source and source.plugin, source and source.scope) == ("Creator", "agent")
    prompt.unload("Creator")
    assert seen(prompt, scopes[0]) == "-"
    with pytest.raises(DisposedError):
        scopes[0].variable("v", "late")


# Plugins in scopes


def test_a_plugin_of_a_scope_acts_there_and_below_alone() -> None:
    """Neither its contributions nor its hooks show anywhere else."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    child = prompt.create_scope("child", parent=scope)
    sibling = prompt.create_scope("sibling")
    plugin = Plugin()
    prompt.load(plugin, scope=scope)
    views = [seen(prompt, view) for view in (None, sibling, scope, child)]
    assert views == ["-", "-", "plugin", "plugin"]
    assert plugin.log == ["assembled", "assembled"]


def test_one_plugin_may_be_in_several_scopes() -> None:
    """Each load is a life of its own, also of one and the same object."""
    prompt = SystemPrompt()
    one, other = prompt.create_scope("one"), prompt.create_scope("other")
    plugin = Plugin()
    for scope in (one, other, None):
        prompt.load(plugin, name="p", scope=scope)
    assert {info.scope for info in prompt.plugins} == {one, other, None}
    prompt.unload("p")
    prompt.unload("p", scope=one)
    assert [seen(prompt, view) for view in (None, one, other)] == ["-", "-", "plugin"]


# Restrictions


def restricted(**limits: Any) -> tuple[SystemPrompt, Scope, Registration]:
    """Give a host with three tools, and a scope with one of its own, restricted."""
    prompt = SystemPrompt()
    prompt.tools([{"name": name} for name in ("bash", "read", "write")])
    scope = prompt.create_scope("agent")
    scope.tool({"name": "own"})
    return prompt, scope, scope.restrict(**limits)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"allow": ["read"]}, ["own", "read"]),
        ({"deny": ["read"]}, ["bash", "own", "write"]),
        ({"allow": ["read", "bash"], "deny": ["bash"]}, ["own", "read"]),
        ({"allow": ()}, ["own"]),
        ({"deny": ()}, ["bash", "own", "read", "write"]),
        ({"allow": (name for name in ["read"])}, ["own", "read"]),
    ],
    ids=["allow", "deny", "both", "nothing", "all", "generator"],
)
def test_a_restriction_masks_what_the_scope_does_not_register_itself(
    limits: dict[str, Any], expected: list[str]
) -> None:
    """Until it is disposed, and in this scope alone."""
    prompt, scope, undo = restricted(**limits)
    assert tools(prompt, scope) == expected
    assert tools(prompt) == ["bash", "read", "write"]
    undo()
    assert tools(prompt, scope) == ["bash", "own", "read", "write"]


def test_an_allow_list_hides_later_tools_and_a_deny_list_admits_them() -> None:
    """A restriction is applied to the tools there are, not to those there were."""
    for limits, expected in (({"allow": ["read"]}, False), ({"deny": ["read"]}, True)):
        prompt, scope, _ = restricted(**limits)
        prompt.tool({"name": "later"})
        assert ("later" in tools(prompt, scope)) is expected


def test_several_restrictions_intersect_and_go_one_by_one() -> None:
    """Each has an undo of its own."""
    prompt, scope, first = restricted(allow=["read", "bash"])
    second = scope.restrict(deny=["bash"])
    assert tools(prompt, scope) == ["own", "read"]
    first()
    assert tools(prompt, scope) == ["own", "read", "write"]
    second()
    assert len(tools(prompt, scope)) == 4


def test_a_restriction_of_an_ancestor_reaches_all_below() -> None:
    """What the ancestor registers itself included, when its child looks."""
    prompt, scope, _ = restricted(deny=["read", "own"])
    child = prompt.create_scope("child", parent=scope)
    child.tool({"name": "childs"})
    assert tools(prompt, scope) == ["bash", "own", "write"]
    assert tools(prompt, child) == ["bash", "childs", "write"]


@pytest.mark.parametrize("limits", [{}, {"allow": ["raed"]}, {"deny": ["raed"]}, {"allow": "read"}])
def test_a_restriction_of_unknown_tools_or_of_nothing_is_refused(limits: dict[str, Any]) -> None:
    """A typing error would hide everything, or nothing."""
    with pytest.raises(InvalidContributionError):
        restricted(**limits)


def test_the_error_for_an_unknown_tool_lists_the_known_ones() -> None:
    """Those that the scope sees, its own and restricted ones included."""
    with pytest.raises(InvalidContributionError, match=r'"raed".*bash, own, read, write'):
        restricted(deny=["raed"])


def test_a_plugin_may_restrict_a_scope_of_its_own_to_its_own_tools() -> None:
    """What it registered before in the same `activate` is known."""
    prompt = SystemPrompt()
    scopes: list[Scope] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.tools([{"name": "read"}, {"name": "write"}])
            scopes.append(ctx.create_scope("reader"))
            scopes[0].restrict(allow=["read"])

    prompt.load(Plugin())
    assert tools(prompt, scopes[0]) == ["read"]


def test_a_refused_rebind_does_not_undo_a_later_one() -> None:
    """Where a listener moved scopes on before it refused, nothing is restored into a cycle."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    scope = prompt.create_scope("agent", parent=parent)

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "rebound" and event.scope is scope:
            parent.rebind(scope)
            raise ValueError("no")

    prompt.on_change(refuse)
    with pytest.raises(ValueError, match="no"):
        scope.rebind(None)
    assert (scope.parent, parent.parent) == (None, scope)
    assert prompt.assemble(scope=parent).sections
