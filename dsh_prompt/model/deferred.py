"""Tools that are held back: in an assembly, but not told to the model yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs

from dsh_prompt.model.keys import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dsh_prompt.model.tools import ToolSchema


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(names)


@attrs.frozen
class Deferred:
    """Which tools of an assembly are held back: their *names*, and the tool that finds them.

    *search* is the name of that tool, which is not held back itself. It may be called as long as
    there is this value, also where the assembly does not list it as nothing is held back. A
    held-back tool stays in the assembly, so that it is authorized and denied as any other.
    *opened* are the names of those that would be held back, but were found; some may be gone.
    """

    names: frozenset[str] = attrs.field(converter=_names)
    search: str
    opened: frozenset[str] = attrs.field(default=frozenset[str](), converter=_names)


class _DeferredCodec:
    def encode(self, value: Deferred, /) -> Any:
        return {
            "names": sorted(value.names),
            "search": value.search,
            "opened": sorted(value.opened),
        }

    def decode(self, data: Mapping[str, Any], /) -> Deferred:
        return Deferred(data["names"], data["search"], data.get("opened", ()))


DEFERRED_CODEC = _DeferredCodec()
#: What of an assembly is held back. Adapters defer these tools, or leave them out.
DEFERRED: Key[Deferred] = Key("deferred-tools", DEFERRED_CODEC)


class FoundTools(str):
    """The output of a search for tools: a text that has all about them, and their schemas.

    Where the provider opens a held-back tool by a reference, the adapter sends one for each of
    the *schemas* instead of the text. So they are those of tools that are held back, no others.
    """

    __slots__ = ("schemas",)

    schemas: tuple[ToolSchema, ...]

    def __new__(cls, text: str, schemas: Iterable[ToolSchema] = ()) -> Self:
        """Make the output; *text* has to be enough alone."""
        self = super().__new__(cls, text)
        self.schemas = tuple(schemas)
        return self
