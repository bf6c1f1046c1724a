"""Plugins: loaded whole or not at all, gone when unloaded."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import sys
import weakref
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import attrs
import pytest

import dsh_prompt
from dsh_prompt import (
    AssembledSection,
    AsyncProviderError,
    Config,
    ConfigError,
    DisposableContext,
    DisposedError,
    DuplicateContributionError,
    PluginConflictError,
    PluginInfo,
    PluginLoadError,
    PluginNotFoundError,
    PluginsConfig,
    PromptAssembly,
    PromptError,
    PromptSection,
    SystemPrompt,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from dsh_prompt import ChangeEvent, Scope


class Plugin:
    """Contributes a section, a variable and a listener, and notes its life."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.log.append("activate")
        ctx.variable("v", "value")
        ctx.callback(self.log.append, "callback")

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection("s", 1, "{{v}}")]

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        assembly.sections.append(AssembledSection("hooked", "hooked"))

    @hookimpl
    def deactivate(self, ctx: DisposableContext) -> None:
        self.log.append("deactivate")


def module(name: str, **members: object) -> ModuleType:
    """Make a module with *members*."""
    made = ModuleType(name)
    vars(made).update(members)
    return made


@hookimpl
def contribute_variables() -> dict[str, str]:
    """Contribute one variable, as a module does."""
    return {"v": "module"}


# What can be loaded


@pytest.mark.parametrize(
    ("plugin", "name"),
    [
        (Plugin(), "Plugin"),
        (Plugin, "Plugin"),
        (module("my_pkg.my_plugin", contribute_variables=contribute_variables), "my_pkg.my_plugin"),
        (SimpleNamespace(contribute_variables=contribute_variables), "SimpleNamespace"),
    ],
    ids=["object", "class", "module", "namespace"],
)
def test_a_plugin_is_an_object_a_class_or_a_module(plugin: object, name: str) -> None:
    """Its name, where none is given, is that of its module or class."""
    prompt = SystemPrompt()
    info = prompt.load(plugin)
    assert (info.name, info.state, info.scope) == (name, "loaded", None)
    assert set(prompt.assemble().variables) == {"v"}


class UntoldError(SyntaxError):
    """Fails when it is asked for its file."""

    @property
    def filename(self) -> str:  # type: ignore[override]
        raise RuntimeError


@pytest.mark.parametrize("failing", ["json.loads('{')", "ast.literal_eval('1+')", "raising()"])
def test_a_load_error_tells_the_line_of_the_plugin_and_not_of_pythons_library(
    failing: str,
) -> None:
    """Also where the plugin stands beside this package, and its name begins alike: most do."""
    file = f"{Path(dsh_prompt.__file__).parent}_mine.py"
    raising = "def raising():\n    raise SyntaxError('mine')"
    source = f"import ast, json\n{raising}\ndef fail():\n    {failing}"
    code: dict[str, Any] = {}
    exec(compile(source, file, "exec"), code)
    with pytest.raises(PluginLoadError) as caught:
        SystemPrompt().load(SimpleNamespace(activate=hookimpl(code["fail"])), name="mine")
    assert str(caught.value).endswith(f"({file}, line {3 if 'raising' in failing else 5})")


def test_an_error_that_cannot_tell_its_file_is_a_load_error_all_the_same() -> None:
    """What it says is told, without a place."""

    class Broken:
        @hookimpl
        def activate(self) -> None:
            raise UntoldError("odd")

    with pytest.raises(PluginLoadError, match=r"UntoldError: odd$"):
        SystemPrompt().load(Broken, name="broken")


def test_a_load_error_tells_where_the_plugin_raised() -> None:
    """The line of the plugin, also where the library raised because of it."""

    class Broken:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name="a", order="first", text="")  # type: ignore[call-overload]

    with pytest.raises(PluginLoadError) as caught:
        SystemPrompt().load(Broken, name="broken")
    line = Broken.activate.__code__.co_firstlineno + 2
    assert str(caught.value).endswith(f"({__file__}, line {line})")


def test_a_given_name_wins() -> None:
    """It is what everything calls the plugin."""
    prompt = SystemPrompt()
    assert prompt.load(Plugin(), name="mine").name == "mine"
    source = prompt.assemble().source_of("section", "s")
    assert source is not None
    assert source.plugin == "mine"
    prompt.unload("mine")


def test_a_class_is_instantiated_once_per_load() -> None:
    """Without arguments, and anew every time."""
    made: list[object] = []

    class Counted:
        def __init__(self) -> None:
            made.append(self)

        @hookimpl
        def activate(self) -> None: ...

    prompt = SystemPrompt()
    for _ in range(2):
        prompt.load(Counted)
        prompt.unload("Counted")
    assert len(set(made)) == 2


def test_a_plugin_need_not_be_hashable() -> None:
    """An attrs class with equality is a plugin like another."""

    @attrs.define
    class Valued:
        x: int = 1

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", str(self.x))

    prompt = SystemPrompt()
    prompt.load(Valued(), name="one")
    prompt.unload("one")
    prompt.load(Valued(2), name="two")
    assert prompt.assemble().variables == {"v": "2"}


def test_a_plugin_without_hooks_is_loaded_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its author forgot to mark them, more often than not."""
    prompt = SystemPrompt()
    prompt.load(SimpleNamespace(), name="empty")
    assert 'plugin "empty" implements no hook' in caplog.text


def test_a_loaded_plugin_is_described() -> None:
    """Name, distribution, version, scope, state, contributions and hooks."""
    prompt = SystemPrompt()
    info = prompt.load(Plugin(), name="p")
    assert isinstance(info, PluginInfo)
    assert prompt.plugins == [info]
    assert (info.distribution, info.version, info.state) == (None, None, "loaded")
    assert info.contributions[:2] == (("variable", "v", None), ("section", "s", None))
    assert set(info.hooks) == {
        "activate",
        "contribute_sections",
        "deactivate",
        "system_prompt_assemble",
    }


def test_the_description_follows_what_the_plugin_registers() -> None:
    """`ctx.plugin` tells the present state, through the plugin's whole life."""
    prompt = SystemPrompt()
    states: list[str] = []
    contexts: list[DisposableContext] = []

    class Late:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            contexts.append(ctx)
            self.note(ctx)

        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            self.note(ctx)

        def note(self, ctx: DisposableContext) -> None:
            assert ctx.plugin is not None
            states.append(ctx.plugin.state)

    prompt.load(Late())
    contexts[0].variable("late", "value")
    assert prompt.plugins[0].contributions == (("variable", "late", None),)
    prompt.unload("Late")
    assert states == ["loading", "unloaded"]


def test_plugins_are_listed_in_load_order() -> None:
    """Global ones and those of scopes alike."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="first")
    prompt.load(Plugin(), name="second", scope=scope)
    assert [info.name for info in prompt.plugins] == ["first", "second"]


# Names


def test_a_name_is_unique_in_its_layer() -> None:
    """A second plugin of the name is refused there, and nothing of it is seen."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="p")
    prompt.load(Plugin(), name="p", scope=scope)
    second = Plugin()
    for where in (None, scope):
        with pytest.raises(PluginConflictError, match='"p" is already loaded'):
            prompt.load(second, name="p", scope=where)
    assert second.log == []
    assert len(prompt.plugins) == 2


def test_what_is_not_loaded_is_not_found() -> None:
    """The error lists what is, and names the nearest."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="audit")
    with pytest.raises(PluginNotFoundError, match=r'"audti".*did you mean "audit"'):
        prompt.unload("audti")
    with pytest.raises(PluginNotFoundError, match="agent"):
        prompt.unload("audit", scope=scope)


def test_without_a_scope_the_global_plugin_is_meant() -> None:
    """One of the same name in a scope stays, and is not found without its scope."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), name="p", scope=scope)
    with pytest.raises(PluginNotFoundError):
        prompt.unload("p")
    prompt.load(Plugin(), name="p")
    prompt.unload("p")
    assert [info.scope for info in prompt.plugins] == [scope]


@pytest.mark.anyio
async def test_what_is_not_loaded_is_not_found_in_either_way() -> None:
    """The async twin says the same."""
    with pytest.raises(PluginNotFoundError, match="none"):
        await SystemPrompt().unload_async("none")


def test_a_name_that_no_installed_plugin_has_is_not_found() -> None:
    """A ``str`` is the name of an entry point."""
    with pytest.raises(PluginNotFoundError, match="no-such-plugin"):
        SystemPrompt().load("no-such-plugin")


# Configuration


@attrs.frozen
class Settings:
    """What a plugin in these tests is configured by."""

    level: int = 1
    names: tuple[str, ...] = ()
    limits: dict[str, int] = attrs.field(factory=dict)


class Configured:
    """Keeps its configuration."""

    Config = Settings

    def __init__(self) -> None:
        self.config: Any = None

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.config = ctx.config


def load_configured(config: object = None, *, host: dict[str, Any] | None = None) -> Any:
    """Load `Configured`, with its own or the host's configuration, and give what it got."""
    plugin = Configured()
    tables = {} if host is None else {"conf": host}
    prompt = SystemPrompt(Config(plugins=PluginsConfig(config=tables)))
    prompt.load(plugin, name="conf", config=config)
    return plugin.config


def test_a_configuration_is_structured_into_the_class_of_the_plugin() -> None:
    """`ctx.config` is the instance."""
    assert load_configured({"level": 2, "names": ["a"]}) == Settings(2, ("a",))


def test_without_a_configuration_the_host_s_counts_and_then_the_defaults() -> None:
    """A given one takes the place of both."""
    assert load_configured() == Settings()
    assert load_configured(host={"level": 3}) == Settings(3)
    assert load_configured({"names": ["a"]}, host={"level": 3}) == Settings(1, ("a",))
    assert load_configured({}, host={"level": 3}) == Settings()


def test_an_instance_of_the_class_is_taken_as_it_is() -> None:
    """A host in code need not write a mapping."""
    settings = Settings(5)
    assert load_configured(settings) is settings


@pytest.mark.parametrize(
    ("config", "message", "path"),
    [
        ({"levle": 2}, 'levle.*did you mean "level"', "levle"),
        ({"level": "2"}, "level: expected an integer, got '2'", "level"),
        ({"level": True}, "level: expected an integer, got True", "level"),
        ({"names": "a"}, "names: expected a list", "names"),
        ({"names": ["a", 1]}, r"names\[1\]: expected a string", "names[1]"),
        (5, "expected a table, got 5", ""),
    ],
)
def test_a_wrong_configuration_names_key_and_nearest(
    config: object, message: str, path: str
) -> None:
    """It is a load error that names the plugin, and a config error with the path."""
    with pytest.raises(PluginLoadError, match=message) as caught:
        load_configured(config)
    assert isinstance(caught.value, ConfigError)
    assert (caught.value.plugin, caught.value.path) == ("conf", path)
    assert 'plugin "conf"' in str(caught.value)


def test_a_wrong_configuration_of_a_file_names_the_file(tmp_path: Path) -> None:
    """With the path from its top, as it stands there."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("[plugins.config.conf]\nlevle = 2\n")
    prompt = SystemPrompt(Config.load(file))
    with pytest.raises(ConfigError) as caught:
        prompt.load(Configured(), name="conf")
    assert (caught.value.file, caught.value.path) == (str(file), "plugins.config.conf.levle")
    assert str(file) in str(caught.value)
    assert 'did you mean "level"' in str(caught.value)


def test_the_values_of_a_mapping_are_checked() -> None:
    """A type is a type wherever it stands."""
    with pytest.raises(ConfigError, match="limits"):
        load_configured({"limits": {"a": "many"}})


def test_a_required_setting_that_is_missing_is_named() -> None:
    """A plugin may have settings without defaults."""

    @attrs.define
    class Strict:
        token: str

    plugin = Configured()
    plugin.Config = Strict  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="token: is missing"):
        SystemPrompt().load(plugin)


def test_without_a_class_the_configuration_is_a_read_only_mapping() -> None:
    """Empty where there is none."""
    contexts: list[DisposableContext] = []
    plugin = SimpleNamespace(activate=hookimpl(lambda ctx: contexts.append(ctx)))  # noqa: PLW0108
    prompt = SystemPrompt(Config(plugins=PluginsConfig(config={"b": {"x": 1}})))
    prompt.load(plugin, name="a")
    prompt.load(plugin, name="b")
    assert [dict(ctx.config) for ctx in contexts] == [{}, {"x": 1}]
    for ctx in contexts:
        with pytest.raises(TypeError):
            ctx.config["x"] = 2


def test_a_config_that_is_no_attrs_class_is_refused() -> None:
    """It could not be built from a mapping."""
    plugin = SimpleNamespace(activate=hookimpl(lambda: None), Config=dict)
    with pytest.raises(PluginLoadError, match="attrs class"):
        SystemPrompt().load(plugin, name="a")


def test_the_host_s_own_config_class_in_a_module_is_no_setting_of_the_plugin() -> None:
    """A module that imports `Config` of the library does not declare it."""
    plugin = module("m", Config=Config, contribute_variables=contribute_variables)
    assert SystemPrompt().load(plugin, config={"x": 1}).state == "loaded"


# A load that fails


def failing(where: str, error: BaseException) -> type:
    """Make a plugin class that registers what it can, and fails at *where*."""

    def fail(here: str) -> None:
        if here == where:
            raise error

    class Failing(Plugin):
        def __init__(self) -> None:
            super().__init__()
            fail("__init__")

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name="own", order=1, text="own")
            ctx.create_scope("inner").variable("own", "own")
            ctx.on_change(lambda event: None)
            fail("activate")

        @hookimpl
        def contribute_sections(self) -> list[PromptSection]:
            fail("contribute_sections")
            return [PromptSection("s", 1, "")]

        @hookimpl
        def contribute_contexts(self) -> Iterator[Any]:
            fail("contribute_contexts")
            yield from ()
            fail("iteration")

        @hookimpl
        def contribute_tools(self) -> list[Any]:
            fail("contribute_tools")
            return [{"name": "t"}]

        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            fail("contribute_variables")
            return {"taken": "twice"}

    return Failing


POINTS = (
    "__init__",
    "activate",
    "contribute_sections",
    "contribute_contexts",
    "iteration",
    "contribute_tools",
    "contribute_variables",
)


@pytest.mark.parametrize("where", [*POINTS, "duplicate"])
def test_a_load_that_fails_leaves_nothing_behind(where: str) -> None:
    """Wherever it fails: contributions, names, listeners, events, generations."""
    prompt = SystemPrompt()
    taken = prompt.variable("taken", "once")
    before = prompt.assemble()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    plugin = failing(where, ValueError("mine"))
    for _ in range(2):
        with pytest.raises(PluginLoadError) as caught:
            prompt.load(plugin)
        assert caught.value.plugin == "Failing"
    after = prompt.assemble()
    assert (after, after.generation) == (before, before.generation)
    assert (prompt.plugins, events) == ([], [])
    taken()
    if where == "duplicate":
        prompt.load(plugin)


@pytest.mark.parametrize("where", POINTS)
def test_the_error_of_a_load_names_plugin_and_cause(where: str) -> None:
    """The cause is chained, for its traceback."""
    with pytest.raises(PluginLoadError, match=r'plugin "Failing".*ValueError: mine') as caught:
        SystemPrompt().load(failing(where, ValueError("mine")))
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("where", POINTS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_of_a_load_passes_through_with_the_state_whole(
    error: BaseException, where: str
) -> None:
    """It is not the plugin's failure, so it is not reported as one."""
    prompt = SystemPrompt()
    before = prompt.assemble()
    with pytest.raises(type(error)):
        prompt.load(failing(where, error))
    assert (prompt.assemble(), prompt.plugins) == (before, [])


def test_a_load_that_fails_cleans_up_without_deactivating() -> None:
    """What never was active is not deactivated, but its callbacks run."""
    prompt = SystemPrompt()

    class Failing(Plugin):
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(self.log.append, "callback")
            raise ValueError("mine")

    plugin = Failing()
    with pytest.raises(PluginLoadError):
        prompt.load(plugin)
    assert plugin.log == ["callback"]


def test_a_cleanup_that_fails_after_a_failed_load_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The error that failed the load is the one that is raised."""

    class Failing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(sys.exit, "second")
            raise ValueError("first")

    with pytest.raises(PluginLoadError, match="first"):
        SystemPrompt().load(Failing())
    assert "Failing" in caplog.text
    assert "second" in caplog.text


def test_a_duplicate_contribution_fails_the_load_with_both_owners() -> None:
    """The error names the plugin that failed, and its cause the owner of the name."""
    prompt = SystemPrompt()
    prompt.load(Plugin(), name="first")
    with pytest.raises(PluginLoadError, match=r'"second".*"first"') as caught:
        prompt.load(Plugin(), name="second")
    assert isinstance(caught.value.__cause__, DuplicateContributionError)


def test_a_plugin_that_disposes_itself_while_it_is_loaded_cannot_be_loaded() -> None:
    """That is a failure of the plugin, told as one, and it was never there."""
    prompt = SystemPrompt()

    class Quitting:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.dispose()

    with pytest.raises(PluginLoadError, match='"Quitting"'):
        prompt.load(Quitting())
    assert prompt.plugins == []


def test_a_plugin_that_fails_on_something_async_cannot_be_loaded() -> None:
    """Not its own `activate` is async, but what it met there: that is its failure."""
    prompt = SystemPrompt()

    async def text() -> str:
        return ""

    class Assembling:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.assemble()

    prompt.section(name="async", order=1, text=text)
    with pytest.raises(PluginLoadError, match='"Assembling"'):
        prompt.load(Assembling())


def test_a_load_that_fails_inside_another_load_names_both() -> None:
    """Whoever loaded the outer plugin learns that it is not there, and why."""

    class Inner:
        @hookimpl
        def activate(self) -> None:
            raise ValueError("mine")

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(Inner())

    with pytest.raises(PluginLoadError, match=r'"Outer".*"Inner"') as caught:
        SystemPrompt().load(Outer())
    assert caught.value.plugin == "Outer"


def test_a_plugin_that_failed_to_load_is_garbage() -> None:
    """The host keeps no reference to it."""
    prompt = SystemPrompt()
    prompt.variable("v", "taken")
    plugin = Plugin()
    reference = weakref.ref(plugin)
    with pytest.raises(PluginLoadError):
        prompt.load(plugin)
    del plugin
    gc.collect()
    assert reference() is None


# Unloading


def test_an_unloaded_plugin_leaves_no_trace_in_the_next_assembly() -> None:
    """Everything goes in one generation."""
    prompt = SystemPrompt()
    before = prompt.assemble()
    prompt.load(Plugin())
    loaded = prompt.assemble()
    assert render_prompt(loaded).endswith("value\n\nhooked")
    prompt.unload("Plugin")
    after = prompt.assemble()
    assert (after, prompt.plugins) == (before, [])
    assert loaded.generation is not None
    assert after.generation == loaded.generation + 1


def test_deactivate_is_called_once_and_before_the_callbacks() -> None:
    """By then the contributions are gone."""
    prompt = SystemPrompt()

    class Looking(Plugin):
        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            self.log.append(f"deactivate {dict(ctx.host.assemble().variables)}")

    plugin = Looking()
    prompt.load(plugin)
    prompt.unload("Looking")
    assert plugin.log == ["activate", "deactivate {}", "callback"]


def test_nothing_can_be_registered_while_a_plugin_is_deactivated() -> None:
    """It would leak: nobody would withdraw it."""
    prompt = SystemPrompt()

    class Clinging:
        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            ctx.variable("late", "value")

    prompt.load(Clinging())
    with pytest.raises(DisposedError, match="Clinging"):
        prompt.unload("Clinging")
    assert (prompt.assemble().variables, prompt.plugins) == ({}, [])


def test_an_unload_finishes_whatever_raises() -> None:
    """`deactivate`, a callback and a context manager each; all three errors come out."""
    prompt = SystemPrompt()
    log: list[str] = []

    @contextmanager
    def manager() -> Iterator[None]:
        yield
        raise KeyError("manager")

    class Failing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(log.append, "last")
            ctx.callback(int, "callback")
            ctx.enter_context(manager())

        @hookimpl
        def deactivate(self) -> None:
            raise TypeError("deactivate")

    prompt.load(Failing())
    with pytest.raises(ExceptionGroup) as caught:
        prompt.unload("Failing")
    assert [type(error) for error in caught.value.exceptions] == [TypeError, KeyError, ValueError]
    assert (log, prompt.plugins) == (["last"], [])


def test_an_interrupt_of_an_unload_passes_through_with_the_state_whole() -> None:
    """The plugin is gone, its cleanups have run, and it can be loaded again."""
    prompt = SystemPrompt()

    class Interrupting(Plugin):
        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            raise KeyboardInterrupt

    plugin = Interrupting()
    prompt.load(plugin)
    with pytest.raises(KeyboardInterrupt):
        prompt.unload("Interrupting")
    assert plugin.log == ["activate", "callback"]
    prompt.load(Plugin(), name="Interrupting")


def test_a_plugin_can_be_loaded_again_after_it_was_unloaded() -> None:
    """A second life is like the first."""
    prompt = SystemPrompt()
    plugin = Plugin()
    for _ in range(2):
        prompt.load(plugin)
        assert "hooked" in render_prompt(prompt.assemble())
        prompt.unload("Plugin")
    assert plugin.log == ["activate", "deactivate", "callback"] * 2


def test_a_plugin_may_dispose_its_own_context() -> None:
    """That unloads it, as `unload` would."""
    prompt = SystemPrompt()
    contexts: list[DisposableContext] = []
    events: list[ChangeEvent] = []

    class Keeping(Plugin):
        @hookimpl
        def contribute_variables(self, ctx: DisposableContext) -> dict[str, str]:
            contexts.append(ctx)
            return {}

    prompt.load(Keeping())
    prompt.on_change(events.append)
    contexts[0].dispose()
    assert (prompt.plugins, [event.kind for event in events]) == ([], ["unloaded"])
    with pytest.raises(PluginNotFoundError):
        prompt.unload("Keeping")


def test_the_disposal_of_the_host_unloads_everything() -> None:
    """In reverse order of loading, scopes and their plugins included."""
    prompt = SystemPrompt()
    log: list[str] = []

    def plugin(name: str) -> SimpleNamespace:
        return SimpleNamespace(deactivate=hookimpl(lambda: log.append(name)))

    prompt.load(plugin("first"), name="first")
    prompt.load(plugin("scoped"), name="scoped", scope=prompt.create_scope("agent"))
    prompt.load(plugin("last"), name="last")
    prompt.dispose()
    assert log == ["last", "scoped", "first"]


def test_an_assembly_under_way_finishes_on_its_snapshot() -> None:
    """A plugin that is unloaded meanwhile takes part to the end; not in the next one."""
    prompt = SystemPrompt()

    def unloading(assembly: PromptAssembly) -> None:
        if prompt.plugins:
            prompt.unload("Plugin")

    prompt.on_assemble(unloading)
    prompt.load(Plugin())
    assert render_prompt(prompt.assemble()).endswith("hooked")
    assert not render_prompt(prompt.assemble()).endswith("hooked")


def everywhere(prompt: SystemPrompt) -> list[Scope]:
    """Assemble for the global level and a chain of scopes, so that plans are made."""
    parent = prompt.create_scope("parent")
    scopes = [parent, prompt.create_scope("agent", parent=parent)]
    for scope in (None, *scopes):
        prompt.assemble(scope=scope)
        prompt.registry.schemas(scope)
    return scopes


@pytest.mark.parametrize("scoped", [False, True])
def test_nothing_of_an_unloaded_plugin_is_reachable(*, scoped: bool) -> None:
    """Plugin, config and providers are garbage, though plans of many scopes had used them."""
    prompt = SystemPrompt()
    scopes = everywhere(prompt)

    class Holding:
        @attrs.define
        class Config:
            x: int = 1

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            provider = functools.partial(str, "value")
            references.extend([weakref.ref(provider), weakref.ref(ctx.config), weakref.ref(ctx)])
            ctx.section(name="a", order=1, text=provider, when=provider)
            ctx.variable("v", provider)
            ctx.on_change(self.listen)
            ctx.callback(self.listen, None)
            ctx.create_scope("inner").tool({"name": "t"})

        @hookimpl
        def contribute_tools(self) -> Callable[[], list[Any]]:
            return lambda: [{"name": str(self)}]

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None: ...

        def listen(self, event: ChangeEvent | None) -> None: ...

    plugin: Any = Holding()
    references: list[weakref.ref[Any]] = [weakref.ref(plugin), weakref.ref(Holding)]
    prompt.load(plugin, name="p", scope=scopes[0] if scoped else None)
    everywhere(prompt)
    for scope in (None, *scopes):
        prompt.assemble(scope=scope)
    prompt.unload("p", scope=scopes[0] if scoped else None)
    del plugin, Holding
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


def test_a_scope_of_an_unloaded_plugin_that_is_a_parent_holds_nothing_of_the_plugin() -> None:
    """The key lives on, as the parent of a scope of the host; the plugin does not."""
    prompt = SystemPrompt()
    scopes: list[Scope] = []

    class Preset:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            scopes.append(ctx.create_scope("preset"))

    plugin = Preset()
    reference = weakref.ref(plugin)
    prompt.load(plugin)
    child = prompt.create_scope("agent", parent=scopes.pop())
    prompt.assemble(scope=child)
    prompt.unload("Preset")
    del plugin
    gc.collect()
    assert reference() is None


# Modules


def imported(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Make a plugin module and put it into ``sys.modules`` until the test ends."""
    made = module(name, contribute_variables=contribute_variables)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def test_modules_stay_unless_they_are_purged(monkeypatch: pytest.MonkeyPatch) -> None:
    """`purge` removes the plugin's own ones, submodules included, and no others."""
    prompt = SystemPrompt()
    plugin = imported("my_plugin", monkeypatch)
    imported("my_plugin.sub", monkeypatch)
    imported("my_plugin_too", monkeypatch)
    prompt.load(plugin)
    prompt.unload("my_plugin")
    assert sys.modules["my_plugin"] is plugin
    prompt.load(plugin)
    prompt.unload("my_plugin", purge=True)
    assert not {"my_plugin", "my_plugin.sub"} & set(sys.modules)
    assert "my_plugin_too" in sys.modules


@pytest.mark.anyio
async def test_modules_are_purged_by_the_async_twin_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the plugin is gone."""
    prompt = SystemPrompt()
    plugin = imported("my_plugin", monkeypatch)
    await prompt.load_async(plugin)
    await prompt.unload_async("my_plugin", purge=True)
    assert "my_plugin" not in sys.modules


def test_a_refused_unload_purges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin goes on working, and needs its modules."""
    prompt = SystemPrompt()
    plugin = imported("my_plugin", monkeypatch)

    async def deactivate() -> None: ...

    vars(plugin)["deactivate"] = hookimpl(deactivate)
    prompt.load(plugin)
    with pytest.raises(AsyncProviderError):
        prompt.unload("my_plugin", purge=True)
    assert sys.modules["my_plugin"] is plugin


def test_a_purged_module_is_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the host keeps it."""
    prompt = SystemPrompt()
    plugin: Any = module("my_plugin", contribute_variables=contribute_variables)
    monkeypatch.setitem(sys.modules, "my_plugin", plugin)
    monkeypatch.undo()
    sys.modules["my_plugin"] = plugin
    reference = weakref.ref(plugin)
    prompt.load(plugin)
    prompt.assemble()
    prompt.unload("my_plugin", purge=True)
    del plugin
    gc.collect()
    assert reference() is None


def test_modules_that_another_load_uses_are_not_purged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one that goes takes them with it."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    plugin = imported("my_plugin", monkeypatch)
    prompt.load(plugin)
    prompt.load(plugin, scope=scope)
    prompt.unload("my_plugin", purge=True)
    assert "my_plugin" in sys.modules
    prompt.unload("my_plugin", scope=scope, purge=True)
    assert "my_plugin" not in sys.modules


def test_modules_that_a_load_under_another_name_uses_are_not_purged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What counts is the code, not what the plugin is called."""
    prompt = SystemPrompt()
    plugin = imported("my_plugin", monkeypatch)
    prompt.load(plugin, name="one")
    prompt.load(plugin, name="other", scope=prompt.create_scope("agent"))
    prompt.unload("one", purge=True)
    assert "my_plugin" in sys.modules


def test_a_purge_does_not_take_modules_that_are_not_the_plugin_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A namespace object is no part of the standard library's module that made its type."""
    prompt = SystemPrompt()
    monkeypatch.setitem(sys.modules, "types", sys.modules["types"])
    prompt.load(SimpleNamespace(contribute_variables=contribute_variables), name="p")
    prompt.unload("p", purge=True)
    assert "types" in sys.modules


def test_a_purge_never_takes_the_main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin class in a script is no reason to remove the script."""
    prompt = SystemPrompt()
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])

    class Scripted:
        __module__ = "__main__"

        @hookimpl
        def activate(self) -> None: ...

    prompt.load(Scripted())
    prompt.unload("Scripted", purge=True)
    assert "__main__" in sys.modules


# Asynchronous plugins


class Async:
    """Comes and goes asynchronously."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @hookimpl
    async def activate(self, ctx: DisposableContext) -> None:
        await anyio.lowlevel.checkpoint()
        ctx.variable("v", "value")
        await ctx.enter_async_context(self.connection())
        self.log.append("activated")

    @hookimpl
    async def deactivate(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.log.append("deactivated")

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        self.log.append("connected")
        yield
        await anyio.lowlevel.checkpoint()
        self.log.append("closed")


@pytest.mark.anyio
async def test_an_async_plugin_is_loaded_and_unloaded_by_the_async_twins() -> None:
    """`activate` and `deactivate` are awaited, and what it holds is left."""
    prompt = SystemPrompt()
    plugin = Async()
    info = await prompt.load_async(plugin)
    assert (info.state, prompt.assemble().variables) == ("loaded", {"v": "value"})
    await prompt.unload_async("Async")
    assert plugin.log == ["connected", "activated", "deactivated", "closed"]
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


@pytest.mark.anyio
async def test_the_async_disposal_of_a_scope_unloads_its_async_plugins() -> None:
    """As that of the host does; what they hold is left before the disposal returns."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    scoped, everywhere = Async(), Async()
    await prompt.load_async(scoped, scope=scope)
    await prompt.load_async(everywhere)
    await scope.dispose_async()
    assert scoped.log == ["connected", "activated", "deactivated", "closed"]
    await prompt.dispose_async()
    assert everywhere.log == scoped.log


@pytest.mark.anyio
async def test_a_plain_plugin_is_loaded_by_the_async_twin_too() -> None:
    """Nothing about it has to be async."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    plugin = Plugin()
    await prompt.load_async(plugin, name="p", scope=scope)
    assert prompt.assemble(scope=scope).variables == {"v": "value"}
    await prompt.unload_async("p", scope=scope)
    assert plugin.log == ["activate", "deactivate", "callback"]


def test_a_synchronous_load_refuses_an_async_plugin_before_changing_anything() -> None:
    """The error names the twin."""
    prompt = SystemPrompt()
    plugin = Async()
    with pytest.raises(AsyncProviderError, match=r"load_async\(\)"):
        prompt.load(plugin)
    assert (plugin.log, prompt.plugins) == ([], [])
    prompt.variable("v", "free")


@pytest.mark.anyio
async def test_a_synchronous_unload_refuses_an_async_plugin_before_changing_anything() -> None:
    """The error names the twin, and the plugin goes on working."""
    prompt = SystemPrompt()

    class Closing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")

        @hookimpl
        async def deactivate(self) -> None: ...

    prompt.load(Closing())
    with pytest.raises(AsyncProviderError, match=r"unload_async\(\)"):
        prompt.unload("Closing")
    assert (prompt.plugins[0].state, prompt.assemble().variables) == ("loaded", {"v": "value"})
    await prompt.unload_async("Closing")
    assert prompt.plugins == []


@pytest.mark.anyio
async def test_a_synchronous_unload_refuses_what_a_plugin_holds_by_naming_its_twin() -> None:
    """Whoever unloads by name has `unload_async` to go to."""
    prompt = SystemPrompt()
    plugin = Async()
    plugin.deactivate = None  # type: ignore[method-assign, assignment]
    await prompt.load_async(plugin)
    try:
        with pytest.raises(AsyncProviderError, match=r"unload_async\(\)"):
            prompt.unload("Async")
    finally:
        await prompt.unload_async("Async")


class Suspending:
    """Awaits something, from a plain function that returns an awaitable."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> Any:
        ctx.variable("v", "value")
        return asyncio.sleep(0)


def test_a_function_that_returns_an_awaitable_counts_as_async() -> None:
    """It is met only when it is called; the load is taken back, and the twin is named."""
    prompt = SystemPrompt()
    with pytest.raises(AsyncProviderError, match=r"load_async\(\)"):
        prompt.load(Suspending())
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


def test_a_returned_awaitable_counts_as_async_whether_or_not_it_waits() -> None:
    """Whether it does may change from call to call."""
    prompt = SystemPrompt()

    class Returning:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> Any:
            return self.later(ctx)

        async def later(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")

    with pytest.raises(AsyncProviderError, match=r"load_async\(\)"):
        prompt.load(Returning())
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


def test_an_awaitable_met_while_unloading_leaves_the_unload_whole() -> None:
    """It is too late to refuse: the plugin goes, the event is fired, the error comes out."""
    prompt = SystemPrompt()
    log: list[str] = []

    class Returning(Plugin):
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(log.append, "callback")

        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> Any:
            return asyncio.sleep(0)

    prompt.load(Returning())
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    with pytest.raises(AsyncProviderError, match=r"unload_async\(\)"):
        prompt.unload("Returning")
    assert (prompt.plugins, log) == ([], ["callback"])
    assert [event.kind for event in events] == ["unloaded"]


@pytest.mark.anyio
async def test_an_async_load_that_fails_leaves_nothing_behind() -> None:
    """What it holds is left, also what is async."""
    prompt = SystemPrompt()
    prompt.section(name="taken", order=1, text="")

    class Failing(Async):
        @hookimpl
        def contribute_sections(self) -> list[PromptSection]:
            return [PromptSection("taken", 1, "")]

    plugin = Failing()
    with pytest.raises(PluginLoadError, match="taken"):
        await prompt.load_async(plugin)
    assert plugin.log == ["connected", "activated", "deactivated", "closed"]
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


@pytest.mark.anyio
async def test_a_cancelled_load_leaves_nothing_behind() -> None:
    """Neither contributions nor names."""
    prompt = SystemPrompt()
    entered = anyio.Event()

    class Hanging:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")
            entered.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.load_async, Hanging())
        await entered.wait()
        tasks.cancel_scope.cancel()
    prompt.variable("v", "free")
    prompt.load(SimpleNamespace(activate=hookimpl(lambda: None)), name="Hanging")


@pytest.mark.anyio
async def test_a_plugin_being_loaded_is_listed_nowhere_and_its_name_is_taken() -> None:
    """It cannot be unloaded by name before it is there."""
    prompt = SystemPrompt()
    entered, release = anyio.Event(), anyio.Event()

    class Slow:
        @hookimpl
        async def activate(self) -> None:
            entered.set()
            await release.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.load_async, Slow())
        await entered.wait()
        assert prompt.plugins == []
        with pytest.raises(PluginNotFoundError):
            prompt.unload("Slow")
        with pytest.raises(PluginConflictError):
            await prompt.load_async(Slow())
        release.set()
    assert [info.name for info in prompt.plugins] == ["Slow"]


@pytest.mark.anyio
async def test_a_plugin_whose_scope_is_disposed_meanwhile_is_not_loaded() -> None:
    """The load raises, and what it registered is gone."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")

    class Unlucky:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")
            scope.dispose()

    with pytest.raises(PromptError):
        await prompt.load_async(Unlucky(), scope=scope)
    assert (prompt.plugins, prompt.assemble(scope=scope).variables) == ([], {})


@pytest.mark.anyio
async def test_an_async_unload_waits_for_the_assemblies_begun_before() -> None:
    """The plugin's provider is used to the end, then its callbacks run."""
    prompt = SystemPrompt()
    started, release = anyio.Event(), anyio.Event()
    log: list[str] = []

    class Providing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", self.provide)
            ctx.callback(log.append, "callback")

        async def provide(self) -> str:
            started.set()
            await release.wait()
            log.append("provided")
            return "value"

        @hookimpl
        def deactivate(self) -> None:
            log.append("deactivated")

    prompt.load(Providing())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.assemble_async)
        await started.wait()
        tasks.start_soon(prompt.unload_async, "Providing")
        await anyio.wait_all_tasks_blocked()
        assert (prompt.assemble().variables, prompt.plugins, log) == ({}, [], [])
        release.set()
    assert log == ["provided", "deactivated", "callback"]


@pytest.mark.anyio
async def test_a_plugin_may_unload_itself_inside_an_assembly() -> None:
    """It does not wait for the assembly that it is part of."""
    prompt = SystemPrompt()
    log: list[str] = []

    class OneShot:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(log.append, "callback")

        @hookimpl
        async def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            await prompt.unload_async("OneShot")
            assembly.sections.append(AssembledSection("once", "once"))

    prompt.load(OneShot())
    with anyio.fail_after(5):
        first = await prompt.assemble_async()
    assert (first.sections[-1].name, log) == ("once", ["callback"])
    assert len((await prompt.assemble_async()).sections) == 2


@pytest.mark.anyio
async def test_a_load_that_a_listener_refuses_winds_an_async_plugin_down() -> None:
    """`deactivate` is awaited, and the listener's error comes out."""
    prompt = SystemPrompt()
    plugin = Async()

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "loaded":
            raise ValueError("mine")

    prompt.on_change(refuse)
    with pytest.raises(ValueError, match="mine"):
        await prompt.load_async(plugin)
    assert plugin.log[-2:] == ["deactivated", "closed"]
    assert prompt.plugins == []


def test_a_synchronous_load_of_a_plugin_with_async_deactivate_fails_clearly() -> None:
    """Either it is refused with its twin at once, or the listener's error comes out."""
    prompt = SystemPrompt()

    class Closing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")

        @hookimpl
        async def deactivate(self) -> None:
            await asyncio.sleep(0)

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "loaded":
            raise ValueError("mine")

    prompt.on_change(refuse)
    with pytest.raises((ValueError, AsyncProviderError), match=r"mine|load_async\(\)"):
        prompt.load(Closing())
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


# Calling back


def test_activate_may_load_another_plugin() -> None:
    """Each is there when both loads have returned, and goes by itself."""
    prompt = SystemPrompt()

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(Plugin(), name="inner")

    prompt.load(Outer())
    assert {info.name for info in prompt.plugins} == {"Outer", "inner"}
    prompt.unload("Outer")
    assert [info.name for info in prompt.plugins] == ["inner"]


def test_activate_may_assemble() -> None:
    """It sees the host as it is without the plugin."""
    prompt = SystemPrompt()
    seen: list[PromptAssembly] = []

    class Looking:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("v", "value")
            seen.append(ctx.host.assemble())

    prompt.load(Looking())
    assert seen[0].variables == {}


def test_the_logger_of_plugins_is_below_the_library_s(caplog: pytest.LogCaptureFixture) -> None:
    """One setting reaches them all."""
    with caplog.at_level(logging.WARNING, "dsh_prompt"):
        SystemPrompt().load(SimpleNamespace(), name="empty")
    assert all(record.name.startswith("dsh_prompt.") for record in caplog.records)
    assert len(caplog.records) == 1


@pytest.mark.anyio
async def test_a_cancelled_load_is_taken_back_whole() -> None:
    """Async cleanups of what was registered so far run to their end."""
    prompt = SystemPrompt()
    log: list[str] = []
    activating = anyio.Event()

    class Manager:
        async def __aenter__(self) -> None: ...

        async def __aexit__(self, *error: object) -> None:
            await anyio.lowlevel.checkpoint()
            log.append("left")

    class Slow:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            await ctx.enter_async_context(Manager())
            ctx.variable("v", "value")
            activating.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.load_async, Slow())
        await activating.wait()
        tasks.cancel_scope.cancel()
    assert log == ["left"]
    assert (prompt.plugins, prompt.assemble().variables) == ([], {})


def test_a_plugin_whose_scope_goes_while_it_is_loaded_cannot_be_loaded() -> None:
    """It was never there, and whoever loads it is told why."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")

    class Late:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            scope.dispose()

    with pytest.raises(PluginLoadError, match="disposed"):
        prompt.load(Late(), scope=scope)
    assert prompt.plugins == []
