"""Jinja2: one precompiled template for everything, with variables only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.peer import Peer, imported
from tests.benchmarks.workloads import SET, SNAPSHOT_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Text, Work


class Jinja2Template(Peer):
    """Call the variables' providers and render; texts are part of the template."""

    name = "Jinja2"

    def __init__(self, work: Work) -> None:
        environment = imported("jinja2").Environment(autoescape=False)
        self._prompt = environment.from_string("\n\n".join(_takes(work.sections)))
        self._snapshot = environment.from_string(
            "\n\n".join([SNAPSHOT_HEADER, *_takes(work.contexts)])
        )
        self._variables = list(work.variable_providers().items())
        self._listeners = work.listeners

    def run(self) -> Output:
        variables = {name: provider() for name, provider in self._variables}
        for name in self._listeners:
            variables[name] = SET
        return self._prompt.render(variables), self._snapshot.render(variables)


def _takes(texts: Iterable[Text]) -> list[str]:
    return [text.takes[0] for text in texts]
