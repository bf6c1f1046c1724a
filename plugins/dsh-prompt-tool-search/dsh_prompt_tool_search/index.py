"""The section that names the tools: the same text whatever was discovered."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from dsh_prompt.untrusted import clean, without_tag_at_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEAD = """\
There are more tools than those in your list. Find one with `tool_search` before you say that \
something cannot be done; a name that you read here is a good query. Their names follow, each \
line with the start that they share; a number is how many are not shown."""

_SERVER = re.compile(r"mcp__.+?__(?=.)")
_PREFIX = re.compile(r"[^\W_]+[_./-]")
_NAME_CHARS = 80
# Two tools that start alike may be chance.
_ENOUGH = 3
_SHOWN = (10_000, 100, 50, 25, 12, 6, 3, 1)


# The tools are mostly those of the assembly before.
@lru_cache(maxsize=8)
def index_text(names: frozenset[str], most: int) -> str:
    """Give the text about the tools of *names*, *most* characters at the most.

    Where it would be longer, fewer names of each group are shown, and then fewer groups.
    """
    groups = _grouped({_visible(name) for name in names})
    for shown in _SHOWN:
        lines = [_line(start, rest, shown) for start, rest in groups]
        text = "\n".join([HEAD, "", *lines])
        if len(text) <= most:
            return text
    return _cut([f"- {start or 'others'} {len(rest)}" for start, rest in groups], most)


def _visible(name: str) -> str:
    # A name from outside may hold what looks like lines of ours, or is no text at all.
    whole = name.encode("utf-8", "replace").decode()
    text = " ".join(clean(whole).text.split())
    if len(text) <= _NAME_CHARS:
        return text
    return f"{without_tag_at_end(text[:_NAME_CHARS])}…"


def _grouped(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Give the starts that names share, each with the rests; those that share none are last."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=_order):
        server = _SERVER.match(name)
        groups[(server or _PREFIX.match(name) or [""])[0]].append(name)
    alone: list[str] = []
    for start in list(groups):
        if not start.startswith("mcp__") and (not start or len(groups[start]) < _ENOUGH):
            alone += groups.pop(start)
    made = [(start, [name[len(start) :] for name in group]) for start, group in groups.items()]
    return [*made, ("", sorted(alone, key=_order))] if alone else made


def _line(start: str, rest: Sequence[str], shown: int) -> str:
    names = ", ".join(rest[:shown])
    more = f", {len(rest) - shown}" if len(rest) > shown else ""
    return f"- {start or 'others'}: {names}{more}"


def _cut(lines: list[str], most: int) -> str:
    text = f"{HEAD}\n"
    for place, line in enumerate(lines):
        last = f"\n- groups: {len(lines) - place}"
        if len(text) + len(line) + len(last) + 1 > most:
            return text + last
        text += f"\n{line}"
    return text


def _order(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
