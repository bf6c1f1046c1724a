"""A summary as a model sees it: bounded, visible, and in its frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import clean, framed, without_tag_at_end
from dsh_prompt_summary.sentences import cut_at_sentence

if TYPE_CHECKING:
    from dsh_prompt_summary.config import Config

_INTRODUCTION: Final = (
    "The earlier part of this conversation, in short. Details are missing: look again at what "
    "matters."
)
_CUT: Final = "[cut: the whole summary has {} characters]"


@attrs.frozen
class Shown:
    """The *text* for the model, empty without a summary, and what a person should know of it."""

    text: str
    findings: tuple[str, ...] = ()


def show(summary: object, config: Config) -> Shown:
    """Show *summary* within *config*'s number of characters."""
    if not isinstance(summary, str):
        return Shown("", (f"is no text but {type(summary).__name__}, and is left out",))
    summary = summary.strip()
    if not summary:
        return Shown("")
    # Line ends may take two characters, which are one afterwards.
    taken = summary[: 2 * config.max_chars]
    safe = clean(taken.replace("\r\n", "\n").replace("\r", "\n"))
    body, findings = safe.text, tuple(safe.findings())
    room = config.max_chars - len(_framed(""))
    if len(taken) == len(summary) and len(body) <= room:
        return Shown(_framed(body), findings)
    notice = _CUT.format(len(summary))
    body = without_tag_at_end(cut_at_sentence(body, room - len(notice) - 1)).rstrip()
    told = f"is cut: it has {len(summary)} characters, and there is room for {room}"
    return Shown(_framed(f"{body}\n{notice}"), (*findings, told))


def _framed(body: str) -> str:
    return framed("summary", f"{_INTRODUCTION}\n\n{body}")
