"""The deny list as a mask over the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dsh_prompt_policy import Policy
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import (
    CallNext,
    InvariantError,
    PromptAssembly,
    RuntimeState,
    SystemPrompt,
    ToolSchema,
    hookimpl,
)
from dsh_prompt.adapters import openai_chat
from dsh_prompt.testing import assert_context, assert_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ALL = ("bash", "git_push", "git_status", "read")


def test_tools_stay_in_the_list(host: Callable[..., SystemPrompt]) -> None:
    """Denied tools stay in the list; the whole prefix is as without a deny list."""
    prompt = host(deny=["git_*"])
    assembly = prompt.assemble()
    assert_tools(assembly, *ALL, denied=["git_push", "git_status"])
    assert assembly.authorize("git_push") == "the user's policy denies this tool"
    assert assembly.authorize("bash") is None
    prompt.unload("policy")
    prompt.load(Policy, name="policy")
    assert prompt.assemble().fingerprint().prefix == assembly.fingerprint().prefix


def test_in_one_mode(host: Callable[..., SystemPrompt]) -> None:
    """Each mode denies what is listed for it, besides what all deny; the reason names it."""
    prompt = host(deny=["git_push"], deny_in={"plan": ["bash"], "bypass": ["read"]})
    plan = prompt.assemble(state=RuntimeState(permission_mode="plan"))
    assert_tools(plan, *ALL, denied=["bash", "git_push"])
    assert plan.authorize("bash") == (
        'the user\'s policy denies this tool in permission mode "plan"'
    )
    assert_tools(prompt.assemble(state=RuntimeState()), *ALL, denied=["git_push"])
    assert_tools(prompt.assemble(), *ALL, denied=["git_push"])


def test_in_an_unknown_mode(host: Callable[..., SystemPrompt]) -> None:
    """A misspelt mode takes away tools, and no protection; the reason says what is wrong."""
    prompt = host(deny_in={"plan": ["bash"], "default": ["read"]})
    assembly = prompt.assemble(state=RuntimeState(permission_mode="Plan"))
    assert_tools(assembly, *ALL, denied=["bash", "read"])
    assert 'does not know the permission mode "Plan"' in str(assembly.authorize("bash"))


def test_case_counts(host: Callable[..., SystemPrompt]) -> None:
    """Names are compared whole, and upper and lower case differ."""
    assert_tools(host(deny=["BASH", "re", "Git_*", "ush"]).assemble(), *ALL, denied=[
        "BASH", "re", "ush",
    ])  # fmt: skip


def test_a_plain_name_is_denied_wherever_the_tool_is(host: Callable[..., SystemPrompt]) -> None:
    """A name without wildcards is refused though no list has it now: it may come later."""
    assembly = host(deny=["rm", "drop_*"]).assemble()
    assembly.tools.append(ToolSchema("rm", "", {}))
    assert assembly.authorize("rm") == "the user's policy denies this tool"
    assert list(assembly.denied) == ["rm"]


def test_a_name_that_looks_like_a_pattern(host: Callable[..., SystemPrompt]) -> None:
    """A tool whose name is the glob itself is denied, too."""
    prompt = host(deny=["run[1]"])
    for name in ("run1", "run[1]"):
        prompt.tool({"name": name})
    assert sorted(prompt.assemble().denied) == ["run1", "run[1]"]


def test_reasons_of_others_stay(host: Callable[..., SystemPrompt]) -> None:
    """A tool that somebody else denied keeps that reason."""
    prompt = host(deny=["bash"])
    prompt.on_assemble(lambda assembly: assembly.deny("bash", "a reason of its own"))
    assert prompt.assemble().denied == {"bash": "a reason of its own"}


@pytest.mark.parametrize("first", [False, True])
def test_tools_of_others(bare_host: SystemPrompt, first: bool) -> None:
    """Tools are seen that listeners, middleware and wrappers add, wherever these stand."""

    class Adding:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Generator[None, PromptAssembly, PromptAssembly]:
            assembly = yield
            assembly.tools.append(ToolSchema("git_wrapped", "", {}))
            return assembly

    def middleware(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        result = call_next()
        result.tools.append(ToolSchema("git_later", "", {}))
        return result

    if not first:
        bare_host.load(Adding)
    bare_host.load(Policy, name="policy", config={"deny": ["git_*"]})
    if first:
        bare_host.load(Adding)
    bare_host.on_assemble(middleware, prepend=first)
    assembly = bare_host.assemble()
    assert sorted(assembly.denied) == ["git_later", "git_push", "git_status", "git_wrapped"]
    assert_context(assembly, "permissions", contains='"git_wrapped"')


def test_another_assembly(host: Callable[..., SystemPrompt]) -> None:
    """The assembly that a listener gave in place of the host's is masked."""
    prompt = host(deny=["extra"])
    prompt.on_assemble(lambda assembly: PromptAssembly(tools=[ToolSchema("extra", "", {})]))
    assert_tools(prompt.assemble(), "extra", denied=["extra"])


def test_what_is_no_tool(host: Callable[..., SystemPrompt]) -> None:
    """It is left to the guard, which names who put it there."""

    class Spoiling:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.tools.append({"name": "git_x"})  # type: ignore[arg-type]

    prompt = host(deny=["*"])
    prompt.load(Spoiling, name="spoiling")
    with pytest.raises(InvariantError, match="spoiling"):
        prompt.assemble()


def test_in_scopes(bare_host: SystemPrompt) -> None:
    """A scope's own policy adds to the global one, and its context tells both."""
    scope = bare_host.create_scope("agent")
    bare_host.load(Policy, name="policy", config={"deny": ["bash"]})
    bare_host.load(Policy, name="policy", scope=scope, config={"deny": ["read"]})
    assert list(bare_host.assemble().denied) == ["bash"]
    assembly = bare_host.assemble(scope=scope)
    assert_tools(assembly, *ALL, denied=["bash", "read"])
    assert_context(assembly, "permissions", 'Denied tools: "bash", "read".')


def test_a_request_leaves_them_out(host: Callable[..., SystemPrompt]) -> None:
    """A provider that can express it is told which tools may be called."""
    assembly = host(deny=["git_*"]).assemble()
    body = openai_chat(assembly, [{"role": "user", "content": "Hi."}], model="m")
    allowed = body["tool_choice"]["allowed_tools"]["tools"]
    assert [tool["function"]["name"] for tool in allowed] == ["bash", "read"]
    assert len(body["tools"]) == 4


GLOBS = st.lists(st.sampled_from(["bash", "git_*", "*", "read", "?ead", "[!b]*", "none"]))


@settings(max_examples=20)
@given(GLOBS, GLOBS, st.sampled_from(["default", "plan", "strange"]))
def test_more_rules_deny_more(deny: list[str], more: list[str], mode: str) -> None:
    """What a list denies, a longer one denies as well, and the list of tools never changes."""

    def denied(globs: list[str]) -> set[str]:
        prompt = SystemPrompt()
        prompt.load(Policy, name="policy", config={"deny": globs})
        prompt.tools([{"name": name} for name in ALL])
        assembly = prompt.assemble(state=RuntimeState(permission_mode=mode))
        assert tuple(tool.name for tool in assembly.tools) == ALL
        return set(assembly.denied)

    assert denied(deny) <= denied(deny + more)
