"""Sync: a host follows what is installed, and goes on with what it has where that fails."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AsyncProviderError,
    Config,
    PluginLoadError,
    PluginNotFoundError,
    PluginsConfig,
    SyncReport,
    SystemPrompt,
    hookimpl,
)
from tests.sites import Site, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import ChangeEvent

HEAD = "from dsh_prompt import PromptSection, hookimpl\nimport builtins\n"


def code(name: str, text: str, more: str = "") -> str:
    """Give the code of a plugin that contributes the variable *name*, and notes its life."""
    return f"""{HEAD}
@hookimpl
def activate(ctx):
    ctx.variable("{name}", "{text}")
    note("+{name} {text}")

@hookimpl
def deactivate():
    note("-{name} {text}")

def note(text):
    getattr(builtins, "dsh_test_log", []).append(text)
{more}
"""


def install(site: Site, name: str, version: str = "1.0", more: str = "") -> Path:
    """Install ``dsh-NAME``, whose plugin says the version; *more* is further code."""
    files = {f"dsh_test_{name}": code(name, version, more)}
    return site.install(f"dsh-{name}", version, files, **{name: f"dsh_test_{name}"})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the list in which the plugins note their lives."""
    import builtins  # noqa: PLC0415 - the one place that all code sees

    noted: list[str] = []
    monkeypatch.setattr(builtins, "dsh_test_log", noted, raising=False)
    return noted


@pytest.fixture
def events() -> list[ChangeEvent]:
    """Give a list for change events."""
    return []


def hosting(site: Site, names: str = "a", **options: Any) -> SystemPrompt:
    """Give a host that has loaded the plugins called *names*, each of one letter."""
    for name in names:
        install(site, name)
    prompt = SystemPrompt()
    prompt.load_entry_points(**options)
    return prompt


def summary(report: SyncReport) -> tuple[str, str, str, str]:
    """Name what was installed, upgraded and removed, and what failed."""
    done = (report.installed, report.upgraded, report.removed)
    installed, upgraded, removed = (" ".join(info.name for info in infos) for infos in done)
    return installed, upgraded, removed, " ".join(sorted(report.failed))


def state(prompt: SystemPrompt) -> dict[str, Any]:
    """Give all that a host shows, and the modules of the tests."""
    modules = {name: one for name, one in sys.modules.items() if name.startswith("dsh_test_")}
    document = prompt.assemble().to_dict()
    document.pop("generation", None)
    return {"assembly": document, "plugins": prompt.plugins, "modules": modules}


def shown(prompt: SystemPrompt) -> dict[str, str | None]:
    """Give the variables, which say the versions."""
    return prompt.assemble().variables


def refuse(event: ChangeEvent) -> None:
    """Refuse what changes because of what is installed."""
    if event.kind == "synced":
        raise ValueError("refused")


# What changes


def test_what_is_new_is_loaded_what_changed_is_reloaded_and_what_is_gone_goes(
    site: Site, log: list[str], events: list[ChangeEvent]
) -> None:
    """All of it in one generation and one event, and nothing happens to what stays."""
    prompt = hosting(site, "abc")
    prompt.on_change(events.append)
    before = prompt.assemble().generation or 0
    log.clear()
    site.uninstall("dsh-a")
    install(site, "b", "2.0")
    install(site, "d")
    report = prompt.sync()
    assert isinstance(report, SyncReport)
    assert summary(report) == ("d", "b", "a", "")
    assert shown(prompt) == {"b": "2.0", "c": "1.0", "d": "1.0"}
    assert [info.version for info in report.upgraded] == ["2.0"]
    assert (report.removed[0].state, report.removed[0].contributions) == ("unloaded", ())
    assert [*report.installed, *report.upgraded] == [i for i in prompt.plugins if i.name in "db"][
        ::-1
    ]
    (event,) = events
    assert (event.kind, event.plugin, event.scope) == ("synced", None, None)
    assert sorted(item[:2] for item in event.added) == [
        ("plugin", "b"),
        ("plugin", "d"),
        ("variable", "b"),
        ("variable", "d"),
    ]
    assert sorted(item[:2] for item in event.removed) == [
        ("plugin", "a"),
        ("plugin", "b"),
        ("variable", "a"),
        ("variable", "b"),
    ]
    assert event.generation == prompt.assemble().generation == before + 1
    assert sorted(log) == ["+b 2.0", "+d 1.0", "-a 1.0", "-b 1.0"]
    assert log.index("+b 2.0") < log.index("-b 1.0")


def test_where_nothing_changed_nothing_happens(
    site: Site, log: list[str], events: list[ChangeEvent]
) -> None:
    """No event, no generation, no code that runs."""
    prompt = hosting(site, "ab")
    prompt.on_change(events.append)
    before, generation = state(prompt), prompt.assemble().generation
    log.clear()
    report = prompt.sync()
    assert (summary(report), report.problems, dict(report.left_out)) == (("",) * 4, (), {})
    assert (state(prompt), prompt.assemble().generation) == (before, generation)
    assert (log, events) == ([], [])


def test_a_host_that_has_loaded_nothing_yet_loads_what_its_configuration_wants(
    site: Site,
) -> None:
    """Just as `load_entry_points` would."""
    install(site, "a")
    install(site, "b")
    prompt = SystemPrompt(Config(plugins=PluginsConfig(disable=("a",))))
    report = prompt.sync()
    assert summary(report) == ("b", "", "", "")
    assert report.left_out["a"].state == "disabled"


def test_a_wanted_plugin_that_is_not_installed_is_a_failure_until_it_is(site: Site) -> None:
    """The choice of `load_entry_points` stays."""
    prompt = SystemPrompt(Config(plugins=PluginsConfig(enable=("a",))))
    prompt.load_entry_points()
    assert isinstance(prompt.sync().failed["a"], PluginNotFoundError)
    install(site, "a")
    assert summary(prompt.sync()) == ("a", "", "", "")


def test_the_modules_of_what_was_uninstalled_are_forgotten(site: Site) -> None:
    """A later installation brings its own code."""
    prompt = hosting(site, "a")
    site.uninstall("dsh-a")
    prompt.sync()
    assert "dsh_test_a" not in sys.modules
    install(site, "a", "1.0", "VERSION = 'again'")
    assert summary(prompt.sync()) == ("a", "", "", "")
    assert sys.modules["dsh_test_a"].VERSION == "again"


def test_the_modules_of_what_was_uninstalled_stay_while_another_host_uses_them(
    site: Site,
) -> None:
    """It has not synced yet, and works on."""
    prompt, other = hosting(site, "a"), hosting(site, "")
    site.uninstall("dsh-a")
    assert summary(prompt.sync()) == ("", "", "a", "")
    assert "dsh_test_a" in sys.modules
    assert shown(other) == {"a": "1.0"}
    other.sync()
    assert "dsh_test_a" not in sys.modules


def test_an_older_version_is_a_change_as_well(site: Site) -> None:
    """A downgrade is followed too."""
    prompt = hosting(site, "a")
    install(site, "a", "0.9")
    assert summary(prompt.sync()) == ("", "a", "", "")
    assert shown(prompt) == {"a": "0.9"}


def test_a_plugin_that_has_another_name_now_takes_the_old_one_s_place(site: Site) -> None:
    """Old and new have one section; they change in one step."""
    section = "@hookimpl\ndef contribute_sections():\n    return [PromptSection('s', 1, 'x')]\n"
    install(site, "a", "1.0", section)
    prompt = SystemPrompt()
    prompt.load_entry_points()
    files = {"dsh_test_a": code("a", "2.0", section)}
    site.install("dsh-a", "2.0", files, renamed="dsh_test_a")
    assert summary(prompt.sync()) == ("renamed", "", "a", "")
    assert shown(prompt) == {"a": "2.0"}
    assert [info.name for info in prompt.plugins] == ["renamed"]


def test_a_renamed_plugin_that_fails_keeps_the_old_one(site: Site) -> None:
    """An upgrade is whole or not at all."""
    prompt = hosting(site, "a")
    before = state(prompt)
    site.install("dsh-a", "2.0", {"dsh_test_a": "1/0"}, renamed="dsh_test_a")
    assert summary(prompt.sync()) == ("", "", "", "renamed")
    assert state(prompt) == before


def test_a_plugin_that_another_distribution_offers_now_moves_there(site: Site) -> None:
    """The one that was uninstalled gives its names to the other."""
    prompt = hosting(site, "a")
    site.uninstall("dsh-a")
    site.install("dsh-other", "3.0", {"dsh_test_other": code("a", "3.0")}, a="dsh_test_other")
    report = prompt.sync()
    assert dict(report.failed) == {}
    assert shown(prompt) == {"a": "3.0"}
    assert [info.distribution for info in prompt.plugins] == ["dsh-other"]


def test_a_plugin_under_a_name_of_the_host_s_own_is_followed(site: Site) -> None:
    """It is the same entry point that counts."""
    install(site, "a")
    prompt = SystemPrompt()
    prompt.load("a", name="mine")
    prompt.load_entry_points(only=())
    install(site, "a", "2.0")
    assert summary(prompt.sync()) == ("", "mine", "", "")
    site.uninstall("dsh-a")
    assert summary(prompt.sync()) == ("", "", "mine", "")
    assert prompt.plugins == []


def test_what_is_not_installed_is_left_alone(site: Site) -> None:
    """A plugin that the host made itself, also if something of its name is installed."""

    class Own:
        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            return {"own": "own"}

    prompt = SystemPrompt()
    prompt.load(Own(), name="a")
    install(site, "a")
    assert summary(prompt.sync()) == ("", "", "", "")
    assert shown(prompt) == {"own": "own"}


def test_plugins_in_scopes_are_followed_too(site: Site, events: list[ChangeEvent]) -> None:
    """Upgraded where they are, and removed; new ones go to the global level."""
    install(site, "a")
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load("a", scope=scope)
    prompt.load_entry_points()
    prompt.on_change(events.append)
    install(site, "a", "2.0")
    assert summary(prompt.sync()) == ("", "a a", "", "")
    assert {info.version for info in prompt.plugins} == {"2.0"}
    assert {item[2] for item in events[0].added} == {None, scope}
    site.uninstall("dsh-a")
    assert summary(prompt.sync()) == ("", "", "a a", "")
    assert prompt.plugins == []


def test_upgraded_plugins_keep_their_places(site: Site) -> None:
    """In the order of loading, and in the block."""
    prompt = hosting(site, "abc")
    install(site, "b", "2.0")
    prompt.sync()
    assert [info.name for info in prompt.plugins] == ["a", "b", "c"]


# What fails


def test_an_upgrade_that_fails_keeps_the_old_plugin(
    site: Site, log: list[str], caplog: pytest.LogCaptureFixture, events: list[ChangeEvent]
) -> None:
    """The report and the log say why; others are upgraded."""
    prompt = hosting(site, "ab")
    install(site, "a", "2.0", "1/0")
    install(site, "b", "2.0")
    prompt.on_change(events.append)
    report = prompt.sync()
    assert summary(report) == ("", "b", "", "a")
    error = report.failed["a"]
    assert isinstance(error, PluginLoadError)
    assert (error.plugin, error.distribution) == ("a", "dsh-a")
    assert "ZeroDivisionError" in str(error)
    assert "old code stays" in str(error)
    assert shown(prompt) == {"a": "1.0", "b": "2.0"}
    assert [event.kind for event in events] == ["synced"]
    (line,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert line.exc_info is not None
    assert 'plugin "a"' in line.getMessage()


def two_in_one(site: Site, version: str, names: str = "ab", **more: str) -> None:
    """Install ``dsh-two`` with the plugins called *names*, each of one letter."""
    files = {f"dsh_test_{name}": code(name, version, more.get(name, "")) for name in names}
    site.install("dsh-two", version, files, **{name: f"dsh_test_{name}" for name in names})


@pytest.mark.parametrize("broken", ["1/0", "@hookimpl\ndef contribute_tools(): 1/0", "requires=5"])
@pytest.mark.parametrize("which", ["a", "b"])
def test_a_distribution_is_upgraded_whole_or_not_at_all(
    site: Site, log: list[str], which: str, broken: str
) -> None:
    """Where one of its plugins fails, both stay as they are."""
    two_in_one(site, "1.0")
    prompt = SystemPrompt()
    prompt.load_entry_points()
    before = state(prompt)
    log.clear()
    two_in_one(site, "2.0", **{which: broken})
    report = prompt.sync()
    assert summary(report) == ("", "", "", "a b")
    assert f'"{which}"' in str(report.failed[which])
    assert state(prompt) == before
    assert not [line for line in log if line.endswith("1.0")]
    two_in_one(site, "2.1")
    assert summary(prompt.sync()) == ("", "a b", "", "")
    assert shown(prompt) == {"a": "2.1", "b": "2.1"}


@pytest.mark.parametrize(
    ("version", "names", "expected"),
    [
        ("2.0", "a", ("", "a", "b", "")),
        ("2.0", "abc", ("c", "a b", "", "")),
        ("2.0", "bc", ("c", "b", "a", "")),
        ("1.0", "a", ("", "", "b", "")),
        ("1.0", "abc", ("c", "", "", "")),
        ("1.0", "bc", ("c", "b", "a", "")),
    ],
)
def test_an_upgrade_can_bring_plugins_and_drop_others(
    site: Site, log: list[str], version: str, names: str, expected: tuple[str, ...]
) -> None:
    """It is one change, also where somebody forgot to change the version."""
    two_in_one(site, "1.0")
    prompt = SystemPrompt()
    prompt.load_entry_points()
    two_in_one(site, version, names)
    assert summary(prompt.sync()) == expected
    assert shown(prompt) == dict.fromkeys(names, version)
    assert sorted(info.name for info in prompt.plugins) == [*names]
    assert {f"dsh_test_{name}" for name in names} <= set(sys.modules)


def test_a_failed_upgrade_keeps_the_plugins_that_it_would_drop(site: Site) -> None:
    """And brings none of its new ones."""
    two_in_one(site, "1.0")
    prompt = SystemPrompt()
    prompt.load_entry_points()
    before = state(prompt)
    two_in_one(site, "2.0", "bc", c="1/0")
    assert summary(prompt.sync()) == ("", "", "", "b c")
    assert state(prompt) == before


def test_what_an_upgrade_brings_is_subject_to_the_choice(site: Site) -> None:
    """As everything new is."""
    two_in_one(site, "1.0", "a")
    prompt = SystemPrompt(Config(plugins=PluginsConfig(disable=("b",))))
    prompt.load_entry_points()
    two_in_one(site, "2.0", "ab")
    report = prompt.sync()
    assert (summary(report), list(report.left_out)) == (("", "a", "", ""), ["b"])


def test_a_failed_version_is_not_run_again_by_itself(site: Site, log: list[str]) -> None:
    """The report tells the remembered error; a new version is tried, and so is a `load`."""
    prompt = hosting(site, "a")
    install(site, "a", "2.0", "note('run')\n1/0")
    install(site, "b", "1.0", "note('run')\n1/0")
    first = prompt.sync()
    assert log.count("run") == 2
    second = prompt.sync()
    assert log.count("run") == 2
    assert {name: str(error) for name, error in second.failed.items()} == {
        name: str(error) for name, error in first.failed.items()
    }
    with pytest.raises(PluginLoadError):
        prompt.reload("a")
    assert log.count("run") == 3
    install(site, "a", "2.1")
    install(site, "b", "1.1")
    assert summary(prompt.sync()) == ("b", "a", "", "")


def test_what_failed_in_load_entry_points_is_remembered_too(site: Site, log: list[str]) -> None:
    """It is the same code."""
    install(site, "a", "1.0", "note('run')\n1/0")
    prompt = SystemPrompt()
    assert list(prompt.load_entry_points().failed) == ["a"]
    report = prompt.sync()
    assert "ZeroDivisionError" in str(report.failed["a"])
    assert log.count("run") == 1


def test_a_plugin_that_only_lacked_another_one_is_tried_again(site: Site) -> None:
    """Its own code did not fail."""
    install(site, "a", "1.0", "requires = ('b',)")
    prompt = SystemPrompt()
    assert "b" in str(prompt.load_entry_points().failed["a"])
    install(site, "b")
    assert summary(prompt.sync()) == ("b a", "", "", "")


def test_a_change_listener_that_refuses_keeps_everything_as_it_was(
    site: Site, log: list[str], events: list[ChangeEvent]
) -> None:
    """Who had been told is told of the withdrawal, and the next sync does it all."""
    prompt = hosting(site, "abc")
    prompt.on_change(events.append)
    refusing = prompt.on_change(refuse)
    before, generation = state(prompt), prompt.assemble().generation or 0
    log.clear()
    site.uninstall("dsh-a")
    install(site, "b", "2.0")
    install(site, "d")
    with pytest.raises(ValueError, match="refused"):
        prompt.sync()
    assert state(prompt) == before
    assert [event.kind for event in events] == ["synced", "withdrawn"]
    assert set(events[1].added) == set(events[0].removed)
    assert set(events[1].removed) == set(events[0].added)
    assert generation < events[0].generation < events[1].generation
    assert sorted(log) == ["+b 2.0", "+d 1.0", "-b 2.0", "-d 1.0"]
    refusing.dispose()
    assert summary(prompt.sync()) == ("d", "b", "a", "")
    assert shown(prompt) == {"b": "2.0", "c": "1.0", "d": "1.0"}


@pytest.mark.parametrize("how", ["import", "activate"])
def test_an_interrupt_passes_through_with_everything_as_it_was(site: Site, how: str) -> None:
    """What was prepared before it is taken back."""
    prompt = hosting(site, "ab")
    before = state(prompt)
    stop = "raise KeyboardInterrupt"
    install(site, "a", "2.0")
    install(
        site, "b", "2.0", stop if how == "import" else f"@hookimpl\ndef contribute_tools(): {stop}"
    )
    install(site, "c")
    with pytest.raises(KeyboardInterrupt):
        prompt.sync()
    assert state(prompt) == before
    install(site, "b", "2.0")
    assert summary(prompt.sync()) == ("c", "a b", "", "")


def test_a_cleanup_that_fails_is_a_problem_and_stops_nothing(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """The plugin is gone all the same; the problem names it."""
    install(site, "a", "1.0", "@hookimpl(specname='deactivate')\ndef end(): 1/0")
    prompt = hosting(site, "b")
    site.uninstall("dsh-a")
    install(site, "b", "2.0")
    report = prompt.sync()
    assert summary(report) == ("", "b", "a", "")
    (problem,) = report.problems
    assert 'plugin "a" (dsh-a 1.0)' in problem
    assert "ZeroDivisionError" in problem
    assert problem in "".join(f"a cleanup failed: {r.getMessage()}" for r in caplog.records) or any(
        r.exc_info for r in caplog.records
    )


def test_an_upgrade_is_refused_while_another_host_uses_the_modules(
    site: Site, log: list[str]
) -> None:
    """The two would have one half of the code each; the failure says so."""
    prompt, other = hosting(site, "a"), hosting(site, "")
    install(site, "a", "2.0")
    report = prompt.sync()
    assert summary(report) == ("", "", "", "a")
    assert "another host" in str(report.failed["a"])
    assert (shown(prompt), shown(other)) == ({"a": "1.0"}, {"a": "1.0"})
    other.dispose()
    assert summary(prompt.sync()) == ("", "a", "", "")


# What is wanted


def test_what_was_unloaded_by_name_is_not_loaded_again(site: Site) -> None:
    """Not even in a new version; the report says why. A `load` by name ends that."""
    prompt = hosting(site, "a")
    prompt.unload("a")
    for version in ("1.0", "2.0"):
        install(site, "a", version)
        report = prompt.sync()
        assert summary(report) == ("", "", "", "")
        assert "unloaded by name" in report.left_out["a"].reason
    prompt.load("a")
    install(site, "a", "3.0")
    assert summary(prompt.sync()) == ("", "a", "", "")


def test_what_was_unloaded_in_a_scope_is_still_wanted_globally(site: Site) -> None:
    """The two have nothing to do with each other."""
    install(site, "a")
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load("a", scope=scope)
    prompt.unload("a", scope=scope)
    assert summary(prompt.sync()) == ("a", "", "", "")


@pytest.mark.parametrize(
    ("options", "loaded"),
    [({"only": ("a", "c")}, "c"), ({"block": ("b", "c")}, "d"), ({"only": ()}, "")],
    ids=["only", "block", "none"],
)
def test_the_choice_of_load_entry_points_is_kept(
    site: Site, options: dict[str, Any], loaded: str
) -> None:
    """What is installed later is subject to it."""
    prompt = hosting(site, "ab", **options)
    install(site, "c")
    install(site, "d")
    assert summary(prompt.sync()) == (loaded, "", "", "")


def test_the_environment_narrows_a_sync_as_well(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a safety switch; what is loaded is not unloaded by it."""
    prompt = hosting(site, "a")
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "c")
    install(site, "b")
    install(site, "c")
    assert summary(prompt.sync()) == ("c", "", "", "")
    assert set(shown(prompt)) == {"a", "c"}


def test_a_quarantined_plugin_is_not_loaded_again_before_its_version_changes(
    site: Site, log: list[str]
) -> None:
    """A new version gets a chance; the old one is wound down then."""
    prompt = hosting(site, "a")
    prompt.quarantine("a", "it misbehaves")
    log.clear()
    assert summary(prompt.sync()) == ("", "", "", "")
    assert ([info.state for info in prompt.plugins], shown(prompt)) == (["quarantined"], {})
    install(site, "a", "2.0")
    assert summary(prompt.sync()) == ("", "a", "", "")
    assert ([info.state for info in prompt.plugins], shown(prompt)) == (["loaded"], {"a": "2.0"})
    assert log == ["+a 2.0", "-a 1.0"]


def test_a_quarantined_plugin_stays_so_where_its_upgrade_fails(site: Site) -> None:
    """With the reason that it had."""
    prompt = hosting(site, "a")
    prompt.quarantine("a", "it misbehaves")
    install(site, "a", "2.0", "1/0")
    assert summary(prompt.sync()) == ("", "", "", "a")
    (info,) = prompt.plugins
    assert (info.state, info.reason, info.version) == ("quarantined", "it misbehaves", "1.0")


# Configuration

CONFIGURED = """
import attrs

@attrs.define
class Config:
    level: int = 0

@hookimpl(specname="contribute_variables")
def show(ctx):
    return {"level": str(ctx.config.level)}
"""


def configured(site: Site, folder: Path) -> tuple[SystemPrompt, Path]:
    """Give a host with a configured plugin, and the file with the configuration."""
    install(site, "a", "1.0", CONFIGURED)
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.a]\nlevel = 1\n")
    prompt = SystemPrompt(Config.load(file))
    prompt.load_entry_points()
    return prompt, file


def test_what_is_loaded_or_upgraded_has_the_new_configuration(site: Site, folder: Path) -> None:
    """The files are read again; one that stays as it is keeps what it has."""
    prompt, file = configured(site, folder)
    file.write_text("[plugins.config.a]\nlevel = 2\n")
    assert summary(prompt.sync()) == ("", "", "", "")
    assert shown(prompt)["level"] == "1"
    install(site, "a", "2.0", CONFIGURED)
    assert summary(prompt.sync()) == ("", "a", "", "")
    assert shown(prompt)["level"] == "2"


def test_a_configuration_file_that_is_broken_now_is_a_problem(site: Site, folder: Path) -> None:
    """The configuration stays as it was, and the sync does its work."""
    prompt, file = configured(site, folder)
    file.write_text("[plugins.config.a\n")
    install(site, "a", "2.0", CONFIGURED)
    report = prompt.sync()
    assert summary(report) == ("", "a", "", "")
    assert shown(prompt)["level"] == "1"
    assert any("dsh-prompt.toml" in problem for problem in report.problems)


def test_a_new_version_that_refuses_the_configuration_keeps_the_old(
    site: Site, folder: Path, log: list[str]
) -> None:
    """It is not tried again before the file has changed."""
    prompt, file = configured(site, folder)
    strict = CONFIGURED.replace("level: int = 0", "level: str = ''")
    install(site, "a", "2.0", strict + "note('run')\n")
    for _ in range(2):
        assert "level" in str(prompt.sync().failed["a"])
        assert shown(prompt) == {"a": "1.0", "level": "1"}
    assert log.count("run") == 1
    file.write_text("[plugins.config.a]\nlevel = '2'\n")
    assert summary(prompt.sync()) == ("", "a", "", "")


# What requires what


def test_what_requires_an_uninstalled_plugin_goes_with_it(site: Site, log: list[str]) -> None:
    """It is reported as failed, and comes back with the other."""
    install(site, "b", "1.0", "requires = ('a',)")
    prompt = hosting(site, "a")
    log.clear()
    site.uninstall("dsh-a")
    report = prompt.sync()
    assert summary(report) == ("", "", "a", "b")
    assert "requires" in str(report.failed["b"])
    assert (prompt.plugins, log) == ([], ["-b 1.0", "-a 1.0"])
    install(site, "a")
    assert summary(prompt.sync()) == ("a b", "", "", "")


def test_what_requires_an_upgraded_plugin_is_made_anew_with_it(site: Site, log: list[str]) -> None:
    """The report lists what was upgraded."""
    install(site, "b", "1.0", "requires = ('a',)")
    prompt = hosting(site, "a")
    log.clear()
    install(site, "a", "2.0")
    assert summary(prompt.sync()) == ("", "a", "", "")
    assert log == ["+a 2.0", "+b 1.0", "-b 1.0", "-a 1.0"]


def test_a_plugin_and_what_requires_it_are_upgraded_together(site: Site, log: list[str]) -> None:
    """Each once, whatever the order of their names."""
    install(site, "a", "1.0", "requires = ('b',)")
    prompt = hosting(site, "b")
    log.clear()
    install(site, "a", "2.0", "requires = ('b',)")
    install(site, "b", "2.0")
    report = prompt.sync()
    assert dict(report.failed) == {}
    assert sorted(info.name for info in report.upgraded) == ["a", "b"]
    assert shown(prompt) == {"a": "2.0", "b": "2.0"}
    assert log == ["+b 2.0", "+a 2.0", "-a 1.0", "-b 1.0"]
    assert {info.state for info in prompt.plugins} == {"loaded"}


def test_what_requires_two_upgraded_plugins_is_made_anew_once(site: Site, log: list[str]) -> None:
    """After both of them."""
    install(site, "c", "1.0", "requires = ('a', 'b')")
    prompt = hosting(site, "ab")
    log.clear()
    install(site, "a", "2.0")
    install(site, "b", "2.0")
    assert summary(prompt.sync()) == ("", "a b", "", "")
    assert log == ["+a 2.0", "+b 2.0", "+c 1.0", "-c 1.0", "-b 1.0", "-a 1.0"]
    assert [info.name for info in prompt.plugins] == ["a", "b", "c"]


def test_an_upgrade_that_waited_for_a_dependant_s_is_tried_with_the_next_one(
    site: Site,
) -> None:
    """Its own code did not fail."""
    install(site, "a", "1.0", "requires = ('b',)")
    prompt = hosting(site, "b")
    before = state(prompt)
    install(site, "a", "2.0", "1/0")
    install(site, "b", "2.0")
    assert summary(prompt.sync()) == ("", "", "", "a b")
    assert state(prompt) == before
    install(site, "a", "2.1", "requires = ('b',)")
    report = prompt.sync()
    assert (dict(report.failed), shown(prompt)) == ({}, {"a": "2.1", "b": "2.0"})


def test_an_upgrade_that_does_not_require_the_uninstalled_plugin_any_more_stays(
    site: Site,
) -> None:
    """What was required before does not count."""
    install(site, "b", "1.0", "requires = ('a',)")
    prompt = hosting(site, "a")
    site.uninstall("dsh-a")
    install(site, "b", "2.0")
    assert summary(prompt.sync()) == ("", "b", "a", "")
    assert shown(prompt) == {"b": "2.0"}


def test_an_upgrade_can_require_what_is_installed_at_the_same_time(site: Site) -> None:
    """New plugins are loaded before what requires them."""
    prompt = hosting(site, "a")
    install(site, "a", "2.0", "requires = ('z',)")
    install(site, "z")
    assert summary(prompt.sync()) == ("z", "a", "", "")
    assert shown(prompt) == {"a": "2.0", "z": "1.0"}


# Half-written metadata


def half_written(site: Site, stage: str) -> Callable[[], None]:
    """Bring an upgrade of ``dsh-a`` to a *stage*; gives what completes it."""
    site.uninstall("dsh-a")
    folder = site.folder / "dsh_a-2.0.dist-info"
    folder.mkdir()
    if stage != "folder":
        metadata = "Metadata-Version: 2.1\nName: dsh-a\nVersion: 2.0\n"
        (folder / "METADATA").write_text("" if stage == "empty" else metadata)

    def complete() -> None:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        install(site, "a", "2.0")

    return complete


STAGES = ("folder", "empty", "metadata")


@pytest.mark.parametrize("stage", STAGES)
def test_a_sync_waits_for_an_installer_that_is_at_work(
    site: Site, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """It looks again a little later."""
    prompt = hosting(site, "a")
    complete = half_written(site, stage)
    monkeypatch.setattr(time, "sleep", lambda _: complete())
    report = prompt.sync()
    assert (summary(report), report.problems) == (("", "a", "", ""), ())
    assert shown(prompt) == {"a": "2.0"}


@pytest.mark.parametrize("stage", STAGES)
def test_a_plugin_whose_metadata_stays_half_written_is_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch, log: list[str], stage: str
) -> None:
    """It is a failure, not a removal; the next sync sees the rest."""
    prompt = hosting(site, "a")
    before = state(prompt)
    log.clear()
    complete = half_written(site, stage)
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    report = prompt.sync()
    assert summary(report) == ("", "", "", "a")
    assert "half installed" in str(report.failed["a"])
    assert (state(prompt), log) == (before, [])
    assert 0 < sum(waits) < 2
    complete()
    assert summary(prompt.sync()) == ("", "a", "", "")


@pytest.mark.anyio
async def test_sync_async_lets_others_run_while_it_waits(site: Site) -> None:
    """One of them may be the installer."""
    prompt = hosting(site, "a")
    complete = half_written(site, "folder")

    async def finish() -> None:
        complete()

    async with anyio.create_task_group() as group:
        group.start_soon(finish)
        report = await prompt.sync_async()
    assert summary(report) == ("", "a", "", "")


def test_a_broken_folder_that_nobody_works_on_keeps_nobody_waiting(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a problem, as ever."""
    prompt = hosting(site, "a")
    broken = site.folder / "dsh_old-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_text("[dsh_prompt]\nold = x\n")
    os.utime(broken, (0, 0))
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    report = prompt.sync()
    assert (summary(report), waits) == (("", "", "", ""), [])
    assert any(broken.name in problem for problem in report.problems)


@pytest.mark.parametrize("points", ["[dsh_prompt]\na = ", "[dsh_prompt]\na = dsh_te", None])
def test_what_fails_before_its_record_is_written_is_tried_again(
    site: Site, points: str | None
) -> None:
    """Its code, or its entry points, may not have been there whole."""
    prompt = hosting(site, "a")
    before = state(prompt)
    site.uninstall("dsh-a")
    folder = site.distribution("dsh-a", "2.0", a="dsh_test_a")
    if points is not None:
        (folder / "entry_points.txt").write_text(points)
    assert summary(prompt.sync()) == ("", "", "", "a")
    assert state(prompt) == before
    (folder / "entry_points.txt").write_text("[dsh_prompt]\na = dsh_test_a\n")
    site.module("dsh_test_a", code("a", "2.0"))
    record(folder, "dsh_test_a.py")
    assert summary(prompt.sync()) == ("", "a", "", "")


def test_of_an_old_and_a_new_folder_the_new_one_counts(site: Site) -> None:
    """The problem names the one that an installer left behind."""
    prompt = hosting(site, "a")
    folder = site.distribution("dsh-a", "2.0", a="dsh_test_a")
    site.module("dsh_test_a", code("a", "2.0"))
    record(folder, "dsh_test_a.py")
    report = prompt.sync()
    assert summary(report) == ("", "a", "", "")
    assert any("1.0" in problem for problem in report.problems)
    assert shown(prompt) == {"a": "2.0"}


def test_an_old_folder_with_a_half_written_new_one_keeps_the_plugin(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost while an upgrade is under way."""
    prompt = hosting(site, "a")
    before = state(prompt)
    (site.folder / "dsh_a-2.0.dist-info").mkdir()
    (site.folder / "dsh_a-2.0.dist-info" / "METADATA").write_text("")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert summary(prompt.sync())[:3] == ("", "", "")
    assert state(prompt) == before


def test_an_unreadable_direct_url_harms_nobody(site: Site) -> None:
    """Only the plugin's own modules are asked from it."""
    folder = install(site, "a")
    (folder / "direct_url.json").write_text("{")
    prompt = hosting(site, "b")
    assert shown(prompt) == {"a": "1.0", "b": "1.0"}
    assert prompt.reload("a").state == "loaded"


# Async

ASYNC = "@hookimpl(specname='{hook}')\nasync def wait():\n    note('async {hook}')\n"


def test_sync_reports_an_async_upgrade_and_names_its_twin(site: Site) -> None:
    """The others are upgraded; it is no failure to be remembered."""
    prompt = hosting(site, "ab")
    install(site, "a", "2.0", ASYNC.format(hook="activate"))
    install(site, "b", "2.0")
    report = prompt.sync()
    assert summary(report) == ("", "b", "", "a")
    assert isinstance(report.failed["a"], AsyncProviderError)
    assert "sync_async()" in str(report.failed["a"])
    assert shown(prompt) == {"a": "1.0", "b": "2.0"}


@pytest.mark.anyio
async def test_sync_async_installs_upgrades_and_removes_async_plugins(
    site: Site, log: list[str]
) -> None:
    """As `sync` does with plain ones."""
    both = ASYNC.format(hook="activate") + ASYNC.format(hook="deactivate").replace("wait", "end")
    for name in "ab":
        install(site, name, "1.0", both)
    prompt = SystemPrompt()
    await prompt.load_entry_points_async()
    log.clear()
    install(site, "a", "2.0", both)
    site.uninstall("dsh-b")
    install(site, "c", "1.0", both)
    assert summary(await prompt.sync_async()) == ("c", "a", "b", "")
    assert (log.count("async activate"), log.count("async deactivate")) == (2, 2)


@pytest.mark.anyio
async def test_sync_changes_nothing_where_something_uninstalled_ends_async(
    site: Site, log: list[str]
) -> None:
    """The error names the twin, which then does all of it."""
    install(site, "a", "1.0", ASYNC.format(hook="deactivate"))
    prompt = SystemPrompt()
    await prompt.load_entry_points_async()
    before = state(prompt)
    site.uninstall("dsh-a")
    install(site, "b")
    with pytest.raises(AsyncProviderError, match=r"sync_async\(\)"):
        prompt.sync()
    assert state(prompt) == before
    assert summary(await prompt.sync_async()) == ("b", "", "a", "")
    assert shown(prompt) == {"b": "1.0"}


@pytest.mark.anyio
async def test_what_is_being_reloaded_is_left_to_that(site: Site) -> None:
    """The failure is not one of its code: the next sync tries it."""
    prompt = hosting(site, "a")
    install(site, "a", "2.0", "import anyio\n" + SLOW)
    async with anyio.create_task_group() as group:
        group.start_soon(prompt.reload_async, "a")
        await anyio.wait_all_tasks_blocked()
        report = prompt.sync()
        assert summary(report) == ("", "", "", "a")
        assert "being reloaded" in str(report.failed["a"])
        group.cancel_scope.cancel()
    assert shown(prompt) == {"a": "1.0"}
    install(site, "a", "2.0")
    assert summary(prompt.sync()) == ("", "a", "", "")


SLOW = "@hookimpl(specname='activate')\nasync def wait():\n    await anyio.sleep_forever()\n"
