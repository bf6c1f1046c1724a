"""A Pydantic AI agent with a function model, up to the call of the model."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peer import AgentPeer, imported, nothing
from tests.benchmarks.workloads import REFERENCE, SET, SNAPSHOT_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Text, Work


class PydanticAIAgent(AgentPeer):
    """One instruction function for each section; the snapshot is the user's message."""

    name = "Pydantic AI agent"

    def __init__(self, work: Work) -> None:
        ai = imported("pydantic_ai")
        model = imported("pydantic_ai.models.function").FunctionModel
        messages = imported("pydantic_ai.messages")
        self._values: dict[str, str] = {}
        self._variables = list(work.variable_providers().items())
        self._listeners = work.listeners
        self._contexts = [self._instruction(text) for text in work.contexts]
        self._reached: tuple[float, str] = (0.0, "")

        def reach(history: object, info: Any) -> Any:
            self._reached = perf_counter(), info.instructions
            return messages.ModelResponse(parts=[messages.TextPart("Done.")])

        self._agent: Any = ai.Agent(
            model(reach),
            instructions=[self._instruction(text) for text in work.sections],
            tools=[
                ai.Tool.from_schema(
                    nothing, schema["name"], schema["description"], schema["parameters"]
                )
                for schema in work.tools
            ],
        )

    def _instruction(self, text: Text) -> Callable[[], str]:
        give = text.provider()

        def instruction() -> str:
            return REFERENCE.sub(lambda match: self._values[match[1]], give())

        return instruction

    def run(self) -> Output:
        self._values = {name: provider() for name, provider in self._variables}
        for name in self._listeners:
            self._values[name] = SET
        snapshot = "\n\n".join([SNAPSHOT_HEADER, *[context() for context in self._contexts]])
        self._agent.run_sync(snapshot)
        return self._reached[1], snapshot
