"""An agent with all the plugins of this project: its stores, its tools, and a model by script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import dsh_prompt_agents_md
import dsh_prompt_clock
import dsh_prompt_env
import dsh_prompt_git
import dsh_prompt_memory
import dsh_prompt_policy
import dsh_prompt_skills
import dsh_prompt_subagents
import dsh_prompt_summary
import dsh_prompt_todo
from dsh_prompt_memory import MEMORIES
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_skills import SKILLS
from dsh_prompt_todo import TODOS

from dsh_prompt import Config, RuntimeState, SystemPrompt
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dsh_prompt.adapters import Request

#: In another order than any that would help.
PLUGINS: dict[str, Any] = {
    "todo": dsh_prompt_todo,
    "summary": dsh_prompt_summary,
    "skills": dsh_prompt_skills,
    "policy": dsh_prompt_policy.Policy,
    "plan-mode": PlanMode,
    "memory": dsh_prompt_memory,
    "git": dsh_prompt_git,
    "env": dsh_prompt_env,
    "clock": dsh_prompt_clock,
    "subagents": dsh_prompt_subagents,
    "agents-md": dsh_prompt_agents_md,
}

FILES = {
    "AGENTS.md": "Use make. Quote {{names}} as they are.\n",
    ".agents/skills/release/SKILL.md": (
        "---\nname: release\ndescription: Releases a version. Use it to publish.\n---\n"
        "Tag it, then push the tag.\n"
    ),
    ".agents/skills/broken/SKILL.md": "---\nname: broken\n---\nNo description.\n",
}


def make_project(folder: Path) -> Path:
    """Write a project with instructions and skills."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def settings(folder: Path) -> dict[str, dict[str, Any]]:
    """Give settings under which nothing of this machine shows but *folder*."""
    return {
        "memory": {"path": str(folder / "notes.sqlite3")},
        "plan-mode": {"mode": "mask"},
        "skills": {"user_roots": [], "installed": False, "root_markers": ["AGENTS.md"]},
        "agents-md": {"user_files": [], "root_markers": ["AGENTS.md"]},
        "env": {"platform": "Linux", "shell": "bash"},
    }


def host(folder: Path) -> SystemPrompt:
    """Give a host with all plugins, and two tools of its own."""
    prompt = SystemPrompt(Config(persona="You work on a small project."))
    prompt.tool({"name": "read", "annotations": {"readOnlyHint": True}})
    prompt.tool({"name": "write", "description": "Writes a file."})
    for name, plugin in PLUGINS.items():
        prompt.load(plugin, name=name, config=settings(folder).get(name))
    return prompt


@attrs.define
class Agent:
    """The agent: what it knows is in the stores, and in *facts*, which its world sets."""

    prompt: SystemPrompt
    project: Path
    facts: dict[str, Any] = attrs.field(factory=dict)
    ran: list[str] = attrs.field(factory=list)

    def state(self) -> RuntimeState:
        """Give the real state, as it is now."""
        todos = self.prompt.require(TODOS).items
        return RuntimeState(
            workdir=str(self.project), model="model-1", provider="x", todos=todos, **self.facts
        )

    def tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool that a plugin has a store for, or one of the host."""
        self.ran.append(name)
        if name == "todo_write":
            return self.prompt.require(TODOS).call(arguments)
        if name == "skill":
            return self.prompt.require(SKILLS).call(arguments, workdir=str(self.project))
        if name in ("remember", "recall"):
            return self.prompt.require(MEMORIES).call(name, arguments)
        return f"{name} is done"


@attrs.define
class Script:
    """A model that calls what the script says, and keeps the requests."""

    calls: list[tuple[str, dict[str, Any]] | None]
    requests: list[Request] = attrs.field(factory=list)

    def __call__(self, request: Request) -> dict[str, Any]:
        """Answer as OpenAI does: the next call, or a text."""
        self.requests.append(request)
        number, wanted = len(self.requests), self.calls.pop(0)
        message: dict[str, Any] = {"role": "assistant", "content": f"Reply {number}."}
        if wanted is not None:
            name, arguments = wanted
            function = {"name": name, "arguments": json.dumps(arguments)}
            message["tool_calls"] = [{"id": str(number), "type": "function", "function": function}]
        return {"choices": [{"message": message}]}


def talk(agent: Agent, model: Script, turns: Mapping[str, dict[str, Any]]) -> Conversation:
    """Let the user say each of *turns*, whose facts hold from then on; nothing is pinned."""
    conversation = Conversation(agent.prompt, adapter="openai_chat", pin="none")
    for said, facts in turns.items():
        agent.facts.update(facts)
        query = agent.facts.get("task") or said
        agent.facts["memories"] = agent.prompt.require(MEMORIES).search(query, limit=5)
        run(conversation, model, agent.tool, model="model-1", text=said, state=agent.state)
    return conversation
