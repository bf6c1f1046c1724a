"""What a user may set."""

from __future__ import annotations

import attrs

from dsh_prompt import SectionOrder
from dsh_prompt.fields import TRUSTED, each, finite, listed, whole

THRESHOLD = 30
LIMIT = 5
MOST = 20
INDEX_CHARS = 10_000
#: Tools of this project's plugins: their guidance would be held back with them.
ALWAYS = ("delegate", "recall", "remember", "skill", "todo_write")


def _about_glob(glob: str) -> str:
    return "" if glob.strip() else "is no tool name or glob"


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *threshold*: with more tools than this, tools are held back.

    *always*: names or globs of tools that are never held back; `ALWAYS` unless you set it.

    *limit*: how many tools a search gives if the model does not say, 1 to 20.

    *index_chars*: how long the section that names the tools may be, in characters.

    *order*: where that section stands among the sections.

    A value outside of these raises `ValueError` naming the field. *threshold*, *always* and
    *index_chars* need trust, since they can hide tools: in the settings that a checkout brings
    along they have no effect.
    """

    threshold: int = attrs.field(default=THRESHOLD, validator=whole(0, 100_000), metadata=TRUSTED)
    always: tuple[str, ...] = attrs.field(
        default=ALWAYS,
        converter=listed,
        validator=each(_about_glob, "tool names or globs"),
        metadata=TRUSTED,
    )
    limit: int = attrs.field(default=LIMIT, validator=whole(1, MOST))
    index_chars: int = attrs.field(
        default=INDEX_CHARS, validator=whole(500, 1_000_000), metadata=TRUSTED
    )
    order: float = attrs.field(default=SectionOrder.TOOL_GUIDANCE, validator=finite)
