"""pluggy: one hook implementation per section and per context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

from tests.benchmarks.peer import Peer
from tests.benchmarks.workloads import REFERENCE, SET, SNAPSHOT_HEADER

if TYPE_CHECKING:
    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Text, Work


class PluggyHooks(Peer):
    """Call the hooks, substitute as the bare loop does, join."""

    name = "pluggy"

    def __init__(self, work: Work) -> None:
        self._manager = pluggy.PluginManager("bench")
        spec, implementation = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

        class Specs:
            @spec
            def section(self, variables: dict[str, str]) -> str:
                raise NotImplementedError

            @spec
            def context(self, variables: dict[str, str]) -> str:
                raise NotImplementedError

        self._manager.add_hookspecs(Specs)
        for kind, texts in (("section", work.sections), ("context", work.contexts)):
            # The last one registered is called first.
            for text in reversed(texts):
                self._manager.register(_plugin(kind, text, implementation))
        self._variables = list(work.variable_providers().items())
        self._tools = work.tool_provider()
        self._listeners = work.listeners

    def run(self) -> Output:
        variables = {name: provider() for name, provider in self._variables}
        for name in self._listeners:
            variables[name] = SET
        list(self._tools())
        sections = self._manager.hook.section(variables=variables)
        contexts = self._manager.hook.context(variables=variables)
        return "\n\n".join(sections), "\n\n".join([SNAPSHOT_HEADER, *contexts])


def _plugin(kind: str, text: Text, implementation: Any) -> object:
    give = text.provider()

    def hook(variables: dict[str, str]) -> str:
        return REFERENCE.sub(lambda match: variables[match[1]], give())

    return type("Plugin", (), {kind: staticmethod(implementation(hook))})()
