"""``dsh-prompt check-plugin``: a report with reasons, whatever the plugin does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

RULES = """
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="rules", order=10, text=ctx.config.get("text", "Be precise."))]
"""


def test_a_good_plugin_passes(run: Run, site: Site) -> None:
    """The page names it, and each check."""
    site.add("rules", RULES, version="2.5")
    outcome = run("check-plugin", "rules")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text.startswith("rules (dsh-prompt-rules 2.5) passes\n")
    assert outcome.text.count(" passed") == 10
    assert "it contributes section rules" in outcome.text


def test_what_cannot_be_loaded_is_reported(run: Run, site: Site) -> None:
    """It ends neither the command nor the checks of the others."""
    site.add("ends", "import os; os._exit(3)")
    site.add("fails", 'raise ImportError("no such thing")')
    outcome = run("check-plugin", "ends", "fails", "--json")
    assert (outcome.code, outcome.err) == (1, "")
    ends, fails = json.loads(outcome.out)["plugins"]
    assert ends["distribution"] == "dsh-prompt-ends"
    assert (ends["passed"], fails["passed"]) == (False, False)
    [first, *others] = ends["checks"]
    assert first == {
        "name": "imports",
        "status": "failed",
        "reasons": ["its process ended without a result, with exit code 3"],
    }
    assert {check["status"] for check in others} == {"skipped"}
    assert fails["checks"][0]["reasons"] == ["ImportError: no such thing"]


def test_the_settings_count(run: Run, site: Site, workdir: Path) -> None:
    """A plugin is checked as it would be loaded here; the page shows what is hidden."""
    site.add("rules", RULES)
    config = workdir / "other.toml"
    config.write_text('[plugins.config.rules]\ntext = "Be \\u202ekind."\n')
    outcome = run("check-plugin", "rules", "--config", config)
    assert outcome.code == 1
    assert "RIGHT-TO-LEFT OVERRIDE" in outcome.text
    assert "\u202e" not in outcome.text


def test_a_name_of_nothing_is_wrong_usage(run: Run, site: Site) -> None:
    """With the nearest name that there is."""
    site.add("rules", RULES)
    outcome = run("check-plugin", "rule")
    assert outcome.code == 2
    assert 'no plugin "rule" is installed; did you mean "rules"?' in outcome.err
    assert run("check-plugin").code == 2
