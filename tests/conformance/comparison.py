"""Compare an outcome with the recorded one, strictly but for what errors may add."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

DISPOSALS = {"dispose", "disposeOwner"}
NAME_LIST = re.compile(r"(?s)(.*(?:registered variables|known tools): )(.*)")
WAY_OUT = re.compile(r" \(for a per-agent [^)]*\)")


def differences(recorded: Json, actual: Json) -> list[str]:
    """Name everything in which *actual* is not what was *recorded*; empty where nothing is."""
    if not (recorded["ok"] and actual["ok"]):
        return list(_result_differences("config", recorded, actual))
    pairs = enumerate(zip_longest(recorded["steps"], actual["steps"]))
    return [text for index, (step, ours) in pairs for text in _step(f"step {index}", step, ours)]


def _step(where: str, recorded: Json | None, actual: Json | None) -> Iterator[str]:
    if recorded is None or actual is None or recorded["op"] != actual["op"]:
        yield f"{where}: recorded {recorded}, got {actual}"
        return
    if _is_driver_error(recorded):
        if actual["ok"] and recorded["op"] not in DISPOSALS:
            yield f"{where}: no error, recorded {recorded['error']}"
        return
    yield from _result_differences(f"{where} ({recorded['op']})", recorded, actual)


def _is_driver_error(result: Json) -> bool:
    return not result["ok"] and result["error"].startswith("driver:")


def _result_differences(where: str, recorded: Json, actual: Json) -> Iterator[str]:
    if recorded["ok"] != actual["ok"]:
        yield f"{where}: recorded {recorded}, got {actual}"
    elif not recorded["ok"]:
        if not same_error(recorded["error"], actual["error"]):
            yield f"{where}: recorded error {recorded['error']!r}, got {actual['error']!r}"
    else:
        for key in sorted({*recorded, *actual} - {"op", "ok"}):
            yield from _value_differences(f"{where}: {key}", recorded.get(key), actual.get(key))


def _value_differences(where: str, recorded: Json | None, actual: Json | None) -> Iterator[str]:
    if recorded and actual and "ok" in recorded:
        yield from _result_differences(where, recorded, actual)
    elif _canonical(recorded) != _canonical(actual):
        yield f"{where}: recorded {recorded!r}, got {actual!r}"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def same_error(recorded: str, actual: str) -> bool:
    """Whether the text *actual* holds the *recorded* one, its closing list in any order."""
    recorded, actual = WAY_OUT.sub("", recorded), WAY_OUT.sub("", actual)
    listed = NAME_LIST.fullmatch(recorded)
    if listed is None:
        rests = actual.split(recorded)[1:]
        return any(not rest.startswith(" in this scope") for rest in rests)
    head, names = listed.groups()
    return any(_same_names(names, rest) for rest in actual.split(head)[1:])


def _same_names(names: str, rest: str) -> bool:
    ours, after = rest[: len(names)], rest[len(names) :]
    ends = re.match(r"\w|, ", after) is None
    return ends and sorted(ours.split(", ")) == sorted(names.split(", "))
