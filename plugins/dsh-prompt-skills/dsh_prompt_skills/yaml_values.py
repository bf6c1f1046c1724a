"""YAML that a stranger wrote, as text, lists and mappings, and nothing more.

The values are built from the parser's events. No tag is resolved, so nothing is constructed, and
no alias is followed, so nothing grows: what comes out is never larger than what went in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from dsh_prompt.untrusted import visible_name

if TYPE_CHECKING:
    from collections.abc import Iterator

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

#: A skill has a mapping in a mapping; more than this is somebody's joke.
_DEEPEST: Final = 8
#: Plain words that YAML reads as nothing: https://yaml.org/type/null.html
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})
_LONGEST_REASON: Final = 200


class YamlError(Exception):
    """Raised for what is no YAML, or YAML that is not read; its text says why, and where."""


def mapping_of(text: str) -> dict[str, Value]:
    """Give the one mapping that *text* holds; every scalar is its text, or None.

    Raises `YamlError`: for a syntax error, an anchor, alias or tag, a key that is there twice,
    deep nesting, another document, what is no mapping, and what the parser fails at.
    """
    # The scanner takes the square of the time for what is open at once.
    if _most_open(text) > 2 * _DEEPEST:
        raise YamlError(f"nests more than {_DEEPEST} deep")
    try:
        value = _document(iter(yaml.parse(text, Loader=yaml.SafeLoader)))
    except YamlError:
        raise
    except yaml.YAMLError as exc:
        raise YamlError(_reason(exc)) from None
    except Exception as exc:  # noqa: BLE001 - the parser lets out what `int` and `chr` raise
        raise YamlError(f"is not YAML: the parser fails with {type(exc).__name__}") from None
    if not isinstance(value, dict):
        raise YamlError("is no mapping of fields")
    return value


def _most_open(text: str) -> int:
    most = count = 0
    for character in text:
        if character in "[{":
            count += 1
            most = max(most, count)
        elif character in "]}" and count:
            count -= 1
    return most


def _reason(exc: yaml.YAMLError) -> str:
    problem = getattr(exc, "problem", None) or getattr(exc, "reason", None) or "not allowed"
    mark = getattr(exc, "problem_mark", None)
    # Its first line is the mark of the front matter.
    where = f"line {mark.line + 2}: " if mark is not None else ""
    return f"is not YAML: {where}{visible_name(str(problem)[:_LONGEST_REASON])}"


def _document(events: Iterator[Any]) -> Value:
    value: Value = None
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise YamlError("holds more than one document")
            value = _node(next(events), events, 1)
    return value


def _node(event: Any, events: Iterator[Any], depth: int) -> Value:
    _check(event, depth)
    if isinstance(event, yaml.ScalarEvent):
        plain = event.style is None
        return None if plain and event.value in _NOTHING else str(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        return _sequence(events, depth)
    return _mapping(events, depth)


def _check(event: Any, depth: int) -> None:
    line = f"line {event.start_mark.line + 2}"
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise YamlError(f"has an anchor or alias, which is not read ({line})")
    if event.tag is not None:
        raise YamlError(f"has a tag, which is not read ({line})")
    if depth > _DEEPEST:
        raise YamlError(f"nests more than {_DEEPEST} deep ({line})")


def _sequence(events: Iterator[Any], depth: int) -> list[Value]:
    values: list[Value] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        values.append(_node(event, events, depth + 1))
    return values


def _mapping(events: Iterator[Any], depth: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        line = f"line {event.start_mark.line + 2}"
        key = _node(event, events, depth + 1)
        if not isinstance(key, str):
            raise YamlError(f"has a key that is no word ({line})")
        if key in values:
            shown = visible_name(key[:_LONGEST_REASON])
            raise YamlError(f'has the key "{shown}" twice ({line})')
        values[key] = _node(next(events), events, depth + 1)
    return values
