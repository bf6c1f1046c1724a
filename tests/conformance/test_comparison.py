"""The conformance test can fail: each kind of wrong outcome is told from the right one."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.comparison import differences, same_error
from tests.conformance.driver import WAYS, run_scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    Json = dict[str, Any]
    Change = Callable[[list[Json]], object]

SCENARIO: Json = {
    "id": "small",
    "config": {"persona": "Hello {{user}}."},
    "steps": [
        {"op": "variable", "id": "v1", "name": "user", "value": "Ada"},
        {"op": "variable", "id": "v2", "name": "user", "value": "Bob"},
        {"op": "context", "id": "c1", "name": "clock", "order": 1, "text": "noon"},
        {
            "op": "tools",
            "id": "t1",
            "schemas": [
                {"name": name, "description": "", "parameters": {}} for name in ("b", "a", "c")
            ],
        },
        {"op": "section", "id": "s1", "name": "rules", "order": 5, "text": "{{unknown}}"},
        {"op": "section", "id": "s2", "in": "nobody", "name": "x", "order": 5, "text": ""},
        {"op": "assemble"},
        {"op": "dispose", "target": "s1"},
        {"op": "dispose", "target": "s2"},
        {"op": "assemble"},
    ],
}
REFUSED: Json = {"id": "refused", "config": {"toolOrder": []}, "steps": []}
SECOND_VARIABLE, FIRST_ASSEMBLE, LAST_ASSEMBLE = 1, 6, 9

CHANGES: dict[str, Change] = {
    "changed section text": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["sections"].__setitem__(
        1, ["deployment:persona", "Hello {{user}}!"]
    ),
    "swapped sections": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["sections"].reverse(),
    "missing section": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["sections"].pop(),
    "changed context text": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["contexts"].__setitem__(
        0, ["clock", "midnight"]
    ),
    "changed tool order": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["tools"].reverse(),
    "changed tool": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["tools"][0].update(
        parameters={"type": "object"}
    ),
    "changed variable": lambda steps: steps[LAST_ASSEMBLE]["assembly"]["variables"].update(
        user=None
    ),
    "changed prompt": lambda steps: steps[LAST_ASSEMBLE]["prompt"].update(value="Hello Bob."),
    "changed snapshot": lambda steps: steps[LAST_ASSEMBLE]["context_snapshot"].update(value=""),
    "missing error": lambda steps: steps.__setitem__(
        SECOND_VARIABLE, {"op": "variable", "ok": True}
    ),
    "other error": lambda steps: steps[SECOND_VARIABLE].update(error="is not registered"),
    "missing render error": lambda steps: steps[FIRST_ASSEMBLE].update(
        prompt={"ok": True, "value": ""}
    ),
    "other render error": lambda steps: steps[FIRST_ASSEMBLE]["prompt"].update(
        error='unknown prompt variable "{{other}}" in section "rules"'
    ),
    "unexpected error": lambda steps: steps.__setitem__(
        LAST_ASSEMBLE, {"op": "assemble", "ok": False, "error": "provider failed"}
    ),
    "missing step": lambda steps: steps.pop(),
    "other step": lambda steps: steps[0].update(op="context"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_a_difference(change: Change, way: Any) -> None:
    """An outcome differs from a record that was changed in one place, and from that alone."""
    outcome = run_scenario(SCENARIO, way)
    recorded = deepcopy(outcome)
    assert differences(recorded, outcome) == []
    change(recorded["steps"])
    assert len(differences(recorded, outcome)) == 1


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_refused_config_is_compared_by_its_error(way: Any) -> None:
    """A config that was refused must be refused with the same text."""
    outcome = run_scenario(REFUSED, way)
    error = 'toolOrder must contain the "<unlisted-tools>" rest entry'
    assert differences({"ok": False, "error": error}, outcome) == []
    assert differences({"ok": False, "error": "toolOrder is fine"}, outcome) != []
    assert differences({"ok": True, "steps": []}, outcome) != []
    assert differences({"ok": False, "error": error}, {"ok": True, "steps": []}) != []


@pytest.mark.parametrize(("op", "allowed"), [("section", False), ("dispose", True)])
def test_what_the_driver_could_not_do(op: str, allowed: bool) -> None:
    """A step that could not be run needs some error, a disposal not even that."""
    recorded = {"ok": True, "steps": [{"op": op, "ok": False, "error": "driver: gone"}]}
    done = {"ok": True, "steps": [{"op": op, "ok": True}]}
    failed = {"ok": True, "steps": [{"op": op, "ok": False, "error": "disposed"}]}
    assert (differences(recorded, done) == []) is allowed
    assert differences(recorded, failed) == []


@pytest.mark.parametrize(
    ("actual", "same"),
    [
        ("unknown {{x}}; registered variables: b, a", True),
        ("plugin p: unknown {{x}}; registered variables: a, b (of p)\ncause", True),
        ("unknown {{x}}; registered variables: a, c", False),
        ("unknown {{x}}; registered variables: a", False),
        ("unknown {{x}}; registered variables: a, b, c", False),
        ("unknown {{x}}; registered variables: a, bc", False),
        ("unknown {{y}}; registered variables: a, b", False),
    ],
)
def test_the_list_at_the_end_of_an_error(actual: str, same: bool) -> None:
    """Names at the end of an error may be in another order, but not be others."""
    assert same_error("unknown {{x}}; registered variables: a, b", actual) is same


@pytest.mark.parametrize(
    ("actual", "same"),
    [
        ('section "a" is already registered by p (for a per-agent text, use a scope)', True),
        ('section "a" is already registered in this scope', False),
        ('section "b" is already registered', False),
    ],
)
def test_a_recorded_text_is_found_in_an_error(actual: str, same: bool) -> None:
    """An error holds the recorded text, and does not go on to say another thing."""
    assert same_error('section "a" is already registered', actual) is same
