"""What a server offers, as a model gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from dsh_prompt import ToolSchema
    from dsh_prompt_mcp.report import Finding


@attrs.frozen
class Offer:
    """One server's tools by their names for a model, and their names on the server.

    Also its *instructions*, and what a person should know of all that.
    """

    tools: tuple[ToolSchema, ...] = ()
    names: tuple[str, ...] = ()
    instructions: str = ""
    findings: tuple[Finding, ...] = ()

    def is_same(self, other: Offer) -> bool:
        """Tell whether *other* is no news; equal is not enough, as true equals 1."""
        ours, theirs = self.tools, other.tools
        return (
            len(ours) == len(theirs)
            and all(one is another for one, another in zip(ours, theirs, strict=True))
            and self.instructions == other.instructions
            and self.findings == other.findings
        )
