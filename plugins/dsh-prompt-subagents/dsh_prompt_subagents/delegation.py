"""What a model needs to delegate: the rules, and the tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt import ToolSchema

if TYPE_CHECKING:
    from dsh_prompt_subagents.config import Config

_RULES: Final = """\
With the tool `{tool}` you hand a part of your work to a child agent.

- Delegate what can be done apart from the rest and told in a few sentences: a search through many \
files, a review, an independent change. Do yourself what takes a step or two.
- A child knows nothing of this conversation. Write into the task what is to be done, where, what \
must not be touched, and what you want to be told in the end.
- A child has instructions and tools of its own, perhaps fewer than you have. You cannot give it \
what you are not allowed to do yourself.
- Give two children that work at the same time nothing to change that is the same.
- What a child reports is its own account. Check it before you build on it, and answer for the \
whole yourself."""

_DESCRIPTION: Final = (
    "Hands a task to a child agent, which works on it apart from this conversation and reports "
    "its result."
)
_NAME: Final = "A short name for the child agent, such as reviewer; no other child of yours has it."
_SUMMARY: Final = "What the child agent is for, in a few words."
_TASK: Final = (
    "All that the child agent needs to know: what to do, where, what not to touch, and what to "
    "report. It sees nothing else of this conversation."
)


def delegation_rules(config: Config) -> str:
    """Give the text of the rules, the same for the same settings."""
    return _RULES.format(tool=config.tool) if config.rules is None else config.rules


def delegation_tool(config: Config) -> ToolSchema:
    """Give the schema of the tool; to run it is the loop's part."""
    properties = {
        key: {"type": "string", "description": text}
        for key, text in (("name", _NAME), ("description", _SUMMARY), ("task", _TASK))
    }
    parameters = {"type": "object", "properties": properties, "required": ["name", "task"]}
    return ToolSchema(config.tool, _DESCRIPTION, parameters, annotations={"readOnlyHint": False})
