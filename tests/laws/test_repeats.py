"""What a host remembers of earlier assemblies never shows: each one is as if it were the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import (
    Config,
    PromptAssembly,
    PromptError,
    SystemPrompt,
    ToolSchema,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = st.sampled_from(
    [
        *("", "a", "{{x}}", "x: {{x}}", "{{x}}}", "{{{x}}}", "{{{{x}}}}", "{ {{x}}", "{{ x }}"),
        *("{{y}}", "{{y}}{{y}}", "{{x}} and {{y}}", "{{x}} and {{ y }}", "{{unknown}}"),
    ]
)
VALUES = st.sampled_from(["", "1", "2", "{{y}}", None])
TOOLS = [ToolSchema("a", "", {}), ToolSchema("b", "", {}), ToolSchema("a", "other", {})]

#: What the providers of one assembly give, and what a listener does to it.
STEPS = st.fixed_dictionaries(
    {
        "texts": st.tuples(TEXTS, TEXTS, TEXTS),
        "taking_part": st.tuples(st.booleans(), st.booleans()),
        "values": st.tuples(VALUES, VALUES),
        "tools": st.lists(st.sampled_from(TOOLS), max_size=3),
        "listener": st.sampled_from(["", "set", "look", "edit", "drop", "tools"]),
    }
)


class Scripted:
    """Does in each assembly what its *step* says."""

    def __init__(self) -> None:
        self.step: Any = None

    def host(self, *, with_when: bool) -> SystemPrompt:
        """Make a host that is steered by this object."""
        prompt = SystemPrompt(Config(persona="In {{x}}."))
        prompt.variable("x", lambda: self.step["values"][0])
        prompt.variable("y", lambda: self.step["values"][1])
        for number in range(2):
            whens: Any = {"when": lambda n=number: self.step["taking_part"][n]} if with_when else {}
            text = lambda n=number: self.step["texts"][n]  # noqa: E731
            prompt.section(name=f"s{number}", order=number, text=text, **whens)
        prompt.context(name="c", order=1, text=lambda: self.step["texts"][2], title="C")
        prompt.tools(lambda: list(self.step["tools"]))
        prompt.on_assemble(self.listen)
        return prompt

    def listen(self, assembly: PromptAssembly) -> None:
        """Change *assembly* as the step says."""
        what = self.step["listener"]
        if what == "set":
            assembly.variables["x"] = "set"
        elif what == "look":
            assert assembly.sections
        elif what == "edit":
            assembly.sections[0].text = "edited {{y}}"
        elif what == "drop":
            assembly.sections = assembly.sections[1:]
        elif what == "tools":
            assembly.tools.reverse()

    def outcome(self, prompt: SystemPrompt, step: Any) -> object:
        """Assemble and render as *step* says: all that comes of it, or the error."""
        self.step = step
        try:
            assembly = prompt.assemble()
            rendered = render_prompt(assembly), render_context_snapshot(assembly)
            # Twice, as a loop may render for its log and for the model.
            assert rendered == (render_prompt(assembly), render_context_snapshot(assembly))
        except PromptError as error:
            return type(error), str(error)
        return rendered, assembly.to_dict(), assembly.fingerprint()


@given(st.booleans(), st.lists(STEPS, min_size=2, max_size=6), st.data())
def test_no_assembly_shows_what_was_assembled_before(
    with_when: bool, steps: Sequence[Any], data: st.DataObject
) -> None:
    """Also where the same comes back, whole or in part."""
    order = data.draw(st.lists(st.sampled_from(range(len(steps))), min_size=3, max_size=10))
    scripted = Scripted()
    prompt = scripted.host(with_when=with_when)
    for index in order:
        fresh = Scripted()
        expected = fresh.outcome(fresh.host(with_when=with_when), steps[index])
        assert scripted.outcome(prompt, steps[index]) == expected
