"""Why a connection is over, in words for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp import MCPError, types
from pydantic import ValidationError

from dsh_prompt_mcp.broken import BrokenError
from dsh_prompt_mcp.hiding import without
from dsh_prompt_mcp.report import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST_ERRORS: Final = 50
#: What the SDK says itself; it goes on with pieces of the answer.
_UNREADABLE: Final = "Failed to parse "


def reason(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Say what *error* means, which a connection ended with; goes on after the server's name.

    Texts of others may quote *secrets*, which are not shown.
    """
    leaves = list(_leaves(error))
    ours = [leaf for leaf in leaves if isinstance(leaf, BrokenError)]
    return _words((ours or leaves)[0], tuple(secrets))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(error: BaseException, secrets: tuple[str, ...]) -> str:
    if isinstance(error, BrokenError):
        return str(error)
    if isinstance(error, MCPError):
        if error.code == types.PARSE_ERROR and error.message.startswith(_UNREADABLE):
            return "answers with what is no message"
        return f"answers with an error: {one_line(without(secrets, error.error.message))}"
    if isinstance(error, ValidationError):
        return f"answers with what is not MCP: {complaint(error)}"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be reached: {one_line(error.strerror)}"
    return f"cannot be used: {type(error).__name__}: {one_line(without(secrets, str(error)))}"


def complaint(error: ValidationError) -> str:
    """Say what is wrong first, and where, without the value itself."""
    if error.error_count() > _MOST_ERRORS:
        # To list them all, only to show the first, would hold the event loop up.
        return f"it is wrong in {error.error_count()} places"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return one_line(f"{where}: {first['msg']}")
