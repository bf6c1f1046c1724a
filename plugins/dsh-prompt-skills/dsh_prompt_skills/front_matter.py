"""The front matter of a skill, and what comes after it.

https://agentskills.io/specification: YAML between two lines of three hyphens, then Markdown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.untrusted import UnusableError
from dsh_prompt_skills.yaml_values import YamlError, mapping_of

if TYPE_CHECKING:
    from dsh_prompt_skills.yaml_values import Value

#: Some eight times what the fields of the specification need.
MOST_CHARACTERS: Final = 8192
#: For each value there is at least one of these, and it takes the parser as long as 16 characters.
_SEPARATORS: Final = (",", "[", "{", ":", "- ", "? ", "\n")
_FOR_EACH: Final = 16
_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
#: A value of the top level that begins with nothing that means something to YAML.
_PLAIN: Final = re.compile(
    r"^(?P<key>[A-Za-z][\w-]*):[ \t]+(?P<value>[^\s'\"|>\[\]{}&*!%@`#,?-].*:(?:[ \t].*)?)$",
    re.MULTILINE,
)


class NoFrontMatterError(UnusableError):
    """Raised when a text does not begin with a front matter."""


@attrs.frozen
class Parts:
    """The YAML of a front matter, and the text after it."""

    front: str
    body: str


def split(text: str) -> Parts:
    """Divide the *text* of a skill.

    Raises `UnusableError` where there is no front matter, or no end to it, or too much of it.
    """
    begin = _FENCE.match(text)
    if begin is None:
        raise NoFrontMatterError("is not used: it does not begin with a front matter")
    end = _FENCE.search(text, begin.end(), begin.end() + MOST_CHARACTERS)
    if end is None or (end.end() < len(text) and text[end.end()] != "\n"):
        raise UnusableError(
            f"is not used: its front matter does not end within {MOST_CHARACTERS} characters"
        )
    return Parts(text[begin.end() + 1 : end.start()], text[end.end() :].strip())


def cost(front: str) -> int:
    """Give a bound for what it takes to parse a front matter: some 3 microseconds for each 1."""
    return len(front) + _FOR_EACH * sum(map(front.count, _SEPARATORS))


def fields_of(front: str) -> tuple[dict[str, Value], list[str]]:
    """Give the fields of a front matter, and what a person should know about it.

    Many skills have a colon in a description without quotes; their readers do not mind, so such
    values are read as if they had quotes, as the guide for clients advises
    (https://agentskills.io/client-implementation/adding-skills-support).

    Raises `UnusableError` for what stays unreadable.
    """
    try:
        return mapping_of(front), []
    except YamlError as exc:
        quoted = _PLAIN.sub(_quoted, front)
        what = f"its front matter {exc}"
    if quoted == front:
        raise UnusableError(f"is not used: {what}")
    try:
        return mapping_of(quoted), [f"is read as if its values had quotes: {what}"]
    except YamlError:
        raise UnusableError(f"is not used: {what}") from None


def _quoted(match: re.Match[str]) -> str:
    value = match["value"].rstrip().replace("'", "''")
    return f"{match['key']}: '{value}'"
