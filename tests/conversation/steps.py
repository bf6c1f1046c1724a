"""Fifty steps of two conversations with one host, pinned and not: what a cache holds of each.

Run as a program, this file writes the table into conversations.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.conversation import Conversation
from tests.conversation.world import CALLS, COUNT, EVENTS, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.adapters import Request, ToolCall

PAGE = Path(__file__).parents[2] / "docs" / "conversations.md"
BLOCK = re.compile(r"(?<=<!-- steps -->\n).*?(?=<!-- end of steps -->)", re.DOTALL)
EVERY = 5


@attrs.frozen
class Step:
    """A step of one conversation; *cached* of its bytes were sent in the step before."""

    request: Request
    call: ToolCall
    text: bytes
    cached: int

    @property
    def fresh(self) -> int:
        """The number of bytes that no cache has."""
        return len(self.text) - self.cached

    @property
    def prefix(self) -> list[bytes]:
        """Tools and system prompt."""
        return self.text.split(b"\n")[:2]

    @property
    def snapshot(self) -> str:
        """The snapshot of runtime contexts, "" where none was needed."""
        content = str(self.request["messages"][-1]["content"])
        return content if content.startswith("Current runtime context") else ""


def serialised(request: Request) -> bytes:
    """Give *request* in the order in which providers read it: tools, system prompt, messages."""
    parts = [request.get("tools", []), *request["messages"]]
    return "\n".join(json.dumps(part, ensure_ascii=False) for part in parts).encode()


def shared(one: bytes, other: bytes) -> int:
    """Give the length of the beginning that both have."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def stepped(talk: Conversation, world: World, number: int, before: bytes) -> Step:
    """Make a step, in which the model calls a tool."""
    request = talk.step(world.state(), model="model-1")
    text = serialised(request)
    function = {"name": CALLS.get(number, "read"), "arguments": '{"path": "a.py"}'}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    [call] = talk.commit({"choices": [{"message": message}]})
    output = f"{number}: print(1)\n" * 40
    talk.add_results([(call, call.refusal or output, call.refusal is not None)])
    return Step(request, call, text, shared(before, text))


def fifty_steps() -> tuple[list[Step], list[Step]]:
    """Make the steps of a pinned conversation, and of one that is not."""
    with TemporaryDirectory() as folder, World(Path(folder)) as world:
        pinned = Conversation(world.prompt, adapter="openai_chat")
        unpinned = Conversation(world.prompt, adapter="openai_chat", pin="none")
        made: dict[Conversation, list[Step]] = {pinned: [], unpinned: []}
        for talk in made:
            talk.say("What does a.py do?")
        for number in range(1, COUNT + 1):
            if event := EVENTS.get(number):
                event.happen(world)
            for talk, steps in made.items():
                if event is not None and event.compacts:
                    talk.compacted("We looked at a.py, which prints numbers.")
                steps.append(stepped(talk, world, number, steps[-1].text if steps else b""))
    return made[pinned], made[unpinned]


def rows(pinned: list[Step], unpinned: list[Step]) -> Iterator[list[Any]]:
    """Give the rows of the table: the first step, then each fifth, and all of them together."""
    for number in (1, *range(EVERY, COUNT + 1, EVERY)):
        event, steps = EVENTS.get(number), (pinned[number - 1], unpinned[number - 1])
        figures = [figure for step in steps for figure in (step.cached, step.fresh)]
        yield [number, event.what if event else "", *figures]
    totals = [
        sum(figures)
        for steps in (pinned, unpinned)
        for figures in ([step.cached for step in steps], [step.fresh for step in steps])
    ]
    yield [f"1 to {COUNT}", "", *totals]


def table(pinned: list[Step], unpinned: list[Step]) -> str:
    """Give the table of the page."""
    lines = [
        "| step | what happens before it | pinned: cached | fresh | not pinned: cached | fresh |",
        "|---|---|--:|--:|--:|--:|",
        *(
            f"| {' | '.join(format(cell, ',') if type(cell) is int else cell for cell in row)} |"
            for row in rows(pinned, unpinned)
        ),
    ]
    return "\n" + "\n".join(lines) + "\n\n"


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: table(*fifty_steps()), text), encoding="utf-8")


if __name__ == "__main__":
    main()
