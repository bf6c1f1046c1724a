"""Trust: what the configuration of a checkout may do before its reader has agreed."""

from __future__ import annotations

import copy
import dataclasses
import logging
import os
import pickle
from collections.abc import Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    NewType,
    TypedDict,
    TypeVar,
)

import attrs
import pytest

from dsh_prompt import Config, ConfigError, PluginLoadError, PluginsConfig, SystemPrompt, hookimpl
from dsh_prompt.config.settings import Ignored, Settings
from dsh_prompt.config.trust import TrustStore
from dsh_prompt.plugins.choice import Wanted, choose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt import PluginInfo

TRUSTED: dict[str, Any] = {"dsh_prompt": {"trusted": True}}


@attrs.frozen
class Server:
    """A program to start."""

    command: str = attrs.field(metadata=TRUSTED)
    title: str = ""


class Runner:
    """A plugin that would start programs."""

    @attrs.frozen
    class Config:
        """What of it the user has to agree to."""

        program: str | None = attrs.field(default=None, metadata=TRUSTED)
        title: str = "runner"
        size: int = 1
        server: Server | None = None
        servers: tuple[Server, ...] = ()
        named: dict[str, Server] = attrs.field(factory=dict)

    def __init__(self) -> None:
        self.config: Any = None

    @hookimpl
    def activate(self, ctx: Any) -> None:
        self.config = ctx.config


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the configuration file of a checkout, in which the test works."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "dsh-prompt.toml"


@pytest.fixture
def own(user_folder: Path) -> Path:
    """Give the user's own configuration file."""
    return user_folder / "dsh-prompt.toml"


@pytest.fixture
def loaded() -> Callable[..., tuple[Any, PluginInfo]]:
    """Give a function that loads the plugin under a configuration: its settings, and its info."""

    def load(config: Config | None = None) -> tuple[Any, PluginInfo]:
        runner = Runner()
        info = SystemPrompt(Config.load() if config is None else config).load(runner, name="run")
        return runner.config, info

    return load


def trust(file: Path) -> None:
    """Trust a file as it is now."""
    TrustStore.of_user().trust(file, file.read_bytes())


# A plugin's settings


def test_a_marked_setting_of_a_checkout_has_no_effect(
    project: Path, own: Path, loaded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The plugin loads, its other settings count, and what was ignored is told."""
    project.write_text('[plugins.config.run]\nprogram = "/bin/evil"\ntitle = "theirs"\n')
    config, info = loaded()
    assert (config.program, config.title) == (None, "theirs")
    assert info.ignored == (Ignored(str(project), "plugins.config.run.program"),)
    [record] = [entry for entry in caplog.records if entry.name == "dsh_prompt.config"]
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        f"{project} is not trusted, so these of its settings are ignored: "
        f"plugins.config.run.program; read the file, then run: dsh-prompt trust {project}"
    )
    assert "/bin/evil" not in caplog.text


def test_a_trusted_file_has_all_its_effect(project: Path, own: Path, loaded: Any) -> None:
    """Until it is edited, or trust is taken back."""
    project.write_text('[plugins.config.run]\nprogram = "make"\n')
    trust(project)
    assert loaded()[0].program == "make"
    assert loaded()[1].ignored == ()
    text = project.read_text()
    project.write_text(f"{text}# edited\n")
    assert loaded()[0].program is None
    project.write_text(text)
    assert loaded()[0].program == "make"
    assert TrustStore.of_user().untrust(project)
    assert loaded()[0].program is None
    assert not TrustStore.of_user().untrust(project)


def test_a_copy_of_a_trusted_file_is_another_file(
    project: Path, own: Path, loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may be right in one folder may start something else in the next."""
    project.write_text('[plugins.config.run]\nprogram = "./build"\n')
    trust(project)
    for name in ("copy", "link"):
        other = tmp_path / name
        other.mkdir()
        file = other / "dsh-prompt.toml"
        if name == "copy":
            file.write_bytes(project.read_bytes())
        else:
            file.symlink_to(project)
        assert loaded(Config.load(file))[0].program is None
    way_in = tmp_path / "way-in"
    way_in.symlink_to(project.parent)
    monkeypatch.chdir(way_in)
    assert loaded()[0].program == "./build"
    assert loaded(Config.load(way_in / "dsh-prompt.toml"))[0].program == "./build"


def test_the_user_s_own_file_needs_no_trust(project: Path, own: Path, loaded: Any) -> None:
    """And what it says holds where a checkout says something else."""
    own.write_text('[plugins.config.run]\nprogram = "mine"\ntitle = "mine"\nsize = 7\n')
    assert loaded()[0].program == "mine"
    project.write_text('[plugins.config.run]\nprogram = "/bin/evil"\ntitle = "theirs"\n')
    config, info = loaded()
    assert (config.program, config.title, config.size) == ("mine", "theirs", 7)
    assert [one.key for one in info.ignored] == ["plugins.config.run.program"]


def test_a_host_can_vouch_for_a_file_or_refuse_it(project: Path, own: Path, loaded: Any) -> None:
    """It may know better than the record does, either way."""
    project.write_text('[plugins.config.run]\nprogram = "make"\n')
    assert loaded(Config.load(trusted=True))[0].program == "make"
    trust(project)
    assert loaded(Config.load(trusted=False))[0].program is None


def test_what_comes_from_code_is_trusted(loaded: Any, project: Path, own: Path) -> None:
    """Only files can be a stranger's."""
    table = {"program": "make"}
    assert loaded(Config.from_dict({"plugins": {"config": {"run": table}}}))[0].program == "make"
    assert loaded(Config(plugins=PluginsConfig(config={"run": table})))[0].program == "make"
    runner = Runner()
    SystemPrompt(Config.load()).load(runner, config=table)
    assert runner.config.program == "make"


@pytest.mark.parametrize(
    "passed_on",
    [
        lambda config: attrs.evolve(config, persona="other"),
        lambda config: attrs.evolve(config, plugins=attrs.evolve(config.plugins, autoload=False)),
        lambda config: Config(plugins=config.plugins),
        lambda config: Config(plugins=PluginsConfig(config={**config.plugins.config, "x": {}})),
        copy.deepcopy,
        lambda config: pickle.loads(pickle.dumps(config)),
    ],
)
def test_a_configuration_that_is_passed_on_gains_no_trust(
    passed_on: Callable[[Config], Config], project: Path, own: Path, loaded: Any
) -> None:
    """However a program makes its own of it."""
    project.write_text('[plugins.config.run]\nprogram = "/bin/evil"\n')
    config, info = loaded(passed_on(Config.load()))
    assert config.program is None
    assert [one.key for one in info.ignored] == ["plugins.config.run.program"]


def test_a_table_that_is_handed_to_load_gains_no_trust(project: Path, own: Path) -> None:
    """It is still what the file says."""
    project.write_text('[plugins.config.run]\nprogram = "/bin/evil"\ntitle = "x"\n')
    runner = Runner()
    SystemPrompt().load(runner, config=Config.load().plugins.config["run"])
    assert (runner.config.program, runner.config.title) == (None, "x")


def test_marks_are_found_at_any_depth(project: Path, own: Path, loaded: Any) -> None:
    """In tables, in lists, and in tables by name."""
    own.write_text("""
[plugins.config.run.server]
command = "mine"
[plugins.config.run.named.a]
command = "mine"
""")
    project.write_text("""
[plugins.config.run.server]
command = "/bin/evil"
title = "theirs"
[plugins.config.run.named.a]
command = "/bin/evil"
title = "theirs"
""")
    config, info = loaded()
    assert config.server == config.named["a"] == Server("mine", "theirs")
    assert [one.key for one in info.ignored] == [
        "plugins.config.run.server.command",
        "plugins.config.run.named.a.command",
    ]


@pytest.mark.parametrize("where", ["server", "named.b", "[servers]"])
def test_what_cannot_stand_without_a_marked_setting_goes_whole(
    where: str, project: Path, own: Path, loaded: Any
) -> None:
    """It is ignored, not fatal: the user's own settings are all there are."""
    own.write_text('[plugins.config.run]\ntitle = "mine"\n')
    header = "[[plugins.config.run.servers]]" if "[" in where else f"[plugins.config.run.{where}]"
    project.write_text(f'plugins.config.run.size = 5\n{header}\ncommand = "/bin/evil"\n')
    config, info = loaded()
    assert config == Runner.Config(title="mine")
    assert info.ignored == (Ignored(str(project), "plugins.config.run"),)


def test_a_mistake_beside_it_is_an_error_all_the_same(
    project: Path, own: Path, loaded: Any
) -> None:
    """With the file that makes it, and the line."""
    own.write_text("[plugins.config.run]\n\nsize = 'x'\n")
    with pytest.raises(PluginLoadError) as caught:
        loaded()
    assert f"{own}:3: plugins.config.run.size: expected an integer, got 'x'" in str(caught.value)
    own.write_text("[plugins.config.run]\nsize = 5\n")
    project.write_text("[plugins.config.run]\nsise = 5\n")
    with pytest.raises(ConfigError) as refused:
        loaded()
    expected = f'{project}:2: plugins.config.run.sise: unknown key; did you mean "size"?'
    assert expected in str(refused.value)
    assert (refused.value.file, refused.value.line) == (str(project), 2)


def test_a_missing_setting_is_told_where_its_table_stands(
    project: Path, own: Path, loaded: Any
) -> None:
    """There is no line for what is not there."""
    project.write_text('\n[plugins.config.run.server]\ntitle = "x"\n')
    with pytest.raises(ConfigError, match=rf"{project}:2: plugins.config.run.server.command: is"):
        loaded()


def test_a_plugin_without_a_config_class_gets_its_table(project: Path, own: Path) -> None:
    """It can mark nothing."""

    class Plain(Runner):
        Config = None  # type: ignore[assignment]

    project.write_text("[plugins.config.run]\nx = 5\n")
    plain = Plain()
    SystemPrompt(Config.load()).load(plain, name="run")
    assert dict(plain.config) == {"x": 5}


# Wherever the mark stands


@dataclasses.dataclass
class PlainServer:
    """A dataclass with a mark, and one that holds an attrs class with one."""

    command: str = dataclasses.field(default="", metadata=TRUSTED)
    server: Server | None = None


class TypedServer(TypedDict):
    """A mapping with a type for each key."""

    server: Server


Alias = NewType("Alias", Server)
Item = TypeVar("Item")


@attrs.frozen
class Box(Generic[Item]):
    """A class whose field has whatever type."""

    item: Item | None = None


class ServerBox(Box[Server]):
    """One that holds a server."""


TYPES: list[tuple[Any, Any]] = [
    (Server, {"command": "EVIL"}),
    (Server | None, {"command": "EVIL"}),
    (list[Server], [{"command": "EVIL"}]),
    (tuple[Server, ...], [{"command": "EVIL"}]),
    (tuple[str, Server], ["x", {"command": "EVIL"}]),
    (tuple[PlainServer, Server], [{}, {"command": "EVIL"}]),
    (dict[str, Server], {"a": {"command": "EVIL"}}),
    (dict[str, list[Server]], {"a": [{"command": "EVIL"}]}),
    (Mapping[str, Server], {"a": {"command": "EVIL"}}),
    (Sequence[Server], [{"command": "EVIL"}]),
    (Annotated[Server, "x"], {"command": "EVIL"}),
    (Alias, {"command": "EVIL"}),
    (Final[Server], {"command": "EVIL"}),
    (PlainServer, {"command": "EVIL"}),
    (PlainServer, {"server": {"command": "EVIL"}}),
    (TypedServer, {"server": {"command": "EVIL"}}),
    (str | Server, {"command": "EVIL"}),
    (Box[Server], {"item": {"command": "EVIL"}}),
    (ServerBox, {"item": {"command": "EVIL"}}),
]


@pytest.mark.parametrize(("kind", "value"), TYPES, ids=lambda item: str(item)[:40])
@pytest.mark.parametrize("trusted", [False, True])
def test_a_mark_is_found_in_every_type(
    kind: Any, value: Any, trusted: bool, project: Path, own: Path
) -> None:
    """As far as a type can be structured, it can be looked through."""
    runner = Runner()
    config_class = attrs.make_class("Config", {"x": attrs.field(type=kind, default=None)})
    vars(runner)["Config"] = config_class
    project.write_text(f"[plugins.config.run]\nx = {_toml(value)}\n")
    prompt = SystemPrompt(Config.load(trusted=trusted))
    try:
        info = prompt.load(runner, name="run")
    except PluginLoadError:
        # What cannot be structured at all reaches nobody, trusted or not.
        trusted = False
    else:
        assert (info.ignored == ()) is trusted
    assert ("EVIL" in repr(runner.config)) is trusted


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else repr(value)


def test_a_checkout_does_not_take_marked_settings_away(
    project: Path, own: Path, loaded: Any
) -> None:
    """A list that holds some, or a table, is not replaced by something else."""
    own.write_text("""
[plugins.config.run]
title = "mine"
[plugins.config.run.server]
command = "mine"
[[plugins.config.run.servers]]
command = "mine"
""")
    for theirs in ("servers = []", "servers = [{ command = 'EVIL' }]", "server = 'EVIL'"):
        project.write_text(f"[plugins.config.run]\nsize = 5\n{theirs}\n")
        config, info = loaded()
        assert config.server == Server("mine")
        assert config.servers == (Server("mine"),)
        assert (config.title, config.size) == ("mine", 5)
        assert [one.key for one in info.ignored] == [f"plugins.config.run.{theirs.split()[0]}"]


def test_a_plugin_that_cannot_do_without_it_says_so(project: Path, own: Path) -> None:
    """It is not loaded, and its error tells what is not trusted."""

    class Needy(Runner):
        @attrs.frozen
        class Config:
            program: str = attrs.field(metadata=TRUSTED)

    project.write_text("[plugins.config.run]\nprogram = 'EVIL'\n")
    with pytest.raises(PluginLoadError) as caught:
        SystemPrompt(Config.load()).load(Needy(), name="run")
    assert "plugins.config.run.program: is missing" in str(caught.value)
    assert f"{project} says it, but is not trusted" in str(caught.value)


@pytest.mark.parametrize("mistake", ["titel = 'x'", "title = 5"])
def test_a_mistake_is_told_although_something_is_ignored(
    mistake: str, project: Path, own: Path, loaded: Any
) -> None:
    """Trust is no excuse for a typing error."""
    project.write_text(f"[plugins.config.run]\nprogram = 'x'\n{mistake}\n")
    with pytest.raises(ConfigError, match=rf"{project}:3: plugins\.config\.run\.tit"):
        loaded()


def test_settings_from_files_refuse_change(project: Path, own: Path) -> None:
    """A change would be without effect on what the files say."""
    project.write_text('[plugins.config.run]\nprogram = "x"\n')
    settings = Config.load().plugins.config["run"]
    for change in (
        lambda: settings.__setitem__("x", 1),
        lambda: settings.update(x=1),
        lambda: settings.pop("program"),
        settings.clear,
    ):
        with pytest.raises(TypeError, match="do not change"):
            change()
    assert settings.copy() is settings
    assert type(dict(settings)) is dict


def test_what_a_checkout_keeps_out_is_told_once(
    project: Path, own: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the plugin that guards the user."""
    project.write_text('[plugins]\ndisable = ["guard", "mine"]\n')
    own.write_text('[plugins]\ndisable = ["mine"]\n')
    choice = choose(Config.load(), ["guard", "mine", "other"], (), Wanted())
    assert (choice.names, choice.kept_out) == (["other"], ["guard"])
    assert f"plugins.disable in {project} names it" in choice.left_out["guard"].reason
    assert choose(Config.load(trusted=True), ["guard"], (), Wanted()).kept_out == []


@pytest.mark.parametrize(
    ("mine", "theirs", "file"),
    [
        ("autoload = false", "autoload = true", "own"),
        ("autoload = true", "autoload = false", "project"),
        ('disable = ["git"]', "disable = []", "own"),
        ('disable = ["git"]', 'disable = ["git"]', "project"),
    ],
)
def test_the_file_that_counts_is_named(
    mine: str, theirs: str, file: str, project: Path, own: Path
) -> None:
    """Whoever wants the plugin knows where to change it."""
    own.write_text(f"[plugins]\n{mine}\n")
    project.write_text(f"[plugins]\n{theirs}\n")
    reason = choose(Config.load(), ["git"], (), Wanted()).left_out["git"].reason
    assert str(own if file == "own" else project) in reason


def test_names_that_are_nearly_right_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would be passed over in silence; what is nowhere near may be anybody's."""
    plugins = PluginsConfig(disable=("plan-mod", "clock"), config={"gti": {}, "audit": {}})
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "plan-mode,gitt")
    choice = choose(Config(plugins=plugins), ["git", "plan-mode"], (), Wanted())
    assert choice.problems == [
        'plugins.disable names "plan-mod", which is not installed; did you mean "plan-mode"?',
        'plugins.config names "gti", which is not installed; did you mean "git"?',
        'DSH_PROMPT_PLUGINS names "gitt", which is not installed; did you mean "git"?',
    ]


@pytest.mark.parametrize("spelled", ["dsh-prompt.toml", "../dsh-prompt/dsh-prompt.toml"])
def test_the_user_s_own_file_is_that_however_it_is_spelled(
    spelled: str, own: Path, loaded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a relative path, or through a link."""
    own.write_text('[plugins.config.run]\nprogram = "mine"\n')
    monkeypatch.chdir(own.parent)
    assert loaded(Config.load(spelled))[0].program == "mine"


@pytest.mark.parametrize("content", ["[" * 100_000, '{"path": "\\u0000", "sha256": ""}', "5"])
def test_a_record_that_is_none_is_passed_over(content: str, project: Path, own: Path) -> None:
    """It trusts nothing, and stops nobody."""
    project.write_text("")
    trust(project)
    store = TrustStore.of_user()
    [record] = store.folder.iterdir()
    record.write_text(content)
    assert not store.trusts(project, b"")
    assert [one.state for one in store] in ([], ["gone"])
    assert Config.load() == Config()


def test_what_took_the_place_of_a_trusted_file_is_not_waited_for(project: Path, own: Path) -> None:
    """A checkout can bring links to devices, and somebody else a pipe."""
    for replace in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo):
        project.write_text("")
        trust(project)
        project.unlink()
        replace(project)
        assert [record.state for record in TrustStore.of_user()] == ["gone"]
        project.unlink()


# Which plugins are loaded

NARROWED: list[tuple[str, str, dict[str, Any], list[tuple[str, tuple[str, ...]]]]] = [
    ("", "enable = ['a']", {"autoload": True, "enable": ("a",)}, []),
    ("", "autoload = false\nenable = ['a']", {"autoload": False, "enable": ("a",)}, []),
    ("", "disable = ['a']", {"disable": ("a",)}, []),
    (
        "autoload = false\nenable = ['a']",
        "enable = ['a', 'b']",
        {"autoload": False, "enable": ("a",)},
        [("plugins.enable", ("b",))],
    ),
    (
        "autoload = false\nenable = ['a']",
        "autoload = true",
        {"autoload": False, "enable": ("a",)},
        [("plugins.autoload", ())],
    ),
    (
        "autoload = false\nenable = ['a', 'b']",
        "autoload = false\nenable = ['b', 'c']",
        {"autoload": False, "enable": ("b",)},
        [("plugins.enable", ("c",))],
    ),
    (
        "disable = ['a', 'b']",
        "disable = ['b', 'c']",
        {"disable": ("b", "c", "a")},
        [("plugins.disable", ("a",))],
    ),
]


@pytest.mark.parametrize(("mine", "theirs", "result", "ignored"), NARROWED)
def test_a_checkout_can_only_take_plugins_away(
    mine: str,
    theirs: str,
    result: dict[str, Any],
    ignored: list[tuple[str, tuple[str, ...]]],
    project: Path,
    own: Path,
) -> None:
    """What the user's own settings leave out stays out."""
    own.write_text(f"[plugins]\n{mine}\n")
    project.write_text(f"[plugins]\n{theirs}\n")
    config = Config.load()
    assert config.plugins == PluginsConfig(**result)
    assert config.ignored == tuple(Ignored(str(project), *one) for one in ignored)
    trust(project)
    assert Config.load().ignored == ()
    assert (
        Config.load().plugins
        == Config.from_dict({"plugins": {**_table(mine), **_table(theirs)}}).plugins
    )


def _table(text: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415

    return tomllib.loads(text)


def test_what_is_ignored_is_logged_once(
    project: Path, own: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """However often plugins are loaded; each host tells it, with the report."""
    own.write_text("[plugins]\nautoload = false\n")
    project.write_text("[plugins]\nenable = ['evil']\n[plugins.config.run]\nprogram = 'x'\n")
    prompt = SystemPrompt(Config.load())
    report = prompt.load_entry_points()
    assert report.ignored == (Ignored(str(project), "plugins.enable", ("evil",)),)
    assert (report.loaded, report.failed) == ((), {})
    prompt.load(Runner(), name="run")
    prompt.unload("run")
    prompt.load(Runner(), name="run")
    assert prompt.load_entry_points().ignored == report.ignored
    told = [entry.getMessage() for entry in caplog.records if entry.name == "dsh_prompt.config"]
    assert len(told) == 2
    assert 'plugins.enable ("evil")' in told[0]
    assert "plugins.config.run.program" in told[1]


def test_a_hostile_name_is_told_harmlessly(
    tmp_path: Path, own: Path, loaded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a folder nor a key can write to a terminal, and the command can be pasted."""
    folder = tmp_path / "a\x1b]0;x\x07 ; rm -rf $HOME\n"
    folder.mkdir()
    file = folder / "dsh-prompt.toml"
    file.write_text('[plugins]\nenable = ["\\u001b[2J"]\n[plugins.config.run]\nprogram = "x"\n')
    own.write_text("[plugins]\nautoload = false\n")
    config = Config.load(file)
    SystemPrompt(config).load_entry_points()
    loaded(config)
    messages = [entry.getMessage() for entry in caplog.records]
    assert len(messages) == 2
    assert all(map(str.isprintable, messages))
    assert all("trust '/" in message for message in messages)


# The records


def test_records_are_kept_by_path_and_content(tmp_path: Path) -> None:
    """One file each, readable by nobody else; what is no record is passed over."""
    store = TrustStore(tmp_path / "store")
    assert list(store) == []
    files = [tmp_path / name for name in ("b.toml", "a.toml", "\udcff.toml")]
    for file in files:
        file.write_text("x = 1\n")
        store.trust(file, file.read_bytes())
        store.trust(file, file.read_bytes())
    assert [record.path for record in store] == sorted(files)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    (store.folder / "x.json").write_text("{")
    (store.folder / "y.json").write_text("[]")
    (store.folder / "z.json").write_bytes(b"\xff")
    assert [record.state for record in store] == ["trusted"] * 3
    files[0].write_text("x = 2\n")
    files[1].unlink()
    assert {record.path.name: record.state for record in store} == {
        "a.toml": "gone",
        "b.toml": "changed",
        "\udcff.toml": "trusted",
    }


def test_a_record_under_another_s_name_trusts_nothing(tmp_path: Path) -> None:
    """It holds its own path."""
    store = TrustStore(tmp_path / "store")
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    store.trust(one, b"")
    store.trust(two, b"x")
    [first, second] = sorted(store.folder.iterdir())
    first_bytes = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(first_bytes)
    assert not store.trusts(one, b"")
    assert not store.trusts(two, b"x")


def test_a_store_that_cannot_be_read_trusts_nothing(tmp_path: Path) -> None:
    """Doubt is no trust."""
    (tmp_path / "store").write_text("")
    store = TrustStore(tmp_path / "store")
    assert not store.trusts(tmp_path / "x.toml", b"")
    assert list(store) == []
    with pytest.raises(OSError, match=os.strerror(17)):
        store.trust(tmp_path / "x.toml", b"")


def test_settings_are_an_ordinary_table(project: Path, own: Path) -> None:
    """Whoever only reads them sees what all files say."""
    project.write_text('[plugins.config.run]\nprogram = "x"\n')
    settings = Config.load().plugins.config["run"]
    assert isinstance(settings, Settings)
    assert settings == {"program": "x"}
