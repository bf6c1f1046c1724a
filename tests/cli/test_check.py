"""``dsh-prompt check``: what it finds, how it tells, how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

GUIDE = """
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="guide", order=100, text="Use write to save, {{user}}.")]

@hookimpl
def contribute_tools(ctx):
    return [{"name": "write"}, {"name": "read"}]

@hookimpl
def contribute_variables(ctx):
    return {"user": "Ada"}
"""
NARROW = """
@hookimpl
def system_prompt_assemble(assembly, context):
    if context.state.permission_mode == "plan":
        assembly.tools = [tool for tool in assembly.tools if tool.name == "read"]
"""
PLAN = json.dumps({"permission_mode": "plan"})


@pytest.fixture(autouse=True)
def _plugins(site: Site) -> None:
    site.add("guide", GUIDE)
    site.add("narrow", NARROW)


def test_where_nothing_is_found_it_says_so_and_ends_well(run: Run) -> None:
    """The tool is there, so the text may name it."""
    outcome = run("check")
    assert outcome.text == "No text names a hidden tool\n"
    assert (outcome.code, outcome.err) == (0, "")


def test_the_table_tells_text_owner_tool_culprit_and_way_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the exit code is that of a failed check."""
    monkeypatch.setenv("COLUMNS", "120")
    outcome = run("check", "--state", "-", stdin=PLAN)
    assert (outcome.code, outcome.err) == (1, "")
    words = " ".join(outcome.text.split())
    assert words.startswith("Texts that name a hidden tool Text Owner Tool Hidden by")
    row = (
        "section guide guide (dsh-prompt-guide 1.0) write narrow (dsh-prompt-narrow 1.0), waterfall"
    )
    assert row in words
    assert outcome.text.endswith('\n  section guide: requires_tools=("write",)\n')


def test_json_has_the_same_for_programs(run: Run) -> None:
    """With the sources as everywhere in JSON."""
    outcome = run("check", "--state", "-", "--format", "json", stdin=PLAN)
    assert outcome.code == 1
    [finding] = json.loads(outcome.text)["findings"]
    assert finding["source"]["distribution"] == "dsh-prompt-guide"
    assert finding["hidden_by"]["distribution"] == "dsh-prompt-narrow"
    del finding["source"], finding["hidden_by"]
    assert finding == {
        "check": "hidden-tool",
        "kind": "section",
        "name": "guide",
        "tool": "write",
        "way_out": 'requires_tools=("write",)',
    }
    assert json.loads(run("check", "--format", "json").text) == {"findings": []}


def test_it_takes_the_options_of_render(run: Run, workdir: Path) -> None:
    """Tools from a file are known too, and a plugin can be left out."""
    tools = workdir / "tools.json"
    tools.write_text('[{"name": "Ada"}]')
    outcome = run("check", "--tools", tools, "--state", "-", "--format", "json", stdin=PLAN)
    named = [finding["tool"] for finding in json.loads(outcome.text)["findings"]]
    assert named == ["Ada", "write"]
    assert run("check", "--state", "-", "--no-plugin", "narrow", stdin=PLAN).code == 0
    assert run("check", "--set", "user=Bob", "--state", "-", stdin=PLAN).code == 1


def test_an_assembly_that_fails_is_told_as_by_render(run: Run, site: Site) -> None:
    """There is nothing to look at."""
    site.add(
        "broken", "@hookimpl\ndef system_prompt_assemble(assembly):\n    raise OSError('no')\n"
    )
    outcome = run("check", "--format", "json")
    assert (outcome.code, outcome.out) == (1, b"")
    assert "broken" in outcome.err


def test_a_text_that_cannot_be_rendered_is_told_the_same_way(run: Run, site: Site) -> None:
    """The error names the text, and the way out."""
    text = "'{{nobody}}'"
    site.add(
        "unknown",
        f"@hookimpl\ndef contribute_sections(ctx):\n    return [PromptSection('x', 1, {text})]\n",
    )
    outcome = run("check")
    assert (outcome.code, outcome.out) == (1, b"")
    assert "--set NAME=VALUE" in outcome.err
