"""LangChain's ``ChatPromptTemplate``: one message of all sections, one of all contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.peer import Peer, imported
from tests.benchmarks.workloads import REFERENCE, SET, SNAPSHOT_HEADER

if TYPE_CHECKING:
    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Text, Work


class LangChainTemplate(Peer):
    """Call the variables' providers and format; texts are part of the template."""

    name = "LangChain template"

    def __init__(self, work: Work) -> None:
        template = imported("langchain_core.prompts").ChatPromptTemplate
        self._template = template.from_messages(
            [("system", _joined(work.sections)), ("user", _joined(work.contexts, SNAPSHOT_HEADER))]
        )
        self._variables = list(work.variable_providers().items())
        self._listeners = work.listeners

    def run(self) -> Output:
        variables = {name: provider() for name, provider in self._variables}
        for name in self._listeners:
            variables[name] = SET
        prompt, snapshot = self._template.format_messages(**variables)
        return prompt.content, snapshot.content


def _joined(texts: tuple[Text, ...], *before: str) -> str:
    takes = [REFERENCE.sub(r"{\1}", text.takes[0]) for text in texts]
    return "\n\n".join([*before, *takes])
