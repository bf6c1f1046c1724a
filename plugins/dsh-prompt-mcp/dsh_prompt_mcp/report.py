"""What a person should know about a server."""

from __future__ import annotations

from typing import Final

import attrs

from dsh_prompt.untrusted import clean, visible_name

_LONGEST_NAME: Final = 80
_LONGEST_TEXT: Final = 300


@attrs.frozen
class Finding:
    """Something odd about what a *server* sent: *where* (a tool, its instructions), and *what*."""

    server: str
    where: str
    what: str

    def __str__(self) -> str:
        return f'MCP server "{self.server}": {self.where}: {self.what}'


def named_tool(name: object) -> str:
    """Say which tool is meant, by the name that its server gave it."""
    text = name if isinstance(name, str) else repr(name)
    return f'tool "{visible_name(_short(text, _LONGEST_NAME))}"'


def one_line(text: str) -> str:
    """Give the words of somebody else as one line that can be seen and is not long."""
    return clean(" ".join(_short(text, _LONGEST_TEXT).split())).text


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
