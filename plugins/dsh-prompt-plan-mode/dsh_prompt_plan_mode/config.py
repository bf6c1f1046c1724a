"""What a user may set."""

from __future__ import annotations

from typing import Final, Literal

import attrs

from dsh_prompt import SectionOrder
from dsh_prompt.fields import TRUSTED, each, finite, listed, one_of, words

TEXT = """\
Plan mode is active: look and think, but change nothing. Do not write files, do not run commands \
that change anything, and do not ask other agents or services to do it for you. Tools that can \
change something are not available.

Find out what the task needs, and ask where it is unclear. Then give a plan: the steps in their \
order, what each one touches, how the result will be checked, and what is still open. Start on it \
only after the user has agreed and plan mode has ended."""

REASON = "plan mode is active, which allows read-only tools alone"


def _about_glob(glob: str) -> str:
    return "" if glob.strip() else "is no tool name or glob"


_GLOBS: Final = each(_about_glob, "tool names or globs")


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *mode*: `"narrow"` puts the plan text into the system prompt and takes out the tools that are
    not read-only; `"mask"` leaves system prompt and tool list as they are, gives the text as a
    runtime context and denies those tools.

    *text*: what the model is told; braces in it are plain text.

    *order*: where the text stands among the sections, or among the runtime contexts.

    *read_only*: names or globs of tools that plan mode keeps, whatever their annotations say; a
    list of todos is where a plan goes.

    *not_read_only*: names or globs of tools that it never keeps; wins over all else.
    *reason*: what `authorize` answers for a denied tool; used by `"mask"` alone.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    mode: Literal["narrow", "mask"] = attrs.field(
        default="narrow", validator=one_of("narrow", "mask"), metadata=TRUSTED
    )
    text: str = attrs.field(default=TEXT, validator=words, metadata=TRUSTED)
    order: float = attrs.field(default=SectionOrder.PLAN_MODE, validator=finite, metadata=TRUSTED)
    read_only: tuple[str, ...] = attrs.field(
        default=("todo_write",),
        converter=listed,
        validator=each(_about_glob, "tool names or globs"),
        metadata=TRUSTED,
    )
    not_read_only: tuple[str, ...] = attrs.field(
        default=(),
        converter=listed,
        validator=each(_about_glob, "tool names or globs"),
        metadata=TRUSTED,
    )
    reason: str = attrs.field(default=REASON, validator=words, metadata=TRUSTED)
