"""What the recorded waterfall listeners do, action by action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt import AssembledContext, AssembledSection, PromptAssembly, ToolSchema

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import AssembleContext, AsyncCallNext, CallNext

    Json = dict[str, Any]
    Edit = Callable[[PromptAssembly, Json], PromptAssembly]

EDITS: dict[str, Edit] = {}


def listener_of(actions: list[Json]) -> Callable[..., PromptAssembly]:
    """Make a plain listener that runs *actions* and returns the current assembly."""

    def listener(
        assembly: PromptAssembly,
        context: AssembleContext,
        call_next: CallNext,
    ) -> PromptAssembly:
        for action in actions:
            assembly = call_next() if action["a"] == "next" else _edit(assembly, action)
        return assembly

    return listener


def async_listener_of(actions: list[Json]) -> Callable[..., Any]:
    """Make an async listener that runs *actions* and returns the current assembly."""

    async def listener(
        assembly: PromptAssembly,
        context: AssembleContext,
        call_next: AsyncCallNext,
    ) -> PromptAssembly:
        for action in actions:
            assembly = await call_next() if action["a"] == "next" else _edit(assembly, action)
        return assembly

    return listener


def _edit(assembly: PromptAssembly, action: Json) -> PromptAssembly:
    return EDITS[action["a"]](assembly, action)


def edit(name: str) -> Callable[[Callable[[PromptAssembly, Json], None]], None]:
    """Register the function that changes an assembly in place for the action *name*."""

    def register(function: Callable[[PromptAssembly, Json], None]) -> None:
        def apply(assembly: PromptAssembly, action: Json) -> PromptAssembly:
            function(assembly, action)
            return assembly

        EDITS[name] = apply

    return register


def _empty(assembly: PromptAssembly, action: Json) -> PromptAssembly:
    return PromptAssembly(sections=[], contexts=[], tools=[], variables={})


def _replace(assembly: PromptAssembly, action: Json) -> PromptAssembly:
    return PromptAssembly(
        sections=list(assembly.sections),
        contexts=list(assembly.contexts),
        tools=list(assembly.tools),
        variables=dict(assembly.variables),
    )


EDITS["empty"] = _empty
EDITS["replace"] = _replace


@edit("appendSection")
def _append_section(assembly: PromptAssembly, action: Json) -> None:
    assembly.sections.append(AssembledSection(action["name"], action["text"]))


@edit("appendContext")
def _append_context(assembly: PromptAssembly, action: Json) -> None:
    assembly.contexts.append(AssembledContext(action["name"], action["text"]))


@edit("setText")
def _set_text(assembly: PromptAssembly, action: Json) -> None:
    for section in assembly.sections:
        if section.name == action["name"]:
            section.text = action["text"]


@edit("setContextText")
def _set_context_text(assembly: PromptAssembly, action: Json) -> None:
    for context in assembly.contexts:
        if context.name == action["name"]:
            context.text = action["text"]


@edit("removeSection")
def _remove_section(assembly: PromptAssembly, action: Json) -> None:
    kept = [section for section in assembly.sections if section.name != action["name"]]
    assembly.sections = kept


@edit("reverseSections")
def _reverse_sections(assembly: PromptAssembly, action: Json) -> None:
    assembly.sections.reverse()


@edit("setVariable")
def _set_variable(assembly: PromptAssembly, action: Json) -> None:
    assembly.variables[action["name"]] = action["value"]


@edit("pushTool")
def _push_tool(assembly: PromptAssembly, action: Json) -> None:
    assembly.tools.append(ToolSchema(**action["tool"]))


@edit("filterTools")
def _filter_tools(assembly: PromptAssembly, action: Json) -> None:
    assembly.tools = [tool for tool in assembly.tools if tool.name in action["names"]]


@edit("editTool")
def _edit_tool(assembly: PromptAssembly, action: Json) -> None:
    for index, tool in enumerate(assembly.tools):
        if tool.name == action["name"]:
            assembly.tools[index] = tool.evolve(description=action["description"])


@edit("throw")
def _throw(assembly: PromptAssembly, action: Json) -> None:
    raise RuntimeError(action["message"])
