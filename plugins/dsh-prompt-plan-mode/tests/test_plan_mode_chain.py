"""Plan mode among other listeners, in both ways to assemble, in scopes, loaded and unloaded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import PlanMode

from dsh_prompt import (
    AssembleContext,
    AsyncCallNext,
    CallNext,
    InvariantError,
    PromptAssembly,
    ProviderError,
    RuntimeState,
    ToolSchema,
    hookimpl,
    render_context_sections,
)
from dsh_prompt.testing import assert_deterministic, assert_tools, assert_unloads_clean

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from dsh_prompt import SystemPrompt

EXTRA = ToolSchema("extra", "Writes.", {})
EXTRA_READ = ToolSchema("extra_read", "Reads.", {}, {"readOnlyHint": True})


class Sealed(PromptAssembly):
    """An assembly that fails when anybody looks into it."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"sections", "contexts", "tools", "variables"}:
            raise RuntimeError("looked into")
        return super().__getattribute__(name)


def tools(assembly: PromptAssembly) -> list[str]:
    return [tool.name for tool in assembly.tools]


def add_extra(assembly: PromptAssembly) -> None:
    assembly.tools += [EXTRA, EXTRA_READ]


@pytest.mark.parametrize("state", [None, RuntimeState(), RuntimeState(permission_mode="planning")])
@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_outside_of_plan_mode(
    bare_host: SystemPrompt, state: RuntimeState | None, mode: str
) -> None:
    """Without a state, and in other modes, nothing changes."""
    before = bare_host.assemble(state=state)
    bare_host.load(PlanMode, name="plan-mode", config={"mode": mode})
    after = bare_host.assemble(state=state)
    assert after == before
    assert after.fingerprint() == before.fingerprint()


@pytest.mark.parametrize("state", [None, RuntimeState()])
@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_outside_of_plan_mode_nothing_is_touched(
    host: Callable[..., SystemPrompt], state: RuntimeState | None, mode: str
) -> None:
    """Outside of plan mode the plugin does not look at a single list of the assembly."""
    prompt = host(mode=mode)
    sealed = Sealed()
    prompt.on_assemble(lambda assembly: sealed)
    assert prompt.assemble(state=state) is sealed
    with pytest.raises(ProviderError, match="looked into"):
        prompt.assemble(state=RuntimeState(permission_mode="plan"))


@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_both_ways_to_assemble(
    host: Callable[..., SystemPrompt], plan: RuntimeState, mode: str
) -> None:
    """An asynchronous assembly is the same as a synchronous one."""
    prompt = host(mode=mode)
    assembly = asyncio.run(prompt.assemble_async(state=plan))
    assert assembly == prompt.assemble(state=plan)
    assert [name for name in tools(assembly) if name not in assembly.denied] == ["read"]


def test_async_listeners(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """What async providers, listeners and middleware bring is seen."""
    prompt = host()

    async def listener(assembly: PromptAssembly) -> None:
        add_extra(assembly)

    async def middleware(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        result = await call_next()
        result.tools.append(ToolSchema("later", "Writes.", {}))
        return result

    async def provider() -> list[ToolSchema]:
        return [ToolSchema("provided", "Writes.", {})]

    prompt.on_assemble(middleware)
    prompt.on_assemble(listener)
    prompt.tools(provider)
    assembly = asyncio.run(prompt.assemble_async(state=plan))
    assert_tools(assembly, "read", "extra_read")


@pytest.mark.parametrize("prepend", [False, True])
def test_tools_of_other_listeners(
    bare_host: SystemPrompt, plan: RuntimeState, prepend: bool
) -> None:
    """Tools of listeners are seen, wherever they stand and whenever they were registered."""

    def middleware(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        result = call_next()
        result.tools.append(ToolSchema("later", "Writes.", {}))
        return result

    bare_host.on_assemble(add_extra, prepend=prepend)
    bare_host.load(PlanMode, name="plan-mode")
    bare_host.on_assemble(middleware, prepend=prepend)
    assert_tools(bare_host.assemble(state=plan), "read", "extra_read")


def test_tools_of_a_later_wrapper(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """A wrapper that is loaded later stands inside too."""

    class Adding:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Generator[None, PromptAssembly, PromptAssembly]:
            assembly = yield
            add_extra(assembly)
            return assembly

    prompt = host()
    prompt.load(Adding)
    assert_tools(prompt.assemble(state=plan), "read", "extra_read")


@pytest.mark.parametrize("first", [False, True])
def test_the_last_word(bare_host: SystemPrompt, plan: RuntimeState, first: bool) -> None:
    """A wrapper that is loaded later, or asks to stand before it, sees what plan mode made."""
    seen: list[list[str]] = []

    class Audit:
        @hookimpl(wrapper=True, tryfirst=True, before=["plan-mode"] if first else ())
        def system_prompt_assemble(self) -> Generator[None, PromptAssembly, PromptAssembly]:
            assembly = yield
            seen.append(tools(assembly))
            return assembly

    plugins = [(PlanMode, "plan-mode"), (Audit, "audit")]
    for plugin, name in reversed(plugins) if first else plugins:
        bare_host.load(plugin, name=name)
    bare_host.assemble(state=plan)
    assert seen == [["read"]]


def test_another_assembly(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """The assembly that a listener gave in place of the host's is narrowed."""
    prompt = host()
    prompt.on_assemble(lambda assembly: PromptAssembly(tools=[EXTRA, EXTRA_READ]))
    assembly = prompt.assemble(state=plan)
    assert_tools(assembly, "extra_read")
    assert [section.name for section in assembly.sections] == ["plan:policy"]


@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_spoilt_lists(host: Callable[..., SystemPrompt], plan: RuntimeState, mode: str) -> None:
    """What is no tool, section or context is left to the guard, which names its owner."""

    class Spoiling:
        def __init__(self, kind: str) -> None:
            self.kind = kind

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            getattr(assembly, self.kind).append({"name": "spoilt"})

    prompt = host(mode=mode)
    for kind in ("sections", "contexts", "tools"):
        prompt.load(Spoiling(kind), name="spoiling")
        with pytest.raises(InvariantError, match="spoiling"):
            prompt.assemble(state=plan)
        prompt.unload("spoiling")


def test_errors_of_others_pass(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """An error of another listener is told as that listener's."""

    def broken(assembly: PromptAssembly) -> None:
        raise RuntimeError("broken")

    prompt = host()
    prompt.on_assemble(broken)
    with pytest.raises(ProviderError, match=r"broken of the host raised RuntimeError: broken$"):
        prompt.assemble(state=plan)


def test_in_one_scope(bare_host: SystemPrompt, plan: RuntimeState) -> None:
    """Loaded into a scope it acts there and below, and nowhere else."""
    scope = bare_host.create_scope("planner")
    child = bare_host.create_scope("helper", parent=scope)
    other = bare_host.create_scope("worker")
    bare_host.load(PlanMode, name="plan-mode", scope=scope)
    for acting in (scope, child):
        assembly = bare_host.assemble(scope=acting, state=plan)
        assert_tools(assembly, "read")
        source = assembly.source_of("section", "plan:policy")
        assert source is not None
        assert (source.plugin, source.scope) == ("plan-mode", "planner")
    for idle in (None, other):
        assert_tools(bare_host.assemble(scope=idle, state=plan), "edit", "read", "run")


def test_each_load_has_its_settings(bare_host: SystemPrompt, plan: RuntimeState) -> None:
    """Two scopes, each with the plugin, go by their own settings."""
    narrow, mask = bare_host.create_scope("narrow"), bare_host.create_scope("mask")
    bare_host.load(PlanMode, name="plan-mode", scope=narrow, config={"read_only": ["run"]})
    bare_host.load(PlanMode, name="plan-mode", scope=mask, config={"mode": "mask"})
    assert_tools(bare_host.assemble(scope=narrow, state=plan), "read", "run")
    assert set(bare_host.assemble(scope=mask, state=plan).denied) == {"edit", "run"}


def test_two_loads_in_one_chain(bare_host: SystemPrompt, plan: RuntimeState) -> None:
    """Of two that take part both have to keep a tool, and the later one's text stands."""
    scope = bare_host.create_scope("agent")
    bare_host.load(PlanMode, name="plan-mode", config={"read_only": ["run"], "text": "Global."})
    own = {"read_only": ["edit", "run"], "text": "Own.", "order": 1000}
    bare_host.load(PlanMode, name="plan-mode", scope=scope, config=own)
    assembly = bare_host.assemble(scope=scope, state=plan)
    assert_tools(assembly, "read", "run")
    assert (assembly.sections[-1].name, assembly.sections[-1].text) == ("plan:policy", "Own.")
    assert [section.name for section in assembly.sections].count("plan:policy") == 1


@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_unload(plan: RuntimeState, mode: str) -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean(PlanMode, config={"mode": mode}, state=plan)


def test_deterministic(plan: RuntimeState) -> None:
    """It says the same in every process: also why each tool is denied, which "narrow" does not."""
    assert_deterministic(PlanMode, config={"mode": "mask"}, state=plan)


@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_assemblies_share_nothing(
    host: Callable[..., SystemPrompt], plan: RuntimeState, mode: str
) -> None:
    """An assembly is not changed by those after it, nor by what is done to those before."""
    prompt = host(mode=mode)
    first, second = prompt.assemble(state=plan), prompt.assemble(state=plan)
    assert first == second
    for section in first.sections:
        section.text = "changed"
    first.contexts.clear()
    first.tools.clear()
    assert prompt.assemble(state=plan) == second


def test_a_context_that_is_used_again(host: Callable[..., SystemPrompt]) -> None:
    """The state of the moment decides, also where one context serves several assemblies."""
    prompt = host(mode="mask")
    context = AssembleContext(state=RuntimeState(permission_mode="plan"))
    assert prompt.assemble(context).denied
    context.state = RuntimeState()
    assembly = prompt.assemble(context)
    assert not assembly.denied
    assert [name for name, _ in render_context_sections(assembly)] == ["git", "todos"]


def test_it_is_one_waterfall_hook(host: Callable[..., SystemPrompt]) -> None:
    """The plugin contributes one listener and nothing else."""
    (info,) = host().plugins
    assert info.contributions == (("listener", "system_prompt_assemble", None),)
