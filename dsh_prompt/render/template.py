"""Strict ``{{name}}`` interpolation: a text is parsed once and rendered many times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dsh_prompt.errors import (
    InterpolationError,
    MalformedReferenceError,
    UndefinedVariableError,
    UnknownVariableError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.model.source import Source

NAME = r"[a-z][a-z0-9_]*"
_REFERENCE = re.compile(r"\{\{(" + NAME + r")\}\}")
_GROUP = re.compile(r"\{\{([^{}]*)\}\}")
# What is around it, and its name.
_ONE_REFERENCE = 3
# Characters of a malformed reference that its error quotes, in UTF-16 code units.
_EXCERPT_UNITS = 16


def is_variable_name(name: object) -> bool:
    """Tell whether *name* is a variable name: ``[a-z][a-z0-9_]*`` in full."""
    # The same as the pattern, in a third of the time.
    return (
        isinstance(name, str)
        and str.isidentifier(name)
        and str.isascii(name)
        and str.islower(name)
        and not str.startswith(name, "_")
    )


class Template:
    """A parsed text: literals with variable names between them.

    ``literals`` has one element more than ``names``. ``malformed`` is None, or tells what
    stands after the last literal and which rule it breaks.
    """

    __slots__ = ("is_plain", "literals", "malformed", "names", "text")

    def __init__(
        self,
        text: str,
        literals: list[str],
        names: list[str],
        malformed: tuple[str, str] | None = None,
    ) -> None:
        self.text = text
        #: Whether rendering gives the text itself.
        self.is_plain = not names and malformed is None and literals[0] == text
        self.literals = literals
        self.names = names
        self.malformed = malformed

    def values(self, variables: Mapping[str, str | None]) -> list[str | None]:
        """Give the values of the references, in order; fewer where one is unknown."""
        try:
            return [variables[name] for name in self.names]
        except KeyError:
            return []

    def render(
        self,
        values: list[str | None],
        variables: Mapping[str, str | None],
        kind: str,
        name: str,
        source: Source | None,
    ) -> str:
        """Replace each reference by its value, which is not scanned again.

        *values* are those that `values` gave for *variables*; *kind*, *name* and *source*
        say whose text it is, for the `InterpolationError` of the first bad reference.
        """
        if len(values) == len(self.names) and self.malformed is None:
            parts = [*self.literals, *values]
            parts[::2], parts[1::2] = self.literals, values
            try:
                return "".join(parts)  # type: ignore[arg-type]
            except TypeError:  # a value is no text
                pass
        return _raise_first_bad(self, variables, kind, name, source)


def parse(text: str, *, literal: bool = False) -> Template:
    """Parse *text*; never raises: what is malformed raises when it is rendered."""
    if literal or "{{" not in text:
        return Template(text, [text], [])
    pieces = _REFERENCE.split(text)
    # A brace beside a reference, or any other pair, needs the whole grammar.
    if "{{{" in text or text.count("{{") != len(pieces) // 2:
        return _parse_slowly(text)
    return Template(text, pieces[::2], pieces[1::2])


#: A reference as it is written, and the variable that it names.
Reference: TypeAlias = "tuple[str, str]"


def interpolate(
    text: str, variables: Mapping[str, Any], likely: Reference | None
) -> tuple[str | None, Reference | None]:
    """Replace the references of a *text* that is not worth parsing.

    None where it holds more than references that have values: `parse` knows what to do. Gives
    its only reference too, if there is just one: the next version of the text is *likely* to
    have the same.
    """
    if likely is not None:
        try:
            rendered = str.replace(text, likely[0], variables[likely[1]])
            if "{" not in rendered:  # so there was no other, and the value is not looked at again
                return rendered, likely
        except (KeyError, TypeError):
            pass
    if "{" not in text:
        return text, None
    pieces: list[Any] = _REFERENCE.split(text)
    is_single = len(pieces) == _ONE_REFERENCE
    single = (f"{{{{{pieces[1]}}}}}", pieces[1]) if is_single else None
    if text.count("{") != len(pieces) - 1:  # two for each reference, and no others
        return None, single
    try:
        pieces[1::2] = [variables[name] for name in pieces[1::2]]
        return "".join(pieces), single
    except (KeyError, TypeError):
        return None, single


def _parse_slowly(text: str) -> Template:
    """Parse with escapes, prose braces and malformed references, in one pass."""
    literals, names = [], []
    literal: list[str] = []
    # Looked for once: whether anything closes at all decides about every pair before it.
    last_close, last_escape = text.rfind("}}"), text.rfind("}}}}")
    position = 0
    while (start := text.find("{{", position)) >= 0:
        literal.append(text[position:start])
        group = _GROUP.match(text, start)
        if text.startswith("{{{{", start) and start + 4 <= last_escape:
            escaped = text.index("}}}}", start + 4)
            literal.append("{{" + text[start + 4 : escaped] + "}}")
            position = escaped + 4
        elif group is not None and is_variable_name(group[1]):
            literals.append("".join(literal))
            names.append(group[1])
            literal, position = [], group.end()
        elif group is not None or last_close >= start + 2:
            literals.append("".join(literal))
            return Template(text, literals, names, _malformed(text, start, group))
        else:
            literal.append("{{")
            position = start + 2
    literals.append("".join([*literal, text[position:]]))
    return Template(text, literals, names)


def _malformed(text: str, start: int, group: re.Match[str] | None) -> tuple[str, str]:
    """Give what is malformed, and the rule that it breaks."""
    if group is not None:
        return f'"{group[0]}"', f"variable names match /^{NAME}$/"
    units = text[start : start + _EXCERPT_UNITS].encode("utf-16-le", "surrogatepass")
    excerpt = units[: 2 * _EXCERPT_UNITS].decode("utf-16-le", "ignore")
    return f'at "{excerpt}…"', "references are complete simple {{name}} groups"


def _raise_first_bad(
    template: Template,
    variables: Mapping[str, Any],
    kind: str,
    name: str,
    source: Source | None,
) -> NoReturn:
    """Raise for the first bad reference, in the order of the text."""
    owner = "" if source is None else f"{source.owner}: "
    place = f'{kind} "{name}"'
    for reference in template.names:
        if reference not in variables:
            known = ", ".join(sorted(variables)) or "(none)"
            raise UnknownVariableError(
                f'{owner}unknown prompt variable "{{{{{reference}}}}}" in {place}; '
                f"registered variables: {known}",
                kind=kind,
                name=name,
            )
        value = variables[reference]
        if value is None:
            raise UndefinedVariableError(
                f'{owner}prompt variable "{{{{{reference}}}}}" has no value for this assembly '
                f"({place})",
                kind=kind,
                name=name,
            )
        if not isinstance(value, str):
            raise InterpolationError(
                f'{owner}prompt variable "{{{{{reference}}}}}" must be a str, '
                f"not {type(value).__name__} ({place})",
                kind=kind,
                name=name,
            )
    reference, rule = template.malformed or ("", "")
    raise MalformedReferenceError(
        f"{owner}malformed prompt variable reference {reference} in {place} ({rule})",
        kind=kind,
        name=name,
    )
