"""The tool registry: layers, shadowing, and restrictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembleContext,
    DuplicateContributionError,
    InvalidContributionError,
    Registration,
    ScopeError,
    SystemPrompt,
    ToolProviderResult,
    ToolRegistry,
    ToolSchema,
    hookimpl,
)

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext, Scope


def register(ctx: DisposableContext, *names: str, text: str = "") -> None:
    """Register tools of these *names*."""
    for name in names:
        ctx.tool(ToolSchema(name, text, {}))


def seen(prompt: SystemPrompt, scope: Scope | None = None) -> str:
    """Give the tools that *scope* sees, in the registry and in an assembly."""
    names = [tool.name for tool in prompt.registry.schemas(scope)]
    assert [tool.name for tool in prompt.assemble(scope=scope).tools] == names
    assert [name for name in "abcdef" if prompt.registry.get(name, scope)] == names
    return "".join(names)


# Registering


def test_a_tool_is_a_schema_or_a_dict() -> None:
    """Both come out as schemas, in the registry and in the assembly."""
    prompt = SystemPrompt()
    prompt.tool({"name": "b", "description": "B"})
    prompt.tool(ToolSchema("a", "A", {}))
    expected = [ToolSchema("a", "A", {}), ToolSchema("b", "B", {})]
    assert prompt.registry.schemas() == prompt.assemble().tools == expected


def test_an_iterable_of_schemas_goes_into_the_registry() -> None:
    """Lists, generators, and what contribute_tools returns; all of it or nothing."""

    class Plugin:
        @hookimpl
        def contribute_tools(self) -> Any:
            return ({"name": name} for name in "cd")

    prompt = SystemPrompt()
    prompt.tools([{"name": "a"}, ToolSchema("b", "", {})])
    prompt.load(Plugin())
    assert seen(prompt) == "abcd"
    with pytest.raises(DuplicateContributionError, match='"a"'):
        prompt.tools([{"name": "e"}, {"name": "a"}])
    with pytest.raises(DuplicateContributionError, match='"e"'):
        prompt.tools([{"name": "e"}, {"name": "e"}])
    assert seen(prompt) == "abcd"


def test_a_callable_stays_a_provider() -> None:
    """So does a result that is given as it is: neither is in the registry."""
    prompt = SystemPrompt()
    prompt.tools(lambda: [{"name": "a"}])
    prompt.tools(ToolProviderResult([{"name": "b"}], ["b", "c"]))
    assert prompt.registry.schemas() == []
    assert [tool.name for tool in prompt.assemble().tools] == ["a", "b"]


@pytest.mark.parametrize("tools", [{"name": "a"}, ToolSchema("a", "", {}), "read", 5, None])
def test_tools_takes_more_than_one(tools: Any) -> None:
    """A single schema is for ``tool``, and the error says so."""
    with pytest.raises(InvalidContributionError, match=r"tool\(\) takes a single one"):
        SystemPrompt().tools(tools)


def test_a_name_is_unique_within_a_layer() -> None:
    """A duplicate names the tool, its owner and, at global level, the way out."""

    class Plugin:
        @hookimpl
        def contribute_tools(self) -> Any:
            return [{"name": "a"}]

    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="owner")
    match = '^tool "a" is already registered .*scope instead.*; it belongs to plugin "owner"'
    with pytest.raises(DuplicateContributionError, match=match):
        prompt.tool({"name": "a"})
    scope.tool({"name": "a"})
    match = '^tool "a" is already registered in this scope; it belongs to the host in scope "agen'
    with pytest.raises(DuplicateContributionError, match=match):
        scope.tool({"name": "a"})


@pytest.mark.parametrize("first", ["scope", "global"])
def test_a_scopes_tool_shadows_the_inherited_one(first: str) -> None:
    """In either order of registration; the scope sees one schema."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    layers: list[tuple[DisposableContext, str]] = [(scope, "near"), (prompt, "far")]
    for layer, text in layers if first == "scope" else layers[::-1]:
        register(layer, "a", text=text)
    assert [tool.description for tool in prompt.assemble(scope=scope).tools] == ["near"]
    assert [tool.description for tool in prompt.assemble().tools] == ["far"]
    near = prompt.registry.get("a", scope)
    assert near is not None
    assert near.description == "near"


def test_a_shadowing_tool_that_goes_reveals_the_inherited_one() -> None:
    """Unlike ``when``, disposing takes the entry away."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt, "a", text="far")
    near = scope.tool(ToolSchema("a", "near", {}))
    near.dispose()
    assert [tool.description for tool in prompt.assemble(scope=scope).tools] == ["far"]


# Looking


def test_the_registry_is_a_tool_provider() -> None:
    """Called with a context it gives what the scope sees, and all names there are."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt, "b", "a")
    register(scope, "c")
    scope.restrict(deny=["a"])
    result = prompt.registry(AssembleContext(scope))
    assert sorted(schema.name for schema in result.schemas) == ["b", "c"]
    assert sorted(result.names) == ["a", "b", "c"]


def test_get_gives_none_for_what_a_scope_does_not_see() -> None:
    """Hidden, of another scope, or never registered: no difference."""
    prompt = SystemPrompt()
    scope, other = prompt.create_scope("agent"), prompt.create_scope("other")
    register(prompt, "hidden")
    register(other, "of another")
    scope.restrict(deny=["hidden"])
    for name in ("hidden", "of another", "missing"):
        assert prompt.registry.get(name, scope) is None


def test_the_list_that_the_registry_gives_is_the_callers() -> None:
    """Changing it changes nothing."""
    prompt = SystemPrompt()
    register(prompt, "a")
    prompt.registry.schemas().clear()
    assert seen(prompt) == "a"


def test_a_scope_of_another_host_is_refused() -> None:
    """As it is when assembling."""
    foreign = SystemPrompt().create_scope("foreign")
    with pytest.raises(ScopeError):
        SystemPrompt().registry.schemas(foreign)


def test_a_registry_of_another_host_is_a_provider_of_its_own_tools() -> None:
    """Two hosts may share tools that way."""
    one, two = SystemPrompt(), SystemPrompt()
    register(one, "a")
    register(two, "b")
    two.tools(one.registry)
    assert [tool.name for tool in two.assemble().tools] == ["a", "b"]


def test_there_is_one_registry_per_host() -> None:
    """It is there from the start, and empty."""
    prompt = SystemPrompt()
    assert isinstance(prompt.registry, ToolRegistry)
    assert prompt.registry is prompt.registry
    assert prompt.registry.schemas() == []


# Restricting


def test_restrict_masks_what_a_scope_inherits() -> None:
    """By what is allowed, by what is denied, or by both; and nobody else's view."""
    prompt = SystemPrompt()
    register(prompt, *"abcd")
    views: list[tuple[dict[str, Any], str]] = [
        ({"allow": ["a", "b"]}, "ab"),
        ({"deny": ["a", "b"]}, "cd"),
        ({"allow": ["a", "b"], "deny": ["b"]}, "a"),
        ({"allow": ("a",)}, "a"),
        ({"allow": ()}, ""),
        ({"deny": ()}, "abcd"),
    ]
    for number, (options, expected) in enumerate(views):
        scope = prompt.create_scope(f"agent-{number}")
        assert isinstance(scope.restrict(**options), Registration)
        assert seen(prompt, scope) == expected
    assert seen(prompt) == "abcd"


def test_restrict_does_not_mask_what_the_scope_itself_registers() -> None:
    """Before or after, and whatever it says, also of a name that is shadowed."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt, *"ab")
    register(scope, *"bc")
    scope.restrict(allow=())
    scope.restrict(deny=["b"])
    register(scope, "d")
    assert seen(prompt, scope) == "bcd"


def test_a_parents_restriction_masks_its_own_tools_for_its_child() -> None:
    """They are inherited there, though not where the parent looks."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, "a")
    register(parent, "b")
    register(child, "c")
    parent.restrict(allow=())
    assert seen(prompt, parent) == "b"
    assert seen(prompt, child) == "c"


def test_a_childs_restriction_masks_its_parents_tools() -> None:
    """All that it inherits, and the parent's view stays as it is."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, "a")
    register(parent, "b")
    child.restrict(deny=["b"])
    assert seen(prompt, child) == "a"
    assert seen(prompt, parent) == "ab"


def test_a_masked_tool_that_shadows_does_not_reveal_the_shadowed_one() -> None:
    """The name is hidden, whoever provides it."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, "a", text="far")
    register(parent, "a", text="near")
    child.restrict(deny=["a"])
    assert seen(prompt, child) == ""


def test_several_restrictions_intersect() -> None:
    """Of one scope and of its ancestors; each can be lifted alone."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, *"abcd")
    one = parent.restrict(allow=["a", "b", "c"])
    two = child.restrict(allow=["b", "c", "d"])
    three = child.restrict(deny=["c"])
    assert (seen(prompt, parent), seen(prompt, child)) == ("abc", "b")
    three.dispose()
    assert seen(prompt, child) == "bc"
    one.dispose()
    assert (seen(prompt, parent), seen(prompt, child)) == ("abcd", "bcd")
    two()
    assert seen(prompt, child) == "abcd"


def test_a_later_tool_is_hidden_by_allow_lists_and_admitted_by_deny_lists() -> None:
    """Lists are kept as they were given, and looked up in what is there now."""
    prompt = SystemPrompt()
    allowing, denying, nothing = (prompt.create_scope(name) for name in ("a", "d", "n"))
    register(prompt, *"ab")
    names = ["a"]
    allowing.restrict(allow=names)
    denying.restrict(deny=names)
    nothing.restrict(allow=())
    names.append("c")
    register(prompt, "c")
    views = [seen(prompt, scope) for scope in (allowing, denying, nothing)]
    assert views == ["a", "bc", ""]


def test_a_restriction_stays_when_its_tool_goes_and_comes_back() -> None:
    """It speaks of names."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    tool = prompt.tool({"name": "a"})
    scope.restrict(deny=["a"])
    tool.dispose()
    assert seen(prompt, scope) == ""
    register(prompt, "a")
    assert seen(prompt, scope) == ""


@pytest.mark.parametrize("option", ["allow", "deny"])
def test_unknown_names_are_refused(option: str) -> None:
    """They are typing errors; the known ones are listed, and nothing is restricted."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    match = r'unknown .*tool\(s\) "x"; known .*tools: \(none\)'
    with pytest.raises(InvalidContributionError, match=match):
        scope.restrict(**{option: ["x"]})
    register(prompt, *"ba")
    match = r'unknown .*tool\(s\) "x", "y"; known .*tools: a, b'
    with pytest.raises(InvalidContributionError, match=match):
        scope.restrict(**{option: ["y", "a", "x"]})
    assert seen(prompt, scope) == "ab"


def test_names_of_other_scopes_and_of_providers_are_unknown() -> None:
    """A restriction does not reach them."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt.create_scope("other"), "a")
    prompt.tools(lambda: [{"name": "b"}])
    for name in "ab":
        with pytest.raises(InvalidContributionError, match="unknown"):
            scope.restrict(deny=[name])


def test_names_that_are_restricted_already_are_known() -> None:
    """A child may repeat what its parent denies."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, *"ab")
    parent.restrict(deny=["a"])
    child.restrict(deny=["a"])
    assert seen(prompt, child) == "b"


def test_neither_list_is_refused() -> None:
    """A restriction that restricts nothing is a mistake."""
    scope = SystemPrompt().create_scope("agent")
    with pytest.raises(InvalidContributionError, match=r"give allow=\.\.\., deny=\.\.\., or both"):
        scope.restrict()


@pytest.mark.parametrize("option", ["allow", "deny"])
def test_a_lone_name_is_refused(option: str) -> None:
    """It would be taken for its letters."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt, *"abc")
    with pytest.raises(InvalidContributionError, match=f"{option} takes a list of tool names"):
        scope.restrict(**{option: "abc"})


def test_a_callable_provider_is_out_of_reach() -> None:
    """What it gives is seen whatever the scope allows."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    register(prompt, "a")
    prompt.tools(lambda: [{"name": "p"}])
    scope.restrict(allow=())
    assert [tool.name for tool in prompt.assemble(scope=scope).tools] == ["p"]


def test_only_scopes_restrict() -> None:
    """The host has nothing that it inherits."""
    assert not hasattr(SystemPrompt(), "restrict")


def test_the_restrictions_of_a_disposed_scope_are_lifted() -> None:
    """Its children see what it inherited."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    register(prompt, "a")
    parent.restrict(allow=())
    assert seen(prompt, child) == ""
    parent.dispose()
    assert seen(prompt, child) == seen(prompt, parent) == "a"
