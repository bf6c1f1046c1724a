"""From the fields of a front matter to a skill, by the rules for them.

The rules for `name`, `description`, `license`, `compatibility`, `metadata` and `allowed-tools` are
those of https://agentskills.io/specification. `disable-model-invocation` and `user-invocable` are
those of https://code.claude.com/docs/en/skills. What breaks a rule without being useless is used
and reported, as https://agentskills.io/client-implementation/adding-skills-support advises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import UnusableError, clean, visible_name, without_tag_at_end
from dsh_prompt_skills.values import Head

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dsh_prompt_skills.yaml_values import Value

_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 1024
_LONGEST_COMPATIBILITY: Final = 500
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOOL: Final = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
_TRUE: Final = frozenset({"true", "yes", "on"})
_FALSE: Final = frozenset({"false", "no", "off"})


def is_name(text: str) -> bool:
    """Tell whether *text* may be the name of a skill."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def head_of(fields: Mapping[str, Value], expected: str, notes: list[str]) -> Head:
    """Make the head of the skill that its folder or file calls *expected*.

    What a person should know is added to *notes*. Raises `UnusableError` for what is no skill.
    """
    return Head(
        name=_name(fields, expected, notes),
        description=_description(fields, notes),
        # A flag that cannot be read is the one that lets the model do less.
        by_model=not _flag(fields, "disable-model-invocation", notes, unset=False, unclear=True),
        by_user=_flag(fields, "user-invocable", notes, unset=True, unclear=True),
        license=_text(fields, "license", notes, _LONGEST_DESCRIPTION),
        compatibility=_text(fields, "compatibility", notes, _LONGEST_COMPATIBILITY),
        metadata=_metadata(fields, notes),
        allowed_tools=_allowed_tools(fields, notes),
    )


def _name(fields: Mapping[str, Value], expected: str, notes: list[str]) -> str:
    name = fields.get("name")
    if name is None:
        if not is_name(expected):
            raise UnusableError("is not used: it has no name, and that of its place is none")
        notes.append(f'has no name: it is called "{expected}" after its place')
        return expected
    if not isinstance(name, str) or not is_name(name):
        shown = visible_name(name[:_LONGEST_NAME]) if isinstance(name, str) else "a list or mapping"
        raise UnusableError(
            f"is not used: its name must be 1 to {_LONGEST_NAME} lower-case letters, digits and "
            f'single hyphens between them, not "{shown}"'
        )
    if name != expected:
        shown = visible_name(expected)
        notes.append(f'is called "{name}" by its front matter, and "{shown}" by its place')
    return name


def _description(fields: Mapping[str, Value], notes: list[str]) -> str:
    text = _text(fields, "description", notes, _LONGEST_DESCRIPTION)
    if not text:
        raise UnusableError("is not used: it has no description")
    return text


def _text(fields: Mapping[str, Value], key: str, notes: list[str], longest: int) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        notes.append(f"has a field {key} that is no text")
        return ""
    line = " ".join(value.split())
    # What is escaped counts as long as it is shown.
    text = _safe(line[: longest + 1], notes)
    if len(line) > longest or len(text) > longest:
        notes.append(f"has a field {key} of more than {longest} characters, which is cut")
        text = without_tag_at_end(cut(text, longest - 1)) + "…"
    return text


def _safe(text: str, notes: list[str]) -> str:
    cleaned = clean(text)
    notes += cleaned.findings()
    return cleaned.text


def _flag(
    fields: Mapping[str, Value], key: str, notes: list[str], *, unset: bool, unclear: bool
) -> bool:
    value = fields.get(key)
    if value is None:
        return unset
    word = value.casefold() if isinstance(value, str) else ""
    if word not in _TRUE | _FALSE:
        notes.append(f"has a field {key} that is neither true nor false")
        return unclear
    return word in _TRUE


def _metadata(fields: Mapping[str, Value], notes: list[str]) -> dict[str, str]:
    value = fields.get("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict):
        notes.append("has a field metadata that is no mapping")
        return {}
    texts = {key: text for key, text in value.items() if isinstance(text, str)}
    if len(texts) != len(value):
        notes.append("has values in metadata that are no text")
    return {_safe(key, notes): _safe(text, notes) for key, text in texts.items()}


def _allowed_tools(fields: Mapping[str, Value], notes: list[str]) -> tuple[str, ...]:
    value = fields.get("allowed-tools")
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) != len(items):
        notes.append("has entries in allowed-tools that are no text")
    return tuple(_tools(_safe(text, notes) for text in texts))


def _tools(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        yield from _TOOL.findall(text)
