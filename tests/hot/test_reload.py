"""Reload: new code is tried beside the old, takes its place whole, or leaves it alone."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import shutil
import sys
import threading
import weakref
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AsyncProviderError,
    Config,
    DisposableContext,
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
    SystemPrompt,
    hookimpl,
    render_prompt,
)
from tests.sites import Site, record

if TYPE_CHECKING:
    from dsh_prompt import ChangeEvent, PromptAssembly, Scope

HEAD = "from dsh_prompt import PromptSection, ToolSchema, hookimpl\nimport builtins\n"

#: A plugin that notes its life in ``builtins.dsh_test_log``, as the names of its version.
CODE = (
    HEAD
    + """
VERSION = "one"

@hookimpl
def activate(ctx):
    ctx.callback(note, VERSION + " callback")
    ctx.variable("v", VERSION)
    note(VERSION + " activate")

@hookimpl
def contribute_sections():
    return [PromptSection("s", 1, "section {{v}}")]

@hookimpl
def deactivate():
    note(VERSION + " deactivate")

def note(text):
    getattr(builtins, "dsh_test_log", []).append(text)
"""
)
NEW = CODE.replace('"one"', '"two"')


def variable(text: str) -> str:
    """Give the code of a plugin whose variable ``v`` is *text*."""
    return f"{HEAD}\n@hookimpl\ndef contribute_variables():\n    return {{'v': {text!r}}}\n"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the list in which the plugins note their lives."""
    import builtins  # noqa: PLC0415 - the one place that all code sees

    noted: list[str] = []
    monkeypatch.setattr(builtins, "dsh_test_log", noted, raising=False)
    return noted


@pytest.fixture
def prompt(site: Site) -> SystemPrompt:
    """Give a host with the plugin ``p``, a package of a distribution of its own."""
    install(site)
    prompt = SystemPrompt()
    prompt.load("p")
    return prompt


def install(site: Site, version: str = "1.0", code: str = CODE, helper: str = "") -> None:
    """Install ``dsh-p``, a package of three modules."""
    files = {
        "dsh_test_p.__init__": "",
        "dsh_test_p.helper": helper,
        "dsh_test_p.plugin": "from dsh_test_p import helper\n" + code,
    }
    site.install("dsh-p", version, files, p="dsh_test_p.plugin")


def edit(site: Site, code: str, module: str = "dsh_test_p.plugin") -> Path:
    """Write new code for a module."""
    return site.module(module, code)


def state(prompt: SystemPrompt) -> dict[str, Any]:
    """Give all that a host shows, and the modules of the tests."""
    modules = {name: one for name, one in sys.modules.items() if name.startswith("dsh_test_")}
    document = prompt.assemble().to_dict()
    document.pop("generation", None)
    return {"assembly": document, "plugins": prompt.plugins, "modules": modules}


def v_of(assembly: PromptAssembly) -> str | None:
    """Give the variable ``v`` of an assembly."""
    return assembly.variables.get("v")


def v(prompt: SystemPrompt, scope: Scope | None = None) -> str | None:
    """Give the variable ``v``."""
    return v_of(prompt.assemble(scope=scope))


# New code


def test_reload_runs_the_code_that_is_on_disk_now(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """The description is the new plugin's."""
    edit(site, NEW)
    info = prompt.reload("p")
    assert (v(prompt), prompt.plugins, info.state) == ("two", [info], "loaded")
    assert prompt.assemble().sections[-1].text == "section {{v}}"


def test_the_new_plugin_is_activated_before_the_old_one_ends(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """Hooks of the old one run before its callbacks, once each."""
    edit(site, NEW)
    prompt.reload("p")
    assert log == ["two activate", "one deactivate", "one callback"]


def test_a_reload_is_one_event_and_one_generation(site: Site, prompt: SystemPrompt) -> None:
    """It names the plugin and lists what came and went."""
    edit(site, NEW.replace('"s"', '"new"'))
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    before = prompt.assemble().generation or 0
    prompt.reload("p")
    (event,) = events
    assert (event.kind, event.plugin, event.scope) == ("reloaded", "p", None)
    assert set(event.added) == {("variable", "v", None), ("section", "new", None)}
    assert set(event.removed) == {("variable", "v", None), ("section", "s", None)}
    assert event.generation == prompt.assemble().generation == before + 1


def test_a_listener_that_is_told_of_the_reload_sees_the_new_plugin_alone(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """The old one has not been wound down yet."""
    edit(site, NEW)
    seen: list[object] = []

    def look(event: ChangeEvent) -> None:
        seen.append((v(prompt), [*log]))

    prompt.on_change(look)
    prompt.reload("p")
    assert seen == [("two", ["two activate"])]


def test_reload_imports_the_submodules_anew_and_nothing_else(
    site: Site, prompt: SystemPrompt
) -> None:
    """What other distributions and nobody recorded keeps its identity."""
    site.install("dsh-other", "1.0", {"dsh_test_other": variable("x")}, other="dsh_test_other")
    site.module("dsh_test_nobodys", "")
    edit(site, NEW + "import attrs, dsh_test_other, dsh_test_nobodys\n")
    prompt.reload("p")
    before = dict(sys.modules)
    edit(site, "VERSION = 'helped'\n", "dsh_test_p.helper")
    edit(site, CODE + "from dsh_test_p.helper import VERSION\n")
    prompt.reload("p")
    assert v(prompt) == "helped"
    new = {name for name, module in sys.modules.items() if before.get(name) is not module}
    assert new == {"dsh_test_p", "dsh_test_p.plugin", "dsh_test_p.helper"}


def test_submodules_that_only_the_new_code_has_are_imported(
    site: Site, prompt: SystemPrompt
) -> None:
    """And those that only the old one had are gone from the process."""
    files = {"dsh_test_p.__init__": "", "dsh_test_p.plugin": "from dsh_test_p.more import *\n"}
    site.install(
        "dsh-p", "2.0", {**files, "dsh_test_p.more": variable("more")}, p="dsh_test_p.plugin"
    )
    assert prompt.reload("p").version == "2.0"
    assert v(prompt) == "more"
    assert "dsh_test_p.helper" not in sys.modules


@pytest.mark.parametrize("kind", ["timestamp", "unchecked-hash"])
def test_an_edit_of_the_same_size_in_the_same_second_counts(
    site: Site, log: list[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Python takes its cached byte code for current."""
    import py_compile  # noqa: PLC0415 - for this test alone

    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    install(site, helper="VERSION = 'one'")
    prompt = SystemPrompt()
    prompt.load("p")
    for module in ("dsh_test_p.helper", "dsh_test_p.plugin"):
        file = Path(sys.modules[module].__file__ or "")
        cached = Path(importlib.util.cache_from_source(str(file)))
        assert cached.exists()
        mode = py_compile.PycInvalidationMode({"timestamp": 1, "unchecked-hash": 3}[kind])
        py_compile.compile(str(file), invalidation_mode=mode)
        before = file.stat()
        file.write_text(file.read_text().replace("one", "two"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    prompt.reload("p")
    assert v(prompt) == "two"
    assert sys.modules["dsh_test_p.helper"].VERSION == "two"


def test_a_fix_of_a_new_module_counts_though_a_reload_failed_in_the_same_second(
    site: Site, prompt: SystemPrompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failed attempt leaves no byte code behind that the next one would take."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = next(site.folder.glob("dsh_p-*.dist-info"))
    files = [f"dsh_test_p/{name}.py" for name in ("__init__", "helper", "plugin", "added")]
    record(folder, *files)
    added = edit(site, "VERSION = 1/0", "dsh_test_p.added")
    before = added.stat()
    edit(site, CODE + "from dsh_test_p.added import VERSION\nVERSION = str(VERSION)\n")
    with pytest.raises(PluginLoadError, match="ZeroDivisionError"):
        prompt.reload("p")
    added.write_text("VERSION = 1/1")
    os.utime(added, ns=(before.st_atime_ns, before.st_mtime_ns))
    prompt.reload("p")
    assert v(prompt) == "1.0"


def test_reload_takes_the_version_that_is_installed_now(site: Site, prompt: SystemPrompt) -> None:
    """The sources carry it as well."""
    install(site, "1.1", NEW)
    assert prompt.reload("p").version == "1.1"
    source = prompt.assemble().source_of("variable", "v")
    assert source is not None
    assert source.version == "1.1"


def test_a_plugin_under_a_name_of_the_host_s_own_is_reloaded(site: Site, log: list[str]) -> None:
    """It keeps that name."""
    install(site)
    prompt = SystemPrompt()
    prompt.load("p", name="mine")
    install(site, "2.0", NEW)
    info = prompt.reload("mine")
    assert (info.name, info.version, v(prompt)) == ("mine", "2.0", "two")


def test_new_code_may_do_less(site: Site, prompt: SystemPrompt) -> None:
    """What the old one contributed is gone with it."""
    edit(site, HEAD + "@hookimpl\ndef deactivate(): ...\n")
    info = prompt.reload("p")
    assert (info.hooks, info.contributions, v(prompt)) == (("deactivate",), (), None)


def test_a_plugin_can_be_reloaded_many_times(site: Site, prompt: SystemPrompt) -> None:
    """Nothing of the former ones stays."""
    for index in range(3):
        edit(site, CODE.replace('"one"', f'"{index}"'))
        prompt.reload("p")
        assert v(prompt) == str(index)
    assert len(prompt.plugins) == 1
    prompt.unload("p")
    assert (prompt.plugins, v(prompt)) == ([], None)


def test_what_is_not_loaded_cannot_be_reloaded(site: Site, prompt: SystemPrompt) -> None:
    """The error names the nearest."""
    with pytest.raises(PluginNotFoundError, match='did you mean "p"'):
        prompt.reload("pp")
    with pytest.raises(PluginNotFoundError):
        prompt.reload("p", scope=prompt.create_scope("agent"))


def test_a_plugin_that_was_uninstalled_cannot_be_reloaded(site: Site, prompt: SystemPrompt) -> None:
    """It goes on working; the error says what is missing."""
    site.uninstall("dsh-p")
    before = state(prompt)
    with pytest.raises(PluginLoadError, match=r'"p" is installed.*old code stays'):
        prompt.reload("p")
    assert state(prompt) == before


# Where the modules stand


def editable(folder: Path, site: Site) -> Site:
    """Install ``dsh-p`` as a link to a project, with an environment below the project."""
    project = folder / "project"
    sources = Site(project)
    sys.path.insert(0, str(project))
    sources.module("dsh_test_p.__init__", "")
    sources.module("dsh_test_p.plugin", CODE)
    sources.module("dsh_test_p.helper", "")
    site.editable("dsh-p", "1.0", project, p="dsh_test_p.plugin")
    return sources


def test_an_editable_installation_is_reloaded_from_its_project(folder: Path, site: Site) -> None:
    """Its record lists no sources."""
    sources = editable(folder, site)
    prompt = SystemPrompt()
    prompt.load("p")
    sources.module("dsh_test_p.helper", "VERSION = 'helped'")
    sources.module("dsh_test_p.plugin", CODE + "from dsh_test_p.helper import VERSION\n")
    prompt.reload("p")
    assert v(prompt) == "helped"
    sources.module("dsh_test_p.helper", "VERSION = 'again!'")
    prompt.reload("p")
    assert v(prompt) == "again!"


def test_an_environment_below_the_project_is_not_the_project_s(folder: Path, site: Site) -> None:
    """Also where it has modules in a namespace of the same name."""
    environment = Site(_made(folder / "project" / ".venv" / "lib" / "site-packages"))
    sys.path.insert(0, str(environment.folder))
    environment.module("dsh_test_ns.theirs", "")
    sources = Site(folder / "project")
    sys.path.insert(0, str(sources.folder))
    sources.module("dsh_test_ns.ours", "import dsh_test_ns.theirs\n" + CODE)
    site.editable("dsh-ns", "1.0", sources.folder, p="dsh_test_ns.ours")
    prompt = SystemPrompt()
    prompt.load("p")
    theirs, ours = sys.modules["dsh_test_ns.theirs"], sys.modules["dsh_test_ns.ours"]
    prompt.reload("p")
    assert sys.modules["dsh_test_ns.theirs"] is theirs
    assert sys.modules["dsh_test_ns.ours"] is not ours


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def namespace(site: Site) -> SystemPrompt:
    """Load two plugins whose modules stand in one namespace, of two distributions."""
    for name in ("a", "b"):
        module = f"dsh_test_ns.{name}"
        site.install(
            f"dsh-{name}",
            "1.0",
            {module: variable(name).replace("'v'", f"'{name}'")},
            **{name: module},
        )
    prompt = SystemPrompt()
    prompt.load("a")
    prompt.load("b")
    return prompt


def test_in_a_namespace_the_modules_of_others_stay(site: Site) -> None:
    """The namespace itself does too, and has the new module as its attribute."""
    prompt = namespace(site)
    space, other = sys.modules["dsh_test_ns"], sys.modules["dsh_test_ns.b"]
    site.module("dsh_test_ns.a", variable("new").replace("'v'", "'a'"))
    prompt.reload("a")
    assert prompt.assemble().variables == {"a": "new", "b": "b"}
    assert (sys.modules["dsh_test_ns"], sys.modules["dsh_test_ns.b"]) == (space, other)
    assert vars(space)["a"] is sys.modules["dsh_test_ns.a"]


def test_in_a_namespace_a_failure_puts_the_old_module_back(site: Site) -> None:
    """Into ``sys.modules``, and where the namespace has it."""
    prompt = namespace(site)
    old = sys.modules["dsh_test_ns.a"]
    site.module("dsh_test_ns.a", "1/0")
    with pytest.raises(PluginLoadError):
        prompt.reload("a")
    assert sys.modules["dsh_test_ns.a"] is old
    assert vars(sys.modules["dsh_test_ns"])["a"] is old


def test_an_editable_namespace_stays_wherever_the_process_works(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package without a file does not stand in the working directory."""
    project = Site(folder / "project")
    sys.path.insert(0, str(project.folder))
    project.module("dsh_test_ns.p", CODE)
    site.editable("dsh-p", "1.0", project.folder, p="dsh_test_ns.p")
    site.install("dsh-b", "1.0", {"dsh_test_ns.b": variable("b")}, b="dsh_test_ns.b")
    prompt = SystemPrompt()
    prompt.load("p")
    importlib.import_module("dsh_test_ns.b")
    space = sys.modules["dsh_test_ns"]
    monkeypatch.chdir(_made(project.folder / "below"))
    prompt.reload("p")
    assert sys.modules["dsh_test_ns"] is space


def test_a_package_that_hides_its_module_behind_a_name_keeps_hiding_it(
    site: Site, log: list[str]
) -> None:
    """After a failure the old package is just as it was."""
    files = {
        "dsh_test_p.__init__": "from dsh_test_p.plugin import plugin\n",
        "dsh_test_p.plugin": CODE + "\ndef plugin():\n    return 1\n",
    }
    site.install("dsh-p", "1.0", files, p="dsh_test_p.plugin")
    prompt = SystemPrompt()
    prompt.load("p")
    package = sys.modules["dsh_test_p"]
    before = dict(vars(package))
    edit(site, "1/0")
    with pytest.raises(PluginLoadError):
        prompt.reload("p")
    assert vars(package) == before


@pytest.fixture
def extension(site: Site) -> str:
    """Put a real C extension into the package ``dsh_test_p``, and give the name of its file."""
    for name in ("_bisect", "_heapq", "_struct", "_json"):
        file = Path(getattr(importlib.import_module(name), "__file__", None) or "")
        if file.name.endswith(tuple(EXTENSION_SUFFIXES)):
            _made(site.folder / "dsh_test_p")
            shutil.copy(file, site.folder / "dsh_test_p")
            return file.name
    pytest.skip("this Python has no C extension that is a file")


def install_extension(site: Site, extension: str, version: str, code: str = CODE) -> str:
    """Install ``dsh-p`` with the C extension, and give the name of that module."""
    module = f"dsh_test_p.{extension.partition('.')[0]}"
    kept = (site.folder / "dsh_test_p" / extension).read_bytes()
    code = f"import {module}\n" + code + f"SPEED = {module}\n"
    files = {"dsh_test_p.__init__": "", "dsh_test_p.plugin": code}
    folder = site.install("dsh-p", version, files, p="dsh_test_p.plugin")
    (site.folder / "dsh_test_p" / extension).write_bytes(kept)
    with (folder / "RECORD").open("a") as lines:
        lines.write(f"dsh_test_p/{extension},,\n")
    return module


def test_a_c_extension_stays_and_the_rest_is_reloaded(site: Site, extension: str) -> None:
    """Python cannot load one twice; the new code uses the one that there is."""
    module = install_extension(site, extension, "1.0")
    prompt = SystemPrompt()
    prompt.load("p")
    old = sys.modules[module]
    edit(site, f"import {module}\n{NEW}\nSPEED = {module}\n")
    prompt.reload("p")
    assert v(prompt) == "two"
    assert sys.modules[module] is sys.modules["dsh_test_p.plugin"].SPEED is old


def test_sync_refuses_to_upgrade_a_c_extension(site: Site, extension: str) -> None:
    """It would be half old and half new."""
    module = install_extension(site, extension, "1.0")
    prompt = SystemPrompt()
    prompt.load("p")
    install_extension(site, extension, "2.0", NEW)
    report = prompt.sync()
    assert module in str(report.failed["p"])
    assert (v(prompt), prompt.plugins[0].version) == ("one", "1.0")


def test_code_that_another_host_uses_is_kept_with_a_warning(
    site: Site, prompt: SystemPrompt, log: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The plugin itself is made anew, from the code that there is."""
    other = SystemPrompt()
    other.load("p")
    log.clear()
    before = sys.modules["dsh_test_p.plugin"]
    edit(site, NEW)
    prompt.reload("p")
    assert (v(prompt), v(other)) == ("one", "one")
    assert sys.modules["dsh_test_p.plugin"] is before
    assert log == ["one activate", "one deactivate", "one callback"]
    (record,) = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert 'plugin "p" (dsh-p 1.0)' in record.getMessage()
    other.dispose()
    prompt.reload("p")
    assert v(prompt) == "two"


# Plugins that are not installed


def test_a_module_is_imported_again(site: Site, log: list[str]) -> None:
    """With all below it."""
    site.module("dsh_test_m.__init__", CODE + "from dsh_test_m.sub import VERSION\n")
    site.module("dsh_test_m.sub", "VERSION = 'first'")
    prompt = SystemPrompt()
    prompt.load(importlib.import_module("dsh_test_m"), name="m")
    assert v(prompt) == "first"
    site.module("dsh_test_m.sub", "VERSION = 'second'")
    prompt.reload("m")
    assert v(prompt) == "second"


def test_a_class_is_found_again_in_its_module(site: Site) -> None:
    """Also one that stands in another class."""
    code = HEAD + (
        "class Outer:\n    class Plugin:\n        @hookimpl\n"
        "        def contribute_variables(self):\n            return {'v': 'first'}\n"
    )
    site.module("dsh_test_c", code)
    prompt = SystemPrompt()
    prompt.load(importlib.import_module("dsh_test_c").Outer.Plugin)
    site.module("dsh_test_c", code.replace("first", "second"))
    prompt.reload("Plugin")
    assert v(prompt) == "second"


def test_a_class_that_is_gone_leaves_the_old_one(site: Site) -> None:
    """The error says what is missing."""
    code = HEAD + (
        "class Plugin:\n    @hookimpl\n"
        "    def contribute_variables(self):\n        return {'v': 'first'}\n"
    )
    site.module("dsh_test_c", code)
    prompt = SystemPrompt()
    prompt.load(importlib.import_module("dsh_test_c").Plugin)
    site.module("dsh_test_c", code.replace("Plugin", "Other"))
    before = state(prompt)
    with pytest.raises(PluginLoadError, match="'Plugin'"):
        prompt.reload("Plugin")
    assert state(prompt) == before


def test_a_local_class_is_instantiated_anew() -> None:
    """There is nothing to import."""
    made: list[object] = []

    class Local:
        def __init__(self) -> None:
            made.append(self)

        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            return {"v": str(len(made))}

    prompt = SystemPrompt()
    prompt.load(Local)
    prompt.reload("Local")
    assert v(prompt) == "2"


def test_an_object_is_activated_again() -> None:
    """As the same object: the host cannot make another one."""

    class Plugin:
        def __init__(self) -> None:
            self.log: list[str] = []

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            self.log.append("activate")
            ctx.callback(self.log.append, "callback")

        @hookimpl
        def deactivate(self) -> None:
            self.log.append("deactivate")

    plugin = Plugin()
    prompt = SystemPrompt()
    prompt.load(plugin)
    prompt.reload("Plugin")
    assert plugin.log == ["activate", "activate", "deactivate", "callback"]
    assert len(prompt.plugins) == 1


# Its place


def listening(name: str, text: str | None = None) -> str:
    """Give the code of a plugin that notes its turn in every order that there is."""
    return f"""{HEAD}
@hookimpl
def contribute_tools():
    return lambda: [ToolSchema("same", "{text or name}", {{}})]

@hookimpl
def system_prompt_assemble(assembly):
    assembly.variables["order"] = (assembly.variables.get("order") or "") + "{text or name} "

@hookimpl
def system_prompt_change(event):
    builtins.dsh_test_log.append("{text or name}")
"""


def orders(prompt: SystemPrompt, log: list[str]) -> list[str]:
    """Give the order of listeners, tool providers and change listeners."""
    assembly = prompt.assemble()
    log.clear()
    prompt.variable("probe", "x").dispose()
    told = " ".join(log[: len(log) // 2])
    tools = " ".join(tool.description for tool in assembly.tools)
    return [(assembly.variables.get("order") or "").strip(), tools, told]


def test_a_reloaded_plugin_keeps_its_place_in_every_order(site: Site, log: list[str]) -> None:
    """Among hand-made listeners before and after it, however often it is reloaded."""
    for name in "abc":
        site.module(f"dsh_test_{name}", listening(name))
    prompt = SystemPrompt()
    for name in "cab":
        prompt.load(importlib.import_module(f"dsh_test_{name}"), name=name)
    assert orders(prompt, log) == ["c a b"] * 3
    for index in range(1, 4):
        site.module("dsh_test_a", listening("a", f"a{index}"))
        prompt.reload("a")
        assert orders(prompt, log) == [f"c a{index} b"] * 3
        prompt.reload("c")
    assert [info.name for info in prompt.plugins] == ["c", "a", "b"]


def test_a_reloaded_plugin_keeps_its_place_in_the_block(site: Site, log: list[str]) -> None:
    """Change listeners, which are told in the order of registration, keep theirs as well."""
    for name in "ab":
        site.plugin(name, listening(name))
    site.module("dsh_test_hand", listening("hand"))
    prompt = SystemPrompt()
    prompt.load("b")
    prompt.load(importlib.import_module("dsh_test_hand"), name="hand")
    prompt.reload("b")
    assert orders(prompt, log) == ["b hand"] * 3
    prompt.load("a")
    assert orders(prompt, log) == ["a b hand", "a b hand", "b hand a"]
    for name in ("b", "a", "b"):
        prompt.reload(name)
        assert orders(prompt, log) == ["a b hand", "a b hand", "b hand a"]


def test_a_failed_reload_keeps_the_place_too(site: Site, log: list[str]) -> None:
    """Whether code failed, or a listener refused."""
    for name in "abc":
        site.module(f"dsh_test_{name}", listening(name))
    prompt = SystemPrompt()
    for name in "abc":
        prompt.load(importlib.import_module(f"dsh_test_{name}"), name=name)
    refusing = prompt.on_change(refuse)
    with pytest.raises(ValueError, match="refused"):
        prompt.reload("b")
    refusing.dispose()
    site.module("dsh_test_b", "1/0")
    with pytest.raises(PluginLoadError):
        prompt.reload("b")
    assert orders(prompt, log) == ["a b c"] * 3
    assert [info.name for info in prompt.plugins] == ["a", "b", "c"]


def refuse(event: ChangeEvent) -> None:
    """Refuse reloads and syncs."""
    if event.kind in {"reloaded", "synced"}:
        raise ValueError("refused")


# What fails

CONFIG = "import attrs\n@attrs.define\nclass Config:\n    level: int = 0\n"

#: New code that cannot be used, and what the error says.
BROKEN = {
    "syntax": ("def (", "SyntaxError"),
    "import": ("import no_such_module_at_all", "no_such_module_at_all"),
    "name": ("undefined_name", "NameError"),
    "unknown hook": (NEW + "@hookimpl\ndef activat(): ...\n", 'did you mean "activate"'),
    "wrong argument": (NEW + "@hookimpl\ndef activate(wrong): ...\n", "wrong"),
    "config": (CONFIG.replace("level", "depth") + NEW, "level"),
    "config type": (CONFIG.replace("int = 0", "str = ''") + NEW, "level"),
    "activate": (NEW.replace("ctx.variable", "1/0; ctx.variable"), "ZeroDivisionError"),
    "result": (NEW.replace("[Prompt", "5 or [Prompt"), "list"),
    "duplicate": (NEW.replace('"s"', '"taken"'), 'plugin "other"'),
    "cycle": (
        NEW + "@hookimpl(before=('other',))\ndef system_prompt_assemble(assembly): ...\n",
        "cycle",
    ),
    "missing": (NEW + "requires = ('nobody',)\n", '"nobody", which is not loaded'),
    "itself": (NEW + "requires = ('p',)\n", '"p"'),
    "requires": (NEW + "requires = 5\n", "requires"),
}

OTHER = f"""{HEAD}
@hookimpl
def contribute_sections():
    return [PromptSection("taken", 1, "other")]

@hookimpl(before=("p",))
def system_prompt_assemble(assembly): ...
"""


@pytest.mark.parametrize(("code", "message"), BROKEN.values(), ids=BROKEN)
def test_new_code_that_fails_leaves_all_as_it_was(
    site: Site, log: list[str], code: str, message: str
) -> None:
    """The error says why, and that the old code stays; nobody is told; a fix is taken."""
    install(site, code=CONFIG + CODE)
    site.plugin("other", OTHER)
    prompt = SystemPrompt()
    prompt.load("p", config={"level": 1})
    prompt.load("other")
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    before, generation = state(prompt), prompt.assemble().generation or 0
    log.clear()
    edit(site, code)
    with pytest.raises(PluginLoadError) as caught:
        prompt.reload("p")
    assert message in str(caught.value)
    assert 'plugin "p" (dsh-p 1.0)' in str(caught.value)
    assert str(caught.value).endswith("; the old code stays in place")
    assert (caught.value.plugin, caught.value.distribution) == ("p", "dsh-p")
    assert (state(prompt), events) == (before, [])
    assert (prompt.assemble().generation or 0) >= generation
    assert not [line for line in log if line.startswith("one")]
    edit(site, CONFIG + NEW)
    prompt.reload("p")
    assert v(prompt) == "two"


def test_the_error_says_where_the_new_code_failed(site: Site, prompt: SystemPrompt) -> None:
    """By file and line, also in a function that the new code called."""
    file = edit(site, "\n\n" + NEW.replace("ctx.variable", "1/0\n    ctx.variable"))
    line = 1 + [one.strip() for one in file.read_text().splitlines()].index("1/0")
    with pytest.raises(PluginLoadError) as caught:
        prompt.reload("p")
    assert f"({file}, line {line})" in str(caught.value)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_syntax_error_says_where_it_stands(site: Site, prompt: SystemPrompt) -> None:
    """No line of it has run."""
    edit(site, "\n\ndef (")
    with pytest.raises(PluginLoadError, match=r"plugin\.py, line 3"):
        prompt.reload("p")


def test_what_the_new_code_had_registered_is_cleaned_up_after_a_failure(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """Its callbacks run, and the old ones do not."""
    edit(site, NEW.replace('"s", 1', '"s", None'))
    with pytest.raises(PluginLoadError):
        prompt.reload("p")
    assert log == ["two activate", "two deactivate", "two callback"]


@pytest.mark.parametrize("statement", ["raise KeyboardInterrupt", "import sys; sys.exit(3)"])
@pytest.mark.parametrize("where", ["import", "activate"])
def test_an_interrupt_passes_through_with_all_as_it_was(
    site: Site, prompt: SystemPrompt, statement: str, where: str
) -> None:
    """It is no failure of the plugin."""
    before = state(prompt)
    edit(
        site,
        statement if where == "import" else NEW.replace("ctx.var", f"{statement}\n    ctx.var"),
    )
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        prompt.reload("p")
    assert state(prompt) == before
    edit(site, NEW)
    prompt.reload("p")
    assert v(prompt) == "two"


def test_a_change_listener_that_refuses_brings_the_old_code_back(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """Who had been told is told of the withdrawal; the new plugin is cleaned up."""
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    refusing = prompt.on_change(refuse)
    before, generation = state(prompt), prompt.assemble().generation or 0
    edit(site, NEW)
    with pytest.raises(ValueError, match="refused"):
        prompt.reload("p")
    assert state(prompt) == before
    assert [event.kind for event in events] == ["reloaded", "withdrawn"]
    assert (events[1].added, events[1].removed) == (events[0].removed, events[0].added)
    assert generation < events[0].generation < events[1].generation
    assert events[1].generation == prompt.assemble().generation
    assert log == ["two activate", "two deactivate", "two callback"]
    refusing.dispose()
    prompt.reload("p")
    assert v(prompt) == "two"


def test_a_cleanup_of_the_old_code_that_fails_is_raised_when_the_new_one_is_there(
    site: Site, log: list[str]
) -> None:
    """It stops neither the other cleanups nor the reload."""
    install(site, code=CODE.replace("def deactivate():", "def deactivate():\n    1/0"))
    prompt = SystemPrompt()
    prompt.load("p")
    edit(site, NEW)
    log.clear()
    with pytest.raises(ZeroDivisionError):
        prompt.reload("p")
    assert v(prompt) == "two"
    assert log == ["two activate", "one callback"]


def test_a_failed_upgrade_leaves_no_module_of_the_new_version(
    site: Site, prompt: SystemPrompt
) -> None:
    """The next version brings its own."""
    for version, text in (("2.0", "1/0"), ("3.0", "VERSION = 'three'")):
        files = {
            "dsh_test_p.__init__": "",
            "dsh_test_p.added": f"NUMBER = {version}",
            "dsh_test_p.plugin": f"from dsh_test_p import added\n{CODE}\n{text}\n",
        }
        site.install("dsh-p", version, files, p="dsh_test_p.plugin")
        if version == "2.0":
            with pytest.raises(PluginLoadError):
                prompt.reload("p")
            assert "dsh_test_p.added" not in sys.modules
    prompt.reload("p")
    assert sys.modules["dsh_test_p.added"].NUMBER == 3.0


# Async

ASYNC = CODE.replace("def activate", "async def activate").replace(
    "def deactivate", "async def deactivate"
)


@pytest.mark.parametrize("hook", ["activate", "deactivate"])
def test_reload_refuses_what_is_async_before_anything_changes(
    site: Site, prompt: SystemPrompt, hook: str
) -> None:
    """The error names the twin; that the old one's end would be async is known before."""
    before = state(prompt)
    code = CODE.replace(f"def {hook}", f"async def {hook}")
    edit(site, code)
    if hook == "activate":
        with pytest.raises(AsyncProviderError, match=r"activate of .*reload_async\(\)"):
            prompt.reload("p")
        assert state(prompt) == before
        return
    prompt.reload("p")
    before = state(prompt)
    with pytest.raises(AsyncProviderError, match=r"deactivate of .*reload_async\(\)"):
        prompt.reload("p")
    assert state(prompt) == before


@pytest.mark.anyio
async def test_reload_async_reloads_async_plugins(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """From plain to async code, and on."""
    edit(site, ASYNC.replace('"one"', '"two"'))
    await prompt.reload_async("p")
    edit(site, ASYNC.replace('"one"', '"three"'))
    info = await prompt.reload_async("p")
    assert (v(prompt), info.state) == ("three", "loaded")
    assert log[3:] == ["three activate", "two deactivate", "two callback"]


@pytest.mark.anyio
async def test_reload_async_waits_for_assemblies_that_use_the_old_code(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """They end with what they began with; its cleanups come after that."""
    reached, go_on = anyio.Event(), anyio.Event()
    found: list[str | None] = []

    async def wait() -> str:
        reached.set()
        await go_on.wait()
        log.append("assembled")
        return "x"

    prompt.variable("slow", wait)

    async def assemble() -> None:
        found.append((await prompt.assemble_async()).variables["v"])

    def told(event: ChangeEvent) -> None:
        log.append(event.kind)
        go_on.set()

    prompt.on_change(told)
    edit(site, NEW)
    async with anyio.create_task_group() as group:
        group.start_soon(assemble)
        await reached.wait()
        await prompt.reload_async("p")
    assert found == ["one"]
    assert log == ["two activate", "reloaded", "assembled", "one deactivate", "one callback"]


@pytest.mark.anyio
async def test_a_plugin_is_reloaded_once_at_a_time(site: Site, log: list[str]) -> None:
    """A second reload is refused while one is under way, and takes nothing away from it."""
    site.module("dsh_test_gate", "import anyio\nreached, go_on = anyio.Event(), anyio.Event()\n")
    slow = "import dsh_test_gate\n" + ASYNC.replace(
        "    ctx.callback",
        "    dsh_test_gate.reached.set()\n    await dsh_test_gate.go_on.wait()\n    ctx.callback",
    )
    install(site)
    prompt = SystemPrompt()
    prompt.load("p")
    edit(site, slow.replace('"one"', '"two"'))
    gate = importlib.import_module("dsh_test_gate")
    async with anyio.create_task_group() as group:
        group.start_soon(prompt.reload_async, "p")
        await gate.reached.wait()
        with pytest.raises(PluginConflictError, match="is being reloaded already"):
            await prompt.reload_async("p")
        assert v(prompt) == "one"
        assert [info.state for info in prompt.plugins] == ["loaded"]
        gate.go_on.set()
    assert v(prompt) == "two"


@pytest.mark.anyio
async def test_a_cancelled_reload_leaves_all_as_it_was(site: Site, prompt: SystemPrompt) -> None:
    """The old code goes on."""
    before = state(prompt)
    edit(
        site,
        "import anyio\n"
        + ASYNC.replace("    ctx.variable", "    await anyio.sleep_forever()\n    ctx.variable"),
    )
    with anyio.move_on_after(0.05) as limit:
        await prompt.reload_async("p")
    assert limit.cancelled_caught
    assert state(prompt) == before
    edit(site, NEW)
    prompt.reload("p")
    assert v(prompt) == "two"


# What requires it


def test_what_requires_a_reloaded_plugin_is_made_anew_after_it(site: Site, log: list[str]) -> None:
    """And ends before it: a dependant never meets a plugin that has ended."""
    install(site)
    dependant = CODE.replace('"one"', '"dependant"').replace('"v"', '"w"').replace('"s"', '"t"')
    site.plugin("q", dependant + "requires = ('p',)\n")
    prompt = SystemPrompt()
    prompt.load("p")
    prompt.load("q")
    log.clear()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    edit(site, NEW)
    prompt.reload("p")
    assert log == [
        "two activate",
        "dependant activate",
        "dependant deactivate",
        "dependant callback",
        "one deactivate",
        "one callback",
    ]
    (event,) = events
    assert ("plugin", "q", None) in event.added
    assert ("plugin", "q", None) in event.removed
    assert [info.name for info in prompt.plugins] == ["p", "q"]
    prompt.unload("p")
    assert prompt.plugins == []


def requiring(name: str) -> str:
    """Give the code of a plugin that requires the plugin *name*."""
    return variable("w").replace("'v'", "'w'") + f"requires = ({name!r},)\n"


def test_what_requires_it_from_a_scope_is_made_anew_there(site: Site, log: list[str]) -> None:
    """A scope's plugin may require a global one."""
    install(site)
    site.plugin("q", requiring("p"))
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load("p")
    prompt.load("q", scope=scope)
    edit(site, NEW)
    prompt.reload("p")
    assert prompt.assemble(scope=scope).variables == {"v": "two", "w": "w"}
    assert [(info.name, info.scope) for info in prompt.plugins] == [("p", None), ("q", scope)]
    scope.dispose()
    assert [info.name for info in prompt.plugins] == ["p"]


def test_a_dependant_that_fails_keeps_the_old_plugin(site: Site, log: list[str]) -> None:
    """The two go together."""
    install(site)
    site.plugin("q", requiring("p"))
    prompt = SystemPrompt()
    prompt.load("p")
    prompt.load("q")
    before = state(prompt)
    edit(site, NEW)
    site.module("dsh_test_q", "1/0")
    with pytest.raises(PluginLoadError, match=r'"q".*old code stays'):
        prompt.reload("p")
    assert state(prompt) == before


def test_an_installed_dependant_of_a_plugin_that_is_not_installed_is_made_anew(
    site: Site, log: list[str]
) -> None:
    """Where the two come from does not matter."""
    site.module("dsh_test_m", CODE)
    site.plugin("q", requiring("m"))
    prompt = SystemPrompt()
    prompt.load(importlib.import_module("dsh_test_m"), name="m")
    prompt.load("q")
    site.module("dsh_test_m", NEW)
    prompt.reload("m")
    assert prompt.assemble().variables == {"v": "two", "w": "w"}


# Configuration

SHOWN = CONFIG + f"{HEAD}\n@hookimpl\ndef activate(ctx):\n    ctx.variable('v', str(ctx.config))\n"


def test_reload_reads_the_configuration_files_again(site: Site, folder: Path) -> None:
    """Both the host and the plugin have the new values."""
    install(site, code=SHOWN)
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.p]\nlevel = 1\n")
    prompt = SystemPrompt(Config.load(file))
    prompt.load("p")
    file.write_text("[plugins.config.p]\nlevel = 2\n")
    prompt.reload("p")
    assert v(prompt) == "Config(level=2)"
    assert prompt.config.plugins.config["p"] == {"level": 2}


def test_a_configuration_file_that_is_broken_now_leaves_all_as_it_was(
    site: Site, folder: Path
) -> None:
    """The error names plugin and file."""
    install(site, code=SHOWN)
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.p]\nlevel = 1\n")
    prompt = SystemPrompt(Config.load(file))
    prompt.load("p")
    before = state(prompt)
    file.write_text("[plugins.config.p\n")
    with pytest.raises(PluginLoadError, match=r"dsh-prompt\.toml"):
        prompt.reload("p")
    assert state(prompt) == before


def test_a_configuration_that_was_given_is_kept(site: Site, folder: Path) -> None:
    """As a mapping, structured into the new class."""
    install(site, code=SHOWN)
    prompt = SystemPrompt()
    prompt.load("p", config={"level": 3})
    edit(site, SHOWN.replace("level: int = 0", "level: int = 0\n    extra: int = 7"))
    prompt.reload("p")
    assert v(prompt) == "Config(level=3, extra=7)"


def test_an_instance_that_was_given_becomes_one_of_the_new_class(site: Site) -> None:
    """It was of the class as it was, which no longer counts; also at the second reload."""
    install(site, code=SHOWN)
    prompt = SystemPrompt()
    given = importlib.import_module("dsh_test_p.plugin").Config(level=4)
    prompt.load("p", config=given)
    for extra in (1, 2):
        edit(site, SHOWN.replace("level: int = 0", f"level: int = 0\n    extra: int = {extra}"))
        prompt.reload("p")
        assert v(prompt) == f"Config(level=4, extra={extra})"


# While others work


def test_every_assembly_sees_one_version_whole(site: Site, prompt: SystemPrompt) -> None:
    """From any thread, while the plugin is reloaded again and again."""
    seen: list[tuple[str | None, str]] = []
    stop = threading.Event()

    def assemble() -> None:
        while not stop.wait(0.001):
            assembly = prompt.assemble()
            seen.append((assembly.variables["v"], render_prompt(assembly).split()[-1]))

    threads = [threading.Thread(target=assemble) for _ in range(2)]
    for thread in threads:
        thread.start()
    for index in range(5):
        edit(site, CODE.replace('"one"', f'"{index}"'))
        prompt.reload("p")
    stop.set()
    for thread in threads:
        thread.join()
    assert seen
    assert all(variable == rendered for variable, rendered in seen)


@pytest.mark.anyio
async def test_a_plugin_can_be_reloaded_from_inside_an_assembly(
    site: Site, prompt: SystemPrompt, log: list[str]
) -> None:
    """It does not wait for the assembly that it is part of, which ends with the old code."""

    async def reload() -> str:
        info = await prompt.reload_async("p")
        return info.state

    prompt.variable("reloading", reload)
    edit(site, NEW)
    with anyio.fail_after(10):
        first = await prompt.assemble_async()
    assert (first.variables["v"], first.variables["reloading"]) == ("one", "loaded")
    assert v_of(await prompt.assemble_async()) == "two"


LOADING = """
class Inner:
    @hookimpl
    def contribute_variables(self):
        return {"inner": VERSION}

    @hookimpl
    def deactivate(self):
        note(VERSION + " inner deactivate")

@hookimpl(specname="activate")
def load(ctx):
    scope = ctx.create_scope("mine")
    ctx.host.load(Inner, name="inner", scope=scope)
"""


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_plugin_loaded_itself_comes_and_goes_with_it(
    site: Site, log: list[str], fails: bool
) -> None:
    """With the new code the new one, with the old code the old one."""
    install(site, code=CODE + LOADING)
    prompt = SystemPrompt()
    prompt.load("p")
    before = state(prompt)
    log.clear()
    edit(site, NEW + LOADING + ("@hookimpl\ndef contribute_tools(): 1/0\n" if fails else ""))
    if fails:
        with pytest.raises(PluginLoadError):
            prompt.reload("p")
        assert state(prompt) == before
        assert not [line for line in log if line.startswith("one")]
        return
    prompt.reload("p")
    assert sorted(info.name for info in prompt.plugins) == ["inner", "p"]
    (scope,) = {info.scope for info in prompt.plugins} - {None}
    assert prompt.assemble(scope=scope).variables == {"v": "two", "inner": "two"}
    assert log == ["two activate", "one deactivate", "one inner deactivate", "one callback"]


# What is left of the old code


def test_nothing_of_the_old_code_is_reachable_after_a_reload(site: Site, log: list[str]) -> None:
    """Modules, plugin object, configuration, providers and listeners."""
    code = f"""{CONFIG}{HEAD}
class Plugin:
    Config = Config

    @hookimpl
    def activate(self, ctx):
        ctx.callback(self.end)
        ctx.variable("v", self.text)
        ctx.tools(self.tools)
        ctx.section(name="s", order=1, text=self.text)

    def text(self):
        return "text"

    def tools(self):
        return [ToolSchema("t", "", {{}})]

    def end(self): ...

    @hookimpl
    def system_prompt_assemble(self, assembly): ...

    @hookimpl
    def system_prompt_change(self, event): ...
"""
    site.install("dsh-p", "1.0", {"dsh_test_p": code}, p="dsh_test_p:Plugin")
    prompt = SystemPrompt()
    module = importlib.import_module("dsh_test_p")
    prompt.load("p", config=module.Config(level=1))
    old = [weakref.ref(module.Plugin), weakref.ref(module.Config), weakref.ref(module)]
    old += [weakref.ref(module.Plugin.text)]
    del module
    prompt.assemble()
    prompt.reload("p")
    prompt.assemble()
    gc.collect()
    alive = [one() for one in old]
    # What the host was given keeps its class.
    assert alive == [None, alive[1], None, None]


@pytest.mark.parametrize("how", ["code", "listener"])
def test_nothing_of_the_new_code_is_reachable_after_a_failure(
    site: Site, prompt: SystemPrompt, log: list[Any], how: str
) -> None:
    """As soon as the error is forgotten."""
    mark = "import weakref\nclass Marker: ...\nbuiltins.dsh_test_log.append(weakref.ref(Marker))\n"
    edit(site, NEW + mark + ("1/0\n" if how == "code" else ""))
    refusing = prompt.on_change(refuse)
    with pytest.raises((PluginLoadError, ValueError)):
        prompt.reload("p")
    refusing.dispose()
    gc.collect()
    assert [one() for one in log if isinstance(one, weakref.ref)] == [None]


# Scopes


def test_the_reload_of_one_leaves_its_namesake_in_a_scope(site: Site, log: list[str]) -> None:
    """Though the two share the modules; either can be reloaded."""
    install(site)
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load("p")
    prompt.load("p", scope=scope)
    log.clear()
    edit(site, NEW)
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    info = prompt.reload("p", scope=scope)
    assert (info.scope, v(prompt), v(prompt, scope)) == (scope, "one", "two")
    assert (events[0].scope, {item[2] for item in events[0].added}) == (scope, {scope})
    assert log == ["two activate", "one deactivate", "one callback"]
    prompt.reload("p")
    assert (v(prompt), v(prompt, scope)) == ("two", "two")


def test_a_reloaded_plugin_goes_with_its_scope(site: Site, log: list[str]) -> None:
    """It belongs to the scope as the old one did."""
    install(site)
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load("p", scope=scope)
    prompt.reload("p", scope=scope)
    log.clear()
    scope.dispose()
    assert (prompt.plugins, log) == ([], ["one deactivate", "one callback"])


def test_scopes_that_the_old_code_created_go_with_it(site: Site, log: list[Any]) -> None:
    """With what was registered in them; the new code creates its own."""
    code = """
@hookimpl
def activate(ctx):
    scope = ctx.create_scope("mine")
    scope.variable("v", "mine")
    builtins.dsh_test_log.append(scope)
"""
    install(site, code=HEAD + code)
    prompt = SystemPrompt()
    prompt.load("p")
    prompt.reload("p")
    old, new = log
    assert (v(prompt, old), v(prompt, new)) == (None, "mine")
