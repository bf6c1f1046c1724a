"""``dsh-prompt plugins``: every installed plugin is accounted for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

RULES = """
@hookimpl
def activate(ctx):
    ctx.create_scope("inner").variable("deep", "x")

@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="rules \\x1b[1m", order=10, text="Be precise.")]
"""


@pytest.fixture
def survey(run: Run, site: Site) -> Any:
    """Give what ``--json`` tells where one plugin works and one does not."""
    site.add("rules", RULES, version="2.5")
    site.add("bad", 'raise ImportError("no such thing")')
    outcome = run("plugins", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text.endswith("\n}\n")
    return json.loads(outcome.out)


def row(survey: Any, name: str) -> Any:
    (found,) = (plugin for plugin in survey["plugins"] if plugin["name"] == name)
    return found


def test_a_loaded_plugin_is_listed_with_all_it_does(survey: Any) -> None:
    """Distribution, version, hooks and contributions, with the scope of each."""
    assert row(survey, "rules") == {
        "name": "rules",
        "distribution": "dsh-prompt-rules",
        "version": "2.5",
        "state": "loaded",
        "reason": None,
        "hooks": ["activate", "contribute_sections"],
        "contributions": [
            {"kind": "variable", "name": "deep", "scope": "inner"},
            {"kind": "section", "name": "rules \x1b[1m", "scope": None},
        ],
    }


def test_a_failed_plugin_is_listed_with_the_reason(survey: Any, site: Site) -> None:
    """It stands among the plugins and, with the kind of error, among the failures."""
    reason = (
        'plugin "bad" (dsh-prompt-bad 1.0) cannot be loaded: ImportError: no such thing '
        f"({site.folder / 'bad_plugin.py'}, line 3)"
    )
    assert row(survey, "bad")["state"] == "failed"
    assert row(survey, "bad")["reason"] == reason
    assert survey["failed"] == [
        {
            "name": "bad",
            "distribution": "dsh-prompt-bad",
            "version": "1.0",
            "error": "PluginLoadError",
            "reason": reason,
        }
    ]


def test_the_keys_are_the_documented_ones(survey: Any, run: Run) -> None:
    """``--help`` explains every key of the document."""
    text = run("plugins", "--help").text
    assert list(survey) == ["plugins", "failed", "problems", "ignored"]
    for key in (*survey, *row(survey, "bad"), *survey["failed"][0]):
        assert key in text


def test_a_plugin_that_is_wanted_and_absent_is_a_failure(run: Run, workdir: Path) -> None:
    """A name that only the configuration knows has no distribution."""
    (workdir / "dsh-prompt.toml").write_text('plugins.enable = ["nowhere"]')
    survey = json.loads(run("plugins", "--json").out)
    (failure,) = survey["failed"]
    assert (failure["name"], failure["distribution"]) == ("nowhere", None)
    assert failure["error"] == "PluginNotFoundError"
    assert 'no plugin "nowhere" is installed' in run("plugins").text


@pytest.mark.parametrize(
    ("settings", "variable", "state", "reason"),
    [
        ('plugins.disable = ["rules"]', None, "disabled", "plugins.disable in "),
        ("plugins.autoload = false", None, "disabled", "plugins.enable does not name it"),
        ("", "others, more", "blocked", "DSH_PROMPT_PLUGINS does not name it"),
        ("", "more, rules", "loaded", ""),
    ],
)
def test_what_is_switched_off_is_listed_with_the_switch(
    run: Run,
    site: Site,
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    variable: str | None,
    state: str,
    reason: str,
) -> None:
    """A plugin that is not wanted is not imported, and the reason says why."""
    site.add("rules", RULES)
    (workdir / "dsh-prompt.toml").write_text(settings)
    if variable is not None:
        monkeypatch.setenv("DSH_PROMPT_PLUGINS", variable)
    plugin = row(json.loads(run("plugins", "--json").out), "rules")
    assert plugin["state"] == state
    assert reason in (plugin["reason"] or "")
    assert bool(plugin["hooks"]) == (state == "loaded")


def test_the_table_tells_the_same_to_people(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, hooks and contributions stand in a table, reasons below, all of it escaped."""
    # Wide enough for whatever else is installed here.
    monkeypatch.setenv("COLUMNS", "200")
    site.add("rules", RULES)
    site.add("bad", 'raise ImportError("no \\x1b[1m thing")')
    page = run("plugins").text
    assert "\x1b" not in page
    for part in (
        " rules loaded activate variable deep in inner",
        " dsh-prompt-rules 1.0 contribute_sections section rules \\x1b[1m",
        " Not loaded plugin ",
        "ImportError: no \\x1b[1m",
    ):
        assert part in " ".join(page.split())


def test_reasons_of_switched_off_plugins_are_told_to_people(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says which switch it was."""
    site.add("rules", RULES)
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "")
    assert (
        '  plugin "rules" is blocked: DSH_PROMPT_PLUGINS does not name it\n' in run("plugins").text
    )


def test_problems_with_what_is_installed_are_listed(run: Run, site: Site) -> None:
    """Metadata that cannot be read is a problem, in both forms of the list."""
    site.add("rules", RULES)
    (site.folder / "dsh_prompt_rules-1.0.dist-info" / "METADATA").write_text("Name: x\nVersion:")
    (problem,) = json.loads(run("plugins", "--json").out)["problems"]
    assert "no name or no version" in problem
    assert "\nProblems\n" in run("plugins").text


def test_with_tracebacks_the_failures_are_on_standard_error_too(run: Run, site: Site) -> None:
    """``--traceback`` shows where a plugin failed; the list stays as it is."""
    site.add("bad", 'raise ImportError("no such thing")')
    outcome = run("plugins", "--traceback")
    assert 'raise ImportError("no such thing")' in outcome.err
    assert outcome.out == run("plugins").out


def test_a_broken_configuration_is_refused(run: Run, workdir: Path) -> None:
    """The list depends on the configuration, so it has to be readable."""
    (workdir / "dsh-prompt.toml").write_text("plugins = 3")
    outcome = run("plugins")
    assert (outcome.code, outcome.out) == (2, b"")
    assert "dsh-prompt.toml:1: plugins: " in outcome.err


def test_an_empty_list_says_what_a_plugin_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is installed, the page tells what would be listed."""
    monkeypatch.setattr("importlib_metadata.distributions", lambda **_: [])
    page = run("plugins").text
    assert page.startswith("Plugins: 0 installed\n")
    assert "entry point in the group dsh_prompt" in page
