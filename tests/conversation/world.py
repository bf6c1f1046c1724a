"""What happens around the conversations of fifty steps: plugins, events, and the agent's state."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import attrs
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_plan_mode.config import TEXT

from dsh_prompt import (
    AssembleContext,
    Config,
    DisposableContext,
    PromptSection,
    RuntimeState,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

COUNT = 50
#: The module of the plugin that is upgraded.
STYLE = "style_of_fifty_steps"
CODE = """
from dsh_prompt import PromptSection, hookimpl

@hookimpl
def contribute_sections():
    return [PromptSection(name="style", order=30, text={text!r})]
"""
OLD, NEW = "Answer in full sentences.", "Answer in short sentences."
RULES = "".join(f"{number}. Look before you change anything.\n" for number in range(1, 81))


def schema(name: str, *, reads: bool = True) -> dict[str, Any]:
    """Give a tool of the size that tools have."""
    path = {"type": "string", "description": "The path, from the root of the project."}
    return {
        "name": name,
        "description": f"{name}: {'does one thing, and does it well; ' * 6}".strip("; "),
        "parameters": {"type": "object", "properties": {"path": path}, "required": ["path"]},
        "annotations": {"readOnlyHint": reads},
    }


class Tool:
    """A plugin with a tool, and a section about it."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def contribute_tools(self) -> list[dict[str, Any]]:
        return [schema(self.name)]

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection(name=self.name, order=20, text=f"Use {self.name} when you can.")]


class Discovery:
    """A plugin with the tools that the agent has discovered."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.tools(lambda context: list(map(schema, state_of(context).discovered_tools)))


class Memories:
    """A plugin that shows what a search of memories brought up."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.context(name="memories", order=10, text=self.text, literal=True)

    def text(self, context: AssembleContext) -> str:
        return "\n".join(memory.content for memory in state_of(context).memories)


def state_of(context: AssembleContext) -> RuntimeState:
    return context.state or RuntimeState()


class World:
    """A host with plugins, and the state of its agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mode = "default"
        self.memories: list[str] = []
        self.discovered: list[str] = []
        self.prompt = SystemPrompt(Config(persona=f"You are a careful programmer.\n\n{RULES}"))

    def __enter__(self) -> Self:
        sys.path.insert(0, str(self.folder))
        self.write_style(OLD)
        prompt = self.prompt
        for name in ("find", "list", "look", "read", "search", "test"):
            prompt.tool(schema(name))
        for name in ("edit", "move", "remove", "run", "write"):
            prompt.tool(schema(name, reads=False))
        prompt.load(PlanMode, name="plan-mode", config={"mode": "mask"})
        prompt.load(Discovery, name="discovery")
        prompt.load(Memories, name="memories")
        prompt.load(Tool("note"), name="notes")
        prompt.load(Tool("fetch"), name="web")
        prompt.load(import_module(STYLE), name="style")
        return self

    def __exit__(self, *_: object) -> None:
        self.prompt.dispose()
        sys.path.remove(str(self.folder))
        sys.modules.pop(STYLE, None)

    def state(self) -> RuntimeState:
        """Give the state of the next step."""
        return RuntimeState(
            permission_mode=self.mode, memories=self.memories, discovered_tools=self.discovered
        )

    def write_style(self, text: str) -> None:
        (self.folder / f"{STYLE}.py").write_text(CODE.format(text=text), encoding="utf-8")

    # What happens

    def plan(self) -> None:
        self.mode = "plan"

    def work(self) -> None:
        self.mode = "default"

    def discover(self, name: str) -> None:
        self.discovered.append(name)

    def remember(self, text: str) -> None:
        self.memories.append(text)

    def upgrade(self) -> None:
        self.write_style(NEW)
        self.prompt.reload("style")


def nothing(_: World) -> None:
    """Do nothing: the event is one of the conversation."""


@attrs.frozen
class Event:
    """Something that happens before a step.

    *told* is what the snapshot of the step says of it, or, if it *ends* something, says no more.
    One that *pins* leads to a new prefix, one that *compacts* to a new history as well.
    """

    what: str
    happen: Callable[[World], None]
    told: str = ""
    ends: bool = False
    pins: bool = False
    compacts: bool = False


PLANNING = TEXT.split("\n", maxsplit=1)[0]
PLAN = Event("plan mode begins", World.plan, PLANNING)
WORK = Event("plan mode ends", World.work, PLANNING, ends=True)


def discovery(name: str) -> Event:
    return Event(f"the tool `{name}` is discovered", lambda world: world.discover(name), name)


def memory(text: str) -> Event:
    return Event("a memory comes up", lambda world: world.remember(text), text)


EVENTS = {
    3: memory("The user likes tabs."),
    5: PLAN,
    8: WORK,
    10: discovery("deploy"),
    13: memory("The tests run with tox."),
    15: Event("a plugin is upgraded", World.upgrade, NEW),
    20: PLAN,
    23: WORK,
    25: Event("the history is compacted", nothing, pins=True, compacts=True),
    30: memory("There is a branch for each issue."),
    35: Event("a plugin is unloaded", lambda world: world.prompt.unload("notes"), "note"),
    38: PLAN,
    40: discovery("ask"),
    42: WORK,
    45: Event(
        "a plugin is unloaded, urgently",
        lambda world: world.prompt.unload("web", urgent=True),
        pins=True,
    ),
    48: memory("It rained."),
    50: discovery("inspect"),
}
#: What the model calls, where it is not "read": tools denied, not there yet, there, and gone.
CALLS = {6: "write", 9: "write", 11: "deploy", 26: "deploy", 36: "note", 46: "fetch"}
