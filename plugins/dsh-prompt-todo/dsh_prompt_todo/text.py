"""The todos in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dsh_prompt.model.state import Todo

#: What is shown of a text is found in this many times its length, however long the text is.
_SPACIOUS: Final = 4
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"


def tally(todos: Iterable[Todo]) -> str:
    """Count *todos*: how many of all are done, in progress and pending."""
    count = Counter(todo.status for todo in todos)
    return (
        f"{count['completed']} of {count.total()} done, {count['in_progress']} in progress, "
        f"{count['pending']} pending"
    )


def line(content: object, longest: int) -> tuple[str, list[str]]:
    """Give *content* in one visible line of at most *longest* characters, and what was found in it.

    Somebody else wrote it: a model, from what it had read.
    """
    text = content if isinstance(content, str) else f"({type(content).__name__})"
    beginning = text.lstrip()[: _SPACIOUS * longest]
    cleaned = clean(" ".join(beginning.split()))
    found = list(cleaned.findings())
    if len(cleaned.text) <= longest and len(text.strip()) <= len(beginning):
        return cleaned.text, found
    found.append(f"is cut to {longest} characters")
    # The end of a cut text can be a tag that the whole one was not.
    return clean(cut(cleaned.text, longest - 1) + _CUT).text, found


def answer(todos: Sequence[Todo]) -> str:
    """Say what a call has done."""
    return f"The list is written: {tally(todos)}." if todos else "The list is empty now."


def refusal(problems: Iterable[str]) -> str:
    """Say why a call has done nothing, and what to do."""
    return "\n".join(["The list stays as it was, since the call is wrong:", *_listed(problems)])


def _listed(problems: Iterable[str]) -> Iterator[str]:
    for problem in problems:
        yield f"- {clean(problem).text}"
    yield "Mend this, and send the whole list again."
