"""The work that every peer does: its sizes, and the texts, variables and tools of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

#: How the texts of providers come back: as the same object, as an equal one, as another.
Turns: TypeAlias = Literal["unchanged", "rebuilt", "changing"]
Schema: TypeAlias = "dict[str, object]"

REFERENCE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
SNAPSHOT_HEADER = (
    "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."
)
SET = "set by a listener"
TAKES = 4


class Size(NamedTuple):
    """How much there is of everything."""

    sections: int
    tools: int
    variables: int
    contexts: int
    listeners: int


SIZES = {
    "S": Size(10, 10, 5, 3, 2),
    "M": Size(100, 50, 20, 10, 5),
    "L": Size(1000, 500, 100, 50, 20),
    "XL": Size(10000, 5000, 1000, 100, 20),
}


class Text(NamedTuple):
    """A static text, or what a provider gives in turn."""

    takes: tuple[str, ...]
    is_static: bool
    is_rebuilt: bool = False

    def provider(self) -> Callable[[], str]:
        """Make a provider that begins at the first take."""
        takes, [take, *others] = self.takes, self.takes
        if others:
            turn = -1

            def changing() -> str:
                nonlocal turn
                turn = (turn + 1) % TAKES
                return takes[turn]

            return changing
        if self.is_rebuilt:
            head, tail = take[:9], take[9:]
            return lambda: head + tail
        return lambda: take

    def value(self) -> str | Callable[[], str]:
        """Give the static text, or a provider."""
        return self.takes[0] if self.is_static else self.provider()


class Work(NamedTuple):
    """One work: texts and values, of which each peer makes its own callables.

    *listeners* names the variables that listeners set, one each.
    """

    sections: tuple[Text, ...]
    contexts: tuple[Text, ...]
    tools: tuple[Schema, ...]
    variables: dict[str, str]
    listeners: tuple[str, ...]

    def tool_provider(self) -> Callable[[], tuple[Schema, ...]]:
        """Make a provider of the tools."""
        return lambda: self.tools

    def variable_providers(self) -> dict[str, Callable[[], str]]:
        """Make a provider for each variable."""
        return {name: Text((value,), False).provider() for name, value in self.variables.items()}


def work_of(size: Size, turns: Turns = "unchanged") -> Work:
    """Make the work of *size*: every second section is static, all else comes from providers."""
    return Work(
        tuple(_text("Section", i, size.variables, turns, i % 2 == 1) for i in range(size.sections)),
        tuple(_text("Context", i, size.variables, turns, False) for i in range(size.contexts)),
        tuple(map(_tool, range(size.tools))),
        {f"v{i}": f"value {i}" for i in range(size.variables)},
        tuple(f"v{i % size.variables}" for i in range(size.listeners)),
    )


def _text(kind: str, number: int, variables: int, turns: Turns, is_static: bool) -> Text:
    reference = f"{{{{v{number % variables}}}}}"
    text = f"{kind} {number}: {'word ' * 25}{reference} {'tail ' * 25}end."
    if is_static or turns != "changing":
        return Text((text,), is_static, turns == "rebuilt")
    return Text(tuple(f"{text[:-1]} {take}." for take in range(TAKES)), is_static)


def _tool(number: int) -> Schema:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"name": f"tool_{number}", "description": "Reads.", "parameters": parameters}
