"""What tool search saves and finds, measured. Run as a program, this writes it into the README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dsh_prompt_tool_search import TOOL_SEARCH
from tool_search_corpus import questions, tools
from tool_search_talk import MODEL, STEPS, finished, host, prefix, sent, without_count

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)
ADAPTERS = (
    "openai_chat",
    "openai_responses",
    "anthropic_messages",
    "gemini_generate",
    "deepseek_chat",
)
#: What a conversation is called, its adapter, whether it searches, and whether it is pinned.
TALKS = (
    ("all tools are told", "openai_chat", False, False),
    ("`openai_chat`, not pinned", "openai_chat", True, False),
    ("`openai_chat`, pinned", "openai_chat", True, True),
    ("`anthropic_messages`, not pinned", "anthropic_messages", True, False),
    ("`anthropic_messages`, pinned", "anthropic_messages", True, True),
)


def recall(at: int) -> int:
    """Give how many of the questions find their tool among the first *at*."""
    prompt = host(searching=True)
    catalog = prompt.require(TOOL_SEARCH).of(prompt.assemble())
    found = [[tool.name for tool in catalog.search(question, at)] for question, _ in questions()]
    return sum(answer in names for (_, answer), names in zip(questions(), found, strict=True))


def measured() -> str:
    """Give the tables."""
    return "\n".join(["", *_sizes(), "", *_found(), "", *_talks(), "", ""])


def _sizes() -> Iterator[str]:
    yield f"Bytes of a request with {len(tools())} tools and nothing said:"
    yield ""
    yield "| adapter | all tools are told | with tool search | of these, read by the model |"
    yield "|---|--:|--:|--:|"
    every, few = host(searching=False).assemble(), host(searching=True).assemble()
    for name in ADAPTERS:
        make = without_count(name)
        request = make(few, model=MODEL)
        read = sum(map(len, prefix(request)))
        full = sent(make(every, model=MODEL))
        yield f"| `{name}` | {full:,} | {sent(request):,} | {read:,} |"


def _found() -> Iterator[str]:
    yield f"Of {len(questions())} questions, each answered by one of the {len(tools())} tools:"
    yield ""
    yield "| | found |"
    yield "|---|--:|"
    for at in (1, 3, 5, 10):
        yield f"| among the first {at} | {recall(at)} |"


def _talks() -> Iterator[str]:
    yield f"{STEPS} steps, in which the model searches ten times and calls what it found:"
    yield ""
    columns = ("", "bytes sent", "read by the model", "of these, as before", "new prefixes")
    yield f"| {' | '.join(columns)} |".replace("|  |", "| |")
    yield "|---|--:|--:|--:|--:|"
    for title, name, searching, pinned in TALKS:
        done = finished(name, searching=searching, pinned=pinned)
        numbers = f"{done.sent:,} | {done.read:,} | {done.cached / done.read:.0%}"
        yield f"| {title} | {numbers} | {done.changes} |"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: measured(), page), encoding="utf-8")
