"""Discovery: installed plugins, found in real metadata, one by one, none trusted to be whole."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AsyncProviderError,
    Config,
    ConfigError,
    InvalidContributionError,
    PluginConflictError,
    PluginInfo,
    PluginLoadError,
    PluginNotFoundError,
    PluginsConfig,
    PromptError,
    SystemPrompt,
    ToolSchema,
)
from tests.sites import CODE, Site, record

if TYPE_CHECKING:
    from pathlib import Path

    from dsh_prompt import ChangeEvent, LoadReport


@pytest.fixture(autouse=True)
def _no_other_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DSH_PROMPT_PLUGINS", raising=False)


def names(report: LoadReport) -> list[str]:
    """Name the plugins that were loaded, in order."""
    return [info.name for info in report.loaded]


def load(prompt: SystemPrompt, *only: str, **options: Any) -> LoadReport:
    """Load the installed plugins called *only*: whatever else is installed stays out."""
    return prompt.load_entry_points(only=only, **options)


# What is found


def test_installed_plugins_are_found_and_loaded(site: Site) -> None:
    """The report describes each, with its distribution."""
    site.plugin("one")
    prompt = SystemPrompt()
    report = prompt.load_entry_points()
    (info,) = [info for info in report.loaded if info.name == "one"]
    assert isinstance(info, PluginInfo)
    assert (info.distribution, info.version, info.state) == ("dsh-one", "1.0", "loaded")
    assert info.contributions == (("variable", "dsh_test_one", None),)
    assert prompt.assemble().variables["dsh_test_one"] == "value"


def test_an_entry_point_names_a_module_a_class_or_an_object(site: Site) -> None:
    """A class is instantiated without arguments, once per load."""
    code = """
from dsh_prompt import hookimpl

class Plugin:
    def __init__(self, name="instance"):
        self.name = name

    @hookimpl
    def contribute_variables(self):
        return {self.name: str(id(self))}

thing = Plugin("thing")
"""
    site.module("dsh_test_things", code)
    site.module("dsh_test_module")
    kinds = {"cls": "dsh_test_things:Plugin", "obj": "dsh_test_things:thing"}
    site.distribution("dsh-things", **kinds, mod="dsh_test_module")
    prompt = SystemPrompt()
    load(prompt, "cls", "mod", "obj")
    first = prompt.assemble().variables
    assert set(first) == {"instance", "thing", "dsh_test_module"}
    for name in ("cls", "obj"):
        prompt.unload(name)
        prompt.load(name)
    assert prompt.assemble().variables["thing"] == first["thing"]


def test_a_plugin_may_stand_in_a_namespace_package(site: Site) -> None:
    """A folder without ``__init__`` is a package too."""
    site.module("dsh_test_space.deep.plugin", CODE.replace("__name__", "'spaced'"))
    site.distribution("dsh-space", spaced="dsh_test_space.deep.plugin")
    prompt = SystemPrompt()
    assert names(load(prompt, "spaced")) == ["spaced"]
    assert prompt.assemble().variables == {"spaced": "value"}


def test_an_installed_plugin_is_loaded_by_name(site: Site) -> None:
    """Also into a scope, under another name, and with a configuration."""
    site.plugin("one")
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    info = prompt.load("one", scope=scope)
    other = prompt.load("one", name="other")
    assert (info.name, info.distribution, info.scope) == ("one", "dsh-one", scope)
    assert (other.name, other.distribution, other.scope) == ("other", "dsh-one", None)


def test_a_plugin_that_is_not_installed_is_not_found(site: Site) -> None:
    """The error names the nearest and lists what is installed."""
    site.plugin("audit")
    with pytest.raises(PluginNotFoundError, match=r'"audti".*did you mean "audit".*installed'):
        SystemPrompt().load("audti")


def test_what_was_contributed_carries_the_distribution(site: Site) -> None:
    """So that an owner can be told with its version."""
    site.plugin("one")
    prompt = SystemPrompt()
    prompt.load("one")
    source = prompt.assemble().source_of("variable", "dsh_test_one")
    assert source is not None
    assert (source.plugin, source.distribution, source.version) == ("one", "dsh-one", "1.0")
    assert source.owner == 'plugin "one" (dsh-one 1.0)'


def test_loading_again_loads_only_what_is_not_loaded(site: Site) -> None:
    """What is there already is neither loaded twice nor an error."""
    site.plugin("one")
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []
    load(prompt, "one")
    prompt.on_change(events.append)
    assert (load(prompt, "one").loaded, events) == ((), [])
    site.plugin("two")
    assert names(load(prompt, "one", "two")) == ["two"]


def test_the_report_has_no_failures_where_nothing_failed(site: Site) -> None:
    """Nor problems, where the metadata is whole."""
    site.plugin("one")
    report = load(SystemPrompt(), "one")
    assert (dict(report.failed), report.problems) == ({}, ())


# Which are chosen


def chosen(site: Site, config: PluginsConfig | None = None, **options: Any) -> set[str]:
    """Tell which of the plugins a, b and c are loaded with *config* and *options*."""
    for name in "abc":
        site.plugin(name)
    prompt = SystemPrompt(Config(plugins=config or PluginsConfig()))
    return set(names(prompt.load_entry_points(**options))) & {"a", "b", "c"}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (PluginsConfig(), "abc"),
        (PluginsConfig(disable=("a",)), "bc"),
        (PluginsConfig(autoload=False), ""),
        (PluginsConfig(autoload=False, enable=("b", "a")), "ab"),
        (PluginsConfig(autoload=False, enable=("a", "b"), disable=("b",)), "a"),
        (PluginsConfig(enable=("a",)), "abc"),
    ],
    ids=["default", "disabled", "none", "enabled", "both", "enabled too"],
)
def test_the_configuration_chooses(site: Site, config: PluginsConfig, expected: str) -> None:
    """With autoload all but the disabled ones, without it only the enabled ones."""
    assert chosen(site, config) == set(expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"only": ["a", "b"]}, "ab"),
        ({"only": ()}, ""),
        ({"block": ["a"]}, "bc"),
        ({"only": ["a", "b"], "block": ["b", "nobody"]}, "a"),
        ({"only": (name for name in "c")}, "c"),
    ],
    ids=["only", "none", "block", "both", "generator"],
)
def test_the_call_chooses(site: Site, options: dict[str, Any], expected: str) -> None:
    """`only` takes the place of the configured choice, `block` takes away."""
    assert chosen(site, **options) == set(expected)


def test_only_reaches_what_is_not_loaded_by_itself(site: Site) -> None:
    """It says what to load, where the configuration says what to load by default."""
    assert chosen(site, PluginsConfig(autoload=False), only=["a"]) == {"a"}


@pytest.mark.parametrize("option", ["only", "block"])
def test_a_lone_name_is_refused(option: str) -> None:
    """A ``str`` is a mistake, not a list of letters."""
    options: dict[str, Any] = {option: "audit"}
    with pytest.raises(InvalidContributionError, match=option):
        SystemPrompt().load_entry_points(**options)


@pytest.mark.parametrize(
    ("value", "expected"), [("a,b", "ab"), (" a , c ,", "ac"), ("nobody", ""), ("c", "c")]
)
def test_the_environment_narrows_the_choice(
    site: Site, monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    """Names that are not installed are no error there: it is a safety switch."""
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", value)
    assert chosen(site) == set(expected)


def test_the_environment_only_narrows(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It enables nothing that configuration or call leave out."""
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "a,b")
    assert chosen(site, PluginsConfig(disable=("a",)), only=["a", "c"]) == set()


@pytest.mark.parametrize(
    ("config", "options", "state", "reason"),
    [
        (PluginsConfig(disable=("a",)), {}, "disabled", "plugins.disable"),
        (PluginsConfig(autoload=False), {}, "disabled", "plugins.autoload"),
        (PluginsConfig(), {"block": ["a"]}, "blocked", "blocked"),
        (PluginsConfig(), {"only": ["b"]}, "blocked", "others"),
    ],
    ids=["disabled", "not enabled", "blocked", "not asked for"],
)
def test_the_report_says_why_an_installed_plugin_is_left_out(
    site: Site, config: PluginsConfig, options: dict[str, Any], state: str, reason: str
) -> None:
    """Nobody has to guess which of the switches it was."""
    site.plugin("a")
    site.plugin("b")
    report = SystemPrompt(Config(plugins=config)).load_entry_points(**options)
    assert report.left_out["a"].state == state
    assert reason in report.left_out["a"].reason


def test_the_report_says_that_the_environment_leaves_a_plugin_out(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A safety switch that is forgotten is hard to find otherwise."""
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "b")
    site.plugin("a")
    report = SystemPrompt().load_entry_points()
    assert "DSH_PROMPT_PLUGINS" in report.left_out["a"].reason


@pytest.mark.parametrize("config", [PluginsConfig(enable=("audti",)), PluginsConfig()])
def test_a_wanted_plugin_that_is_not_installed_is_a_failure(
    site: Site, config: PluginsConfig
) -> None:
    """It is reported with the nearest name, and the others are loaded."""
    site.plugin("audit")
    prompt = SystemPrompt(Config(plugins=config))
    report = prompt.load_entry_points(None if config.enable else ["audti", "audit"])
    assert isinstance(report.failed["audti"], PluginNotFoundError)
    assert 'did you mean "audit"' in str(report.failed["audti"])
    assert "audit" in names(report)


def test_a_plugin_of_that_name_that_is_loaded_already_wins(site: Site) -> None:
    """What a host loaded by hand is not taken over by what is installed."""
    site.plugin("one")
    prompt = SystemPrompt()
    prompt.load(sys.modules[__name__], name="one")
    assert load(prompt, "one").loaded == ()
    with pytest.raises(PluginConflictError):
        prompt.load("one")


def test_a_plugin_of_a_scope_does_not_keep_the_global_one_out(site: Site) -> None:
    """Names are unique in a layer, not in a host."""
    site.plugin("one")
    prompt = SystemPrompt()
    prompt.load("one", scope=prompt.create_scope("agent"))
    assert names(load(prompt, "one")) == ["one"]


# What fails

#: Code of plugins that cannot be loaded, and what their error says.
BROKEN = {
    "missing import": ("import no_such_module_at_all", "ModuleNotFoundError"),
    "syntax": ("def (", "SyntaxError"),
    "raises": ("raise ValueError('mine')", "ValueError: mine"),
    "unknown hook": (CODE.replace("contribute_variables", "contribute_vars"), "unknown hook"),
    "unknown argument": (CODE.replace("()", "(wrong)"), "wrong"),
    "activate": (CODE + "\n@hookimpl\ndef activate(): raise ValueError('mine')\n", "mine"),
    "duplicate": (CODE.replace("__name__", "'dsh_test_fine'"), "already registered"),
    "result": (CODE.replace('{__name__: "value"}', "5"), "mapping"),
    "config": (CODE + "\nConfig = 5\n", "attrs class"),
    "bad name": (CODE.replace("__name__", "'Bad Name'"), "invalid prompt variable name"),
}


@pytest.mark.parametrize(("code", "message"), BROKEN.values(), ids=BROKEN)
def test_a_plugin_that_fails_is_reported_and_the_others_load(
    site: Site, caplog: pytest.LogCaptureFixture, code: str, message: str
) -> None:
    """Nothing of it is left; the log has traceback, plugin and distribution."""
    site.plugin("fine")
    site.plugin("zz_broken", code)
    site.plugin("zzz_last")
    prompt = SystemPrompt()
    report = load(prompt, "fine", "zz_broken", "zzz_last")
    assert names(report) == ["fine", "zzz_last"]
    error = report.failed["zz_broken"]
    assert isinstance(error, PluginLoadError)
    assert (error.plugin, error.distribution) == ("zz_broken", "dsh-zz_broken")
    assert message in str(error)
    assert set(prompt.assemble().variables) == {"dsh_test_fine", "dsh_test_zzz_last"}
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info is not None
    assert "zz_broken" in record.getMessage()
    assert "dsh-zz_broken" in record.getMessage()
    assert record.name.startswith("dsh_prompt")


@pytest.mark.parametrize(
    "value", ["dsh_test_x:missing", "dsh_test_x:a.b", "not a module!", "no_such_module", "5"]
)
def test_an_entry_point_that_leads_nowhere_is_a_failure_of_that_plugin(
    site: Site, value: str
) -> None:
    """Whatever is written there."""
    site.module("dsh_test_x", "")
    site.distribution("dsh-x", broken=value)
    site.plugin("fine")
    report = load(SystemPrompt(), "broken", "fine")
    assert (names(report), list(report.failed)) == (["fine"], ["broken"])


def test_an_entry_point_that_cannot_be_imported_raises_when_it_is_loaded_by_name(
    site: Site,
) -> None:
    """The error names plugin and distribution, and has the cause."""
    site.plugin("broken", "import no_such_module_at_all")
    with pytest.raises(PluginLoadError, match=r'"broken" \(dsh-broken 1\.0\)') as caught:
        SystemPrompt().load("broken")
    assert isinstance(caught.value.__cause__, ImportError)


def test_strict_raises_the_failure_and_loads_nothing(site: Site) -> None:
    """All or nothing, and no event."""
    site.plugin("fine")
    site.plugin("zz_broken", "raise ValueError('mine')")
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    with pytest.raises(PluginLoadError, match="mine"):
        load(prompt, "fine", "zz_broken", strict=True)
    assert (prompt.plugins, prompt.assemble().variables, events) == ([], {}, [])
    assert names(load(prompt, "fine")) == ["fine"]


def test_strict_raises_several_failures_together(site: Site) -> None:
    """In an exception group."""
    site.plugin("a", "raise ValueError('first')")
    site.plugin("b", "raise ValueError('second')")
    with pytest.raises(ExceptionGroup) as caught:
        load(SystemPrompt(), "a", "b", "missing", strict=True)
    assert [getattr(error, "plugin", None) for error in caught.value.exceptions].count(None) == 1
    assert len(caught.value.exceptions) == 3


def test_strict_is_silent_where_nothing_fails(site: Site) -> None:
    """It is an option for hosts that cannot do without."""
    site.plugin("fine")
    assert names(load(SystemPrompt(), "fine", strict=True)) == ["fine"]


@pytest.mark.parametrize("code", ["raise KeyboardInterrupt", "import sys; sys.exit(3)"])
def test_an_interrupt_passes_through_with_the_state_whole(site: Site, code: str) -> None:
    """What was loaded before it in the same call is taken back."""
    site.plugin("fine")
    site.plugin("zz_broken", code)
    prompt = SystemPrompt()
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        load(prompt, "fine", "zz_broken")
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})
    assert names(load(prompt, "fine")) == ["fine"]


def test_a_wrong_configuration_is_a_failure_of_that_plugin(
    site: Site, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The error names file, key and nearest key."""
    code = CODE + "\nimport attrs\n@attrs.define\nclass Config:\n    level: int = 1\n"
    site.plugin("conf", code)
    site.plugin("fine")
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.conf]\nlevle = 1\n")
    prompt = SystemPrompt(Config.load(file))
    report = load(prompt, "conf", "fine")
    error = report.failed["conf"]
    assert isinstance(error, ConfigError)
    assert (error.file, error.path) == (str(file), "plugins.config.conf.levle")
    assert 'did you mean "level"' in str(error)
    assert names(report) == ["fine"]


def test_a_wrong_configuration_is_logged_with_its_distribution(
    site: Site, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As every other failure of a plugin is."""
    site.plugin("conf", CODE + "\nimport attrs\n@attrs.define\nclass Config: ...\n")
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.conf]\nlevel = 1\n")
    load(SystemPrompt(Config.load(file)), "conf")
    assert "dsh-conf" in "".join(record.getMessage() for record in caplog.records)


ASYNC = CODE + "\n@hookimpl\nasync def activate(ctx):\n    ctx.variable('active', 'value')\n"


def test_an_async_plugin_is_reported_by_the_synchronous_call(site: Site) -> None:
    """The error names the twin, and the others are loaded."""
    site.plugin("async_one", ASYNC)
    site.plugin("fine")
    report = load(SystemPrompt(), "async_one", "fine")
    assert isinstance(report.failed["async_one"], AsyncProviderError)
    assert "load_entry_points_async()" in str(report.failed["async_one"])
    assert names(report) == ["fine"]


@pytest.mark.anyio
async def test_an_async_plugin_is_loaded_by_the_async_twin(site: Site) -> None:
    """Beside plain ones, with the same options."""
    site.plugin("async_one", ASYNC)
    site.plugin("fine")
    site.plugin("zz_broken", "raise ValueError('mine')")
    prompt = SystemPrompt()
    report = await prompt.load_entry_points_async(["async_one", "fine", "zz_broken"], block=())
    assert (names(report), list(report.failed)) == (["async_one", "fine"], ["zz_broken"])
    assert prompt.assemble().variables["active"] == "value"
    with pytest.raises(PromptError):
        await prompt.load_entry_points_async(["zz_broken"], strict=True)


def test_a_plugin_that_turns_out_async_is_reported_by_the_synchronous_call(site: Site) -> None:
    """A ``def activate`` that returns an awaitable is contained like an ``async def``."""
    site.plugin(
        "async_one",
        CODE + "\nimport asyncio\n@hookimpl\ndef activate(): return asyncio.sleep(0)\n",
    )
    site.plugin("fine")
    report = load(SystemPrompt(), "async_one", "fine")
    assert (names(report), list(report.failed)) == (["fine"], ["async_one"])


def test_a_plugin_that_disposes_itself_is_reported_and_the_others_load(site: Site) -> None:
    """It stops nobody else, and no name stays taken."""
    site.plugin("fine")
    quitting = "from dsh_prompt import hookimpl\n@hookimpl\ndef activate(ctx): ctx.dispose()\n"
    site.plugin("zz_quits", quitting)
    prompt = SystemPrompt()
    report = load(prompt, "fine", "zz_quits")
    assert (names(report), list(report.failed)) == (["fine"], ["zz_quits"])


# One event


def test_all_that_one_call_loads_is_one_event_and_one_generation(site: Site) -> None:
    """It lists the plugins and what they brought."""
    for name in "ab":
        site.plugin(name)
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    before = prompt.assemble().generation or 0
    load(prompt, "a", "b")
    (event,) = events
    assert (event.kind, event.plugin, event.scope, event.removed) == ("loaded", None, None, ())
    assert set(event.added) == {
        ("plugin", "a", None),
        ("plugin", "b", None),
        ("variable", "dsh_test_a", None),
        ("variable", "dsh_test_b", None),
    }
    assert event.generation == prompt.assemble().generation == before + 1


def test_no_event_is_fired_where_nothing_could_be_loaded(site: Site) -> None:
    """A failure changes nothing."""
    site.plugin("broken", "raise ValueError('mine')")
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    load(prompt, "broken", "missing")
    assert events == []


def test_a_listener_that_raises_takes_the_whole_call_back(site: Site) -> None:
    """Its error goes to the caller; who had been told is told of the withdrawal."""
    for name in "ab":
        site.plugin(name)
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "loaded":
            raise ValueError("mine")

    prompt.on_change(events.append)
    prompt.on_change(refuse)
    with pytest.raises(ValueError, match="mine"):
        load(prompt, "a", "b")
    assert [event.kind for event in events] == ["loaded", "withdrawn"]
    assert events[1].removed == events[0].added
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


# The block in the order


def listening_plugin(site: Site, name: str) -> None:
    """Install a plugin whose listener notes its name in a variable, and offers a tool."""
    code = f"""
from dsh_prompt import ToolSchema, hookimpl

@hookimpl
def contribute_tools():
    return lambda: [ToolSchema("same", "{name}", {{}})]

@hookimpl
def system_prompt_assemble(assembly):
    assembly.variables["order"] = (assembly.variables.get("order") or "") + "{name} "
"""
    site.plugin(name, code)


def order(prompt: SystemPrompt) -> tuple[str, str]:
    """Give the order of the listeners, and that of the tool providers."""
    assembly = prompt.assemble()
    tools = " ".join(tool.description for tool in assembly.tools)
    return (assembly.variables.get("order") or "").strip(), tools


def by_hand(prompt: SystemPrompt, name: str) -> None:
    """Register a listener and a provider as those of a listening plugin are."""

    def listener(assembly: Any) -> None:
        assembly.variables["order"] = (assembly.variables.get("order") or "") + f"{name} "

    prompt.on_assemble(listener)
    prompt.tools(lambda: [ToolSchema("same", name, {})])


def test_entry_point_plugins_form_one_block_sorted_by_name(site: Site) -> None:
    """It stands where the first was loaded, whenever and however the others are."""
    for name in "abcd":
        listening_plugin(site, name)
    prompt = SystemPrompt()
    by_hand(prompt, "first")
    prompt.load("c")
    by_hand(prompt, "middle")
    load(prompt, "d", "b")
    by_hand(prompt, "last")
    prompt.load("a")
    assert order(prompt) == ("first a b c d middle last",) * 2


def test_the_block_keeps_its_place_while_it_has_a_plugin(site: Site) -> None:
    """Only when the last has gone, a new one stands where it is loaded."""
    for name in "ab":
        listening_plugin(site, name)
    prompt = SystemPrompt()
    prompt.load("a")
    by_hand(prompt, "middle")
    prompt.load("b")
    prompt.unload("a")
    assert order(prompt) == ("b middle",) * 2
    prompt.load("a")
    assert order(prompt) == ("a b middle",) * 2
    prompt.unload("a")
    prompt.unload("b")
    prompt.load("a")
    assert order(prompt) == ("middle a",) * 2


def test_the_order_of_loading_does_not_depend_on_the_order_of_the_path(
    folder: Path, site: Site
) -> None:
    """Where nobody asks for an order, plugins are loaded by name."""
    other = Site(folder / "other")
    sys.path.insert(0, str(other.folder))
    listening_plugin(site, "a")
    listening_plugin(other, "c")
    listening_plugin(site, "b")
    prompt = SystemPrompt()
    report = prompt.load_entry_points()
    assert [name for name in names(report) if name in "abc"] == ["a", "b", "c"]


# Broken and doubled metadata


def test_two_dist_info_folders_of_one_distribution_are_a_problem(site: Site) -> None:
    """One is used, the newest, whatever the order of the folders; the other is named."""
    site.plugin("one")
    site.distribution("dsh-one", "1.10", one="dsh_test_one")
    site.distribution("dsh-one", "1.9", one="dsh_test_one")
    report = load(SystemPrompt(), "one")
    assert [info.version for info in report.loaded] == ["1.10"]
    assert len(report.problems) == 2
    for version in ("1.0", "1.9"):
        assert any(version in problem and "dsh-one" in problem for problem in report.problems)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9", "1.10"),
        ("1.0", "1.0.1"),
        ("1.0rc1", "1.0"),
        ("0.9", "1.0"),
        ("nightly", "0.1"),
    ],
)
def test_the_newest_of_several_versions_is_used(site: Site, older: str, newer: str) -> None:
    """That is the one that was installed last, of an upgrade that went wrong."""
    for version in (newer, older):
        site.distribution("dsh-one", version, one="dsh_test_one")
    site.module("dsh_test_one")
    report = load(SystemPrompt(), "one")
    assert [info.version for info in report.loaded] == [newer]


def test_of_two_folders_on_the_path_the_first_counts(folder: Path, site: Site) -> None:
    """It is the one whose code Python imports, newer or not."""
    far = Site(folder / "far")
    sys.path.append(str(far.folder))
    site.plugin("one", version="1.0")
    far.plugin("one", version="2.0")
    report = load(SystemPrompt(), "one")
    assert [info.version for info in report.loaded] == ["1.0"]
    assert any("2.0" in problem for problem in report.problems)


def test_one_folder_that_is_on_the_path_twice_is_no_problem(site: Site) -> None:
    """There is one dist-info folder, and nothing to uninstall."""
    site.plugin("one")
    sys.path.append(str(site.folder))
    report = load(SystemPrompt(), "one")
    assert (names(report), report.problems) == (["one"], ())


def test_of_two_distributions_with_one_name_the_first_by_name_is_used(site: Site) -> None:
    """The problem names both, with their versions, and the way out."""
    site.module("dsh_test_one")
    site.distribution("dsh-zeta", "1.0", one="dsh_test_one")
    site.distribution("dsh-Alpha", "2.0", one="dsh_test_one")
    report = load(SystemPrompt(), "one")
    assert [info.distribution for info in report.loaded] == ["dsh-Alpha"]
    (problem,) = report.problems
    for word in ("one", "dsh-Alpha 2.0", "dsh-zeta 1.0", "uninstall"):
        assert word in problem


def test_problems_are_logged_as_warnings(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """Each once per call."""
    site.module("dsh_test_one")
    site.distribution("dsh-b", one="dsh_test_one")
    site.distribution("dsh-a", one="dsh_test_one")
    report = load(SystemPrompt(), "one")
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert warnings == list(report.problems)


def break_metadata(folder: Path, how: str) -> None:
    """Damage the dist-info *folder*."""
    metadata, points = folder / "METADATA", folder / "entry_points.txt"
    if how == "missing":
        metadata.unlink()
    elif how == "folder":
        metadata.unlink()
        metadata.mkdir()
    elif how == "empty":
        metadata.write_text("")
    elif how == "bytes":
        metadata.write_bytes(b"Name: x\nVersion: 1\nSummary: \xff\xfe\n")
    elif how == "no version":
        metadata.write_text("Metadata-Version: 2.1\nName: dsh-broken\n")
    elif how == "no name":
        metadata.write_text("Metadata-Version: 2.1\nVersion: 1.0\n")
    elif how == "points":
        points.write_text("[dsh_prompt]\nnonsense\n")
    else:
        points.write_bytes(b"[dsh_prompt]\nbroken\xff = x\n")


WAYS_TO_BREAK = (
    "missing",
    "folder",
    "empty",
    "bytes",
    "no version",
    "no name",
    "points",
    "point bytes",
)


@pytest.mark.parametrize("how", WAYS_TO_BREAK)
def test_metadata_that_cannot_be_read_is_a_problem_and_hides_nobody(site: Site, how: str) -> None:
    """The problem names the folder; the other plugins are loaded."""
    site.plugin("fine")
    broken = site.plugin("broken")
    break_metadata(broken, how)
    report = load(SystemPrompt(), "fine")
    assert names(report) == ["fine"]
    assert any(broken.name in problem for problem in report.problems)


@pytest.mark.parametrize("how", WAYS_TO_BREAK)
def test_a_half_written_second_folder_hides_nobody(site: Site, how: str) -> None:
    """An upgrade under way, or one that was interrupted, leaves the installed one usable."""
    site.plugin("fine")
    site.plugin("broken")
    half = site.distribution("dsh-broken", "1.1", broken="dsh_test_broken")
    break_metadata(half, how)
    report = load(SystemPrompt(), "fine", "broken")
    assert sorted(names(report)) == ["broken", "fine"]
    assert any(half.name in problem for problem in report.problems)


def test_the_choice_is_the_same_every_time(site: Site) -> None:
    """Whatever order the file system lists the folders in."""
    site.module("dsh_test_one")
    for name in ("dsh-c", "dsh-a", "dsh-b"):
        for version in ("1.0", "2.0"):
            site.distribution(name, version, one="dsh_test_one")
    reports = [load(SystemPrompt(), "one") for _ in range(3)]
    assert {report.problems for report in reports} == {reports[0].problems}
    assert {(i.distribution, i.version) for r in reports for i in r.loaded} == {("dsh-a", "2.0")}


def test_what_is_installed_later_is_found_by_the_next_call(site: Site) -> None:
    """Nothing is remembered between calls."""
    prompt = SystemPrompt()
    with pytest.raises(PluginNotFoundError):
        prompt.load("one")
    site.plugin("one")
    assert prompt.load("one").state == "loaded"


# Modules of a distribution


def test_a_purge_removes_the_modules_that_the_distribution_record(site: Site) -> None:
    """All of them and no others, wherever the entry point leads."""
    site.module("dsh_test_helper", "")
    site.module("dsh_test_stranger", "")
    code = "import dsh_test_helper, dsh_test_stranger\n" + CODE
    record(site.plugin("one", code), "dsh_test_one.py", "dsh_test_helper.py")
    prompt = SystemPrompt()
    prompt.load("one")
    prompt.unload("one", purge=True)
    assert not {"dsh_test_one", "dsh_test_helper"} & set(sys.modules)
    assert "dsh_test_stranger" in sys.modules


def test_a_purge_leaves_modules_that_another_plugin_of_the_distribution_uses(site: Site) -> None:
    """The last one that goes takes them with it."""
    site.module("dsh_test_a")
    site.module("dsh_test_b")
    folder = site.distribution("dsh-two", a="dsh_test_a", b="dsh_test_b")
    record(folder, "dsh_test_a.py", "dsh_test_b.py")
    prompt = SystemPrompt()
    load(prompt, "a", "b")
    prompt.unload("a", purge=True)
    assert "dsh_test_b" in sys.modules
    prompt.unload("b", purge=True)
    assert "dsh_test_b" not in sys.modules
