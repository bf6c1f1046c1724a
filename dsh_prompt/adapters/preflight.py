"""Checks before a request is sent: better here, with names, than as a provider's status 400."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from dsh_prompt.adapters.names import sent_names
from dsh_prompt.adapters.schemas import complaints, sent_schema
from dsh_prompt.errors import PromptError, quoted
from dsh_prompt.model.source import describe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from dsh_prompt.adapters.limits import Limits
    from dsh_prompt.adapters.schemas import Complaint
    from dsh_prompt.model.frozen_json import FrozenDict
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolSchema

logger = logging.getLogger("dsh_prompt.adapters")

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_UTF8 = "https://www.rfc-editor.org/rfc/rfc8259#section-8.1"

OnInvalid: TypeAlias = Literal["raise", "skip"]


@attrs.frozen
class Problem:
    """What a provider would refuse: *tool* is None where it is no tool's.

    *owner* is who contributed the tool, *message* tells what is wrong and the way out, *source*
    where the rule stands.
    """

    tool: str | None
    owner: str
    message: str
    source: str

    def __str__(self) -> str:
        whose = "" if self.tool is None else f'tool "{self.tool}" of {self.owner}: '
        return f"{whose}{self.message} (source: {self.source})"


class PreflightError(PromptError):
    """Raised when a provider would refuse the request: with all *problems* at once."""

    def __init__(
        self, message: str, *, adapter: str = "", problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.adapter = adapter
        self.problems = problems


@attrs.frozen
class SentTool:
    """A tool as it is sent: *name* and *parameters* are what the provider takes."""

    name: str
    parameters: FrozenDict
    schema: ToolSchema


def checked_tools(
    assembly: PromptAssembly,
    limits: Limits,
    adapter: str,
    on_invalid: OnInvalid,
    left_out: Collection[str] = (),
) -> tuple[list[SentTool], tuple[Problem, ...]]:
    """Give the tools to send, and the problems of those that are left out.

    Raises `PreflightError` with all problems, if *on_invalid* is ``"raise"``; with ``"skip"``
    a bad tool is left out, and logged. Of two tools of one name, the first is sent. Those named
    in *left_out* are not looked at.
    """
    if on_invalid not in ("raise", "skip"):
        raise ValueError(f'on_invalid must be "raise" or "skip", not {on_invalid!r}')
    tools = [tool for tool in assembly._tools if tool.name not in left_out]
    good, found = _sorted_out(tools, limits)
    problems = [
        Problem(name, describe(assembly.source_of("tool", name)), text, source)
        for name, text, source in found
    ]
    if problems and on_invalid == "raise":
        refuse(adapter, problems)
    for problem in problems:
        logger.warning("%s leaves out %s", adapter, problem)
    names = sent_names((tool.name for tool, _ in good), limits)
    sent = [SentTool(names[tool.name], parameters, tool) for tool, parameters in good]
    return sent, tuple(problems)


def refuse(adapter: str, problems: Sequence[Problem]) -> None:
    """Raise the `PreflightError` for *problems*."""
    lines = "".join(f"\n- {problem}" for problem in problems)
    tools = quoted(dict.fromkeys(problem.tool for problem in problems if problem.tool))
    way_out = f'\nor leave out {tools} with on_invalid="skip"' if tools else ""
    raise PreflightError(
        f"{adapter} would refuse this request:{lines}{way_out}",
        adapter=adapter,
        problems=tuple(problems),
    )


def check_request(
    system: str,
    body: Mapping[str, Any],
    limits: Limits,
    adapter: str,
    found: Iterable[Complaint] = (),
) -> None:
    """Raise `PreflightError` where the request is too large, or holds what is no text.

    *system* is the system prompt, *body* all of the request, *found* what is wrong besides.
    """
    # Clients have their own objects, which are not counted, among the options.
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=lambda _: None)
    problems = [Problem(None, "the host", what, source) for what, source in found]
    if (most := limits.system_characters) and len(system) > most.value:
        problem = f"the system prompt has {len(system)} characters of {most.value}: set a budget"
        problems.append(Problem(None, "the host", problem, most.source))
    size = len(text.encode("utf-8", "surrogatepass")) if limits.request_bytes else 0
    if (most := limits.request_bytes) and size > most.value:
        problem = f"the request has {size} bytes or more, of {most.value}"
        problems.append(Problem(None, "the host", f"{problem}: shorten the history", most.source))
    if half := _HALF_A_PAIR.search(text):
        near = ascii(text[max(0, half.start() - 20) : half.end()])
        problem = f"half a surrogate pair, in {near}, is no text: replace it where it comes from"
        problems.append(Problem(None, "the host", problem, _UTF8))
    if problems:
        refuse(adapter, problems)


def names_to_send(tools: Iterable[ToolSchema], limits: Limits) -> dict[str, str]:
    """Give the names by which *tools* are sent, by their own; not of those that are refused.

    However many they are: some may be held back.
    """
    good, _ = _sorted_out(tools, attrs.evolve(limits, max_tools=None))
    return sent_names((tool.name for tool, _ in good), limits)


def _sorted_out(
    tools: Iterable[ToolSchema], limits: Limits
) -> tuple[list[tuple[ToolSchema, FrozenDict]], list[tuple[str, str, str]]]:
    """Give the good ones, and (name, what is wrong, source of the rule) of the others."""
    good: dict[str, tuple[ToolSchema, FrozenDict]] = {}
    problems: list[tuple[str, str, str]] = []
    for tool in tools:
        parameters = sent_schema(tool.parameters)
        found = [*_in_the_list(tool, good, limits), *complaints(parameters, limits)]
        if not found:
            good[tool.name] = (tool, parameters)
        problems += [(tool.name, *complaint) for complaint in found]
    return list(good.values()), problems


def _in_the_list(
    tool: ToolSchema, before: Mapping[str, object], limits: Limits
) -> Iterator[Complaint]:
    """Tell what is wrong with *tool* beside those that were good *before* it."""
    if tool.name in before:
        yield "a second tool of that name: rename one of them", limits.unique_names.source
    most = limits.max_tools
    if most and len(before) >= most.value:
        yield (
            f"one tool too many, {most.value} are taken: restrict the scope, or unload a plugin",
            most.source,
        )
