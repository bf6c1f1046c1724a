"""A bare loop: what nobody can do without, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.benchmarks.peer import Peer
from tests.benchmarks.workloads import REFERENCE, SET, SNAPSHOT_HEADER

if TYPE_CHECKING:
    import re

    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Work


class Bare(Peer):
    """Call the providers, substitute with a compiled regular expression, join.

    Nothing is merged, sorted, guarded or recorded.
    """

    name = "bare loop"

    def __init__(self, work: Work) -> None:
        self.variables = list(work.variable_providers().items())
        self.sections: list[Any] = [text.value() for text in work.sections]
        self.contexts = [text.provider() for text in work.contexts]
        self.tools = work.tool_provider()
        self.listeners = work.listeners

    def run(self) -> Output:
        variables = {name: provider() for name, provider in self.variables}
        for name in self.listeners:
            variables[name] = SET
        list(self.tools())

        def value(match: re.Match[str]) -> str:
            return variables[match[1]]

        substitute = REFERENCE.sub
        sections = [
            substitute(value, text if type(text) is str else text()) for text in self.sections
        ]
        contexts = [substitute(value, text()) for text in self.contexts]
        return "\n\n".join(sections), "\n\n".join([SNAPSHOT_HEADER, *contexts])
