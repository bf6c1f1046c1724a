"""A LangChain agent with a fake chat model, up to the call of the model."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peer import AgentPeer, imported, nothing
from tests.benchmarks.peers.bare import Bare

if TYPE_CHECKING:
    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Work


class LangChainAgent(AgentPeer):
    """The bare loop makes the prompt, as dynamic prompt middleware; the agent does the rest."""

    name = "LangChain agent"

    def __init__(self, work: Work) -> None:
        agents, middleware = imported("langchain.agents"), imported("langchain.agents.middleware")
        tool = imported("langchain_core.tools").StructuredTool
        loop = Bare(work)
        self._snapshot = ""
        self._reached: tuple[float, Output] = (0.0, ("", ""))

        @middleware.dynamic_prompt  # type: ignore[untyped-decorator]
        def prompt(request: object) -> str:
            text, self._snapshot = loop.run()
            return text

        tools = [
            tool(
                name=schema["name"],
                description=schema["description"],
                args_schema=schema["parameters"],
                func=nothing,
            )
            for schema in work.tools
        ]
        self._agent: Any = agents.create_agent(
            _fake_model(self._reach), tools=tools, middleware=[prompt]
        )

    def _reach(self, messages: Any) -> None:
        self._reached = perf_counter(), (messages[0].content, self._snapshot)

    def run(self) -> Output:
        self._agent.invoke({"messages": [("user", "Go on.")]})
        return self._reached[1]


def _fake_model(reach: Any) -> Any:
    models = imported("langchain_core.language_models")
    message = imported("langchain_core.messages").AIMessage
    outputs = imported("langchain_core.outputs")

    class FakeModel(models.BaseChatModel):  # type: ignore[misc, name-defined]
        @property
        def _llm_type(self) -> str:
            return "fake"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self.bind(tools=tools, **options)

        def _generate(self, messages: Any, *rest: Any, **options: Any) -> Any:
            reach(messages)
            answer = outputs.ChatGeneration(message=message("Done."))
            return outputs.ChatResult(generations=[answer])

    return FakeModel()
