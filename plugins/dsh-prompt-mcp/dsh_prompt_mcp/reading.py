"""Reads what a server offers, and makes it fit for a model."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt import ToolSchema
from dsh_prompt.errors import InvalidContributionError
from dsh_prompt.untrusted import clean
from dsh_prompt_mcp.naming import tool_name
from dsh_prompt_mcp.offer import Offer
from dsh_prompt_mcp.report import Finding, named_tool
from dsh_prompt_mcp.schemas import SchemaRefusedError, usable_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcp import types

    from dsh_prompt_mcp.config import Config, Server


class OfferReader:
    """Reads what the server *name* sends, as its settings and those of the plugin want it.

    What is listed again, unchanged, is not read again: it stays the same object.
    """

    def __init__(self, name: str, server: Server, config: Config) -> None:
        self._name = name
        self._server = server
        self._config = config
        self._read: dict[str, _Read] = {}

    def read(
        self,
        tools: Iterable[types.Tool],
        instructions: str | None,
        taken_out: Iterable[tuple[str, str]],
        go_on: Callable[[], object] = lambda: None,
    ) -> Offer:
        """Give the offer; the same tools in any order give the same one.

        *go_on* is called before each tool, and raises where nobody waits for the rest.
        """
        findings = [Finding(self._name, where, what) for where, what in taken_out]
        text = ""
        if self._server.instructions and instructions:
            most = self._config.max_instructions_chars
            text = self._prose("instructions", instructions, most, findings).strip()
        read: dict[str, _Read] = {}
        offered: dict[str, tuple[ToolSchema, str]] = {}
        # A second tool of one name must not win by standing elsewhere in the list.
        for listed, tool in sorted(
            ((_as_listed(tool), tool) for tool in self._wanted(tools)), key=itemgetter(0)
        ):
            go_on()
            one = read[listed] = self._read.get(listed) or self._tool(tool)
            findings += one.findings
            if one.schema is not None and one.schema.name in offered:
                what = "left out: it is listed more than once"
                findings.append(Finding(self._name, named_tool(tool.name), what))
            elif one.schema is not None:
                offered[one.schema.name] = (one.schema, tool.name)
        self._read = read
        ordered = [offered[name] for name in sorted(offered)]
        schemas, names = tuple(one for one, _ in ordered), tuple(name for _, name in ordered)
        return Offer(schemas, names, text, tuple(sorted(findings, key=str)))

    def _wanted(self, tools: Iterable[types.Tool]) -> Iterator[types.Tool]:
        allow, deny = self._server.allow, self._server.deny
        for tool in tools:
            allowed = allow is None or _matches(tool.name, allow)
            if allowed and not _matches(tool.name, deny):
                yield tool

    def _tool(self, tool: types.Tool) -> _Read:
        where = named_tool(tool.name)
        findings: list[Finding] = []
        try:
            if not tool.name:
                raise SchemaRefusedError("has no name")  # noqa: TRY301
            parameters, odd = usable_schema(tool.input_schema, self._config.max_schema_bytes)
            most = self._config.max_description_chars
            description = self._prose(where, tool.description or "", most, findings)
            name = tool_name(self._name, tool.name)
            schema = ToolSchema(name, description, parameters, self._hints(tool))
        except (SchemaRefusedError, InvalidContributionError) as error:
            return _Read(None, (Finding(self._name, where, f"left out: it {error}"),))
        findings += [Finding(self._name, where, what) for what in odd]
        return _Read(schema, tuple(findings))

    def _hints(self, tool: types.Tool) -> dict[str, Any]:
        """Give what other plugins may go by; only the flags, which no text can hide in."""
        if tool.annotations is None or not self._server.hints:
            return {}
        hints = tool.annotations.model_dump(by_alias=True, exclude_none=True, mode="json")
        return {name: value for name, value in hints.items() if isinstance(value, bool)}

    def _prose(self, where: str, text: str, most: int, findings: list[Finding]) -> str:
        if len(text) > most:
            what = f"cut to {most} of {len(text)} characters"
            findings.append(Finding(self._name, where, what))
            text = f"{text[: most - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}" if most else ""
        cleaned = clean(text)
        findings += [Finding(self._name, where, what) for what in cleaned.findings()]
        return cleaned.text


@attrs.frozen
class _Read:
    """A tool that was read: None where it is left out."""

    schema: ToolSchema | None
    findings: tuple[Finding, ...]


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _as_listed(tool: types.Tool) -> str:
    return json.dumps([tool.name, tool.model_dump(mode="json", by_alias=True)], sort_keys=True)
