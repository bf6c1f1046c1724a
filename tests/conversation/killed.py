"""A program that keeps its conversation in a file, and can be killed anywhere.

``python killed.py FOLDER PLACE STYLE``: at PLACE of its second step it says so, and waits for its
end. Another process with the same folder goes on. What the provider gets is in ``sent.jsonl``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt import Config, RuntimeState, SystemPrompt
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.adapters import Request

#: What the model calls, in each of its replies.
SCRIPT = ["read", "write", "read", None]


def host(style: str) -> SystemPrompt:
    """Give a host whose snapshot is another one in each step."""
    prompt = SystemPrompt(Config(persona="You help."))
    prompt.section(name="style", order=10, text=style)
    prompt.tool({"name": "read"})
    prompt.tool({"name": "write"})
    prompt.context(name="todos", order=10, text=lambda context: context.state.summary)
    return prompt


@attrs.define
class Program:
    """The program; it keeps the conversation in the file before each thing that it does."""

    folder: Path
    place: str
    talk: Conversation

    @classmethod
    def begun(cls, folder: Path, place: str, style: str) -> Program:
        """Begin, or go on where another process ended."""
        file, prompt = folder / "conversation.json", host(style)
        if file.exists():
            kept = json.loads(file.read_text("utf-8"))
            return cls(folder, place, Conversation.from_dict(kept, prompt))
        talk = Conversation(prompt, adapter="openai_chat")
        talk.say("Go.")
        return cls(folder, place, talk)

    def done(self) -> int:
        """Count the results in the history."""
        return sum(message["role"] == "tool" for message in self.talk.messages)

    def reach(self, place: str) -> None:
        """Wait to be killed, if this is the place."""
        if place == self.place and self.done() == 1:
            sys.stdout.write(f"{place}\n")
            sys.stdout.flush()
            sys.stdin.read()

    def keep(self, where: str) -> None:
        """Put the conversation into the file, whole or not at all."""
        self.reach(f"{where}, not kept")
        new = self.folder / "conversation.new"
        new.write_text(json.dumps(self.talk.to_dict()), encoding="utf-8")
        new.replace(self.folder / "conversation.json")
        self.reach(f"{where}, kept")

    def state(self) -> RuntimeState:
        """Give the state of the next step, or for the tool that is about to run."""
        if not self.talk.calls:
            self.keep("before the step")
        return RuntimeState(summary=f"{self.done()} of 3 are done.")

    def call(self, request: Request) -> Any:
        """Be the provider, too."""
        self.keep("after the step")
        body = request.to_dict()
        with (self.folder / "sent.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(body) + "\n")
        number = sum(message["role"] == "assistant" for message in body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": f"Reply {number}."}
        if name := SCRIPT[number]:
            function = {"name": name, "arguments": "{}"}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            message["tool_calls"] = [call]
        self.reach("after the call")
        return {"choices": [{"message": message}]}

    def tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool."""
        self.keep("after the commit")
        result = f"{name} is done."
        self.reach("after the tool")
        return result

    def run(self) -> None:
        """Run the loop to its end."""
        run(self.talk, self.call, self.tool, model="model-1", state=self.state)
        self.keep("at the end")


if __name__ == "__main__":
    Program.begun(Path(sys.argv[1]), *sys.argv[2:]).run()
