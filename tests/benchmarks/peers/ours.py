"""What this library does: guard and provenance are on, as they always are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import Config, SystemPrompt, ToolSchema, render_context_snapshot, render_prompt
from tests.benchmarks.peer import Peer
from tests.benchmarks.workloads import SET

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import PromptAssembly
    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Work


class Ours(Peer):
    """Assemble, render the prompt, render the snapshot."""

    name = "ours"

    def __init__(self, work: Work) -> None:
        self.prompt = host(work)

    def run(self) -> Output:
        assembly = self.prompt.assemble()
        return render_prompt(assembly), render_context_snapshot(assembly)


def host(work: Work) -> SystemPrompt:
    """Make a host to which everything of *work* is contributed."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    for name, provider in work.variable_providers().items():
        prompt.variable(name, provider)
    for order, text in enumerate(work.sections, 1):
        prompt.section(name=f"section-{order}", order=order, text=text.value())
    for order, text in enumerate(work.contexts, 1):
        prompt.context(name=f"context-{order}", order=order, text=text.value())
    # The same objects each time.
    tools = [ToolSchema(**tool) for tool in work.tools]  # type: ignore[arg-type]
    prompt.tools(lambda: tools)
    for name in work.listeners:
        prompt.on_assemble(setter(name))
    return prompt


def setter(name: str) -> Callable[[PromptAssembly], None]:
    """Make a listener that sets the variable *name*."""

    def listener(assembly: PromptAssembly) -> None:
        assembly.variables[name] = SET

    return listener
