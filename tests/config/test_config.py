"""Config: in code, from mappings, from files, and never guessed."""

from __future__ import annotations

import math
import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt import (
    IDENTITY_SECTION,
    PERSONA_SECTION,
    Config,
    ConfigError,
    PluginsConfig,
    PromptError,
    SystemPrompt,
    ToolOrderError,
    render_prompt,
)
from dsh_prompt.config.files import read_config_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that is the working directory, deep in a folder of the test's own."""
    folder = tmp_path / "project" / "src" / "package"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return tmp_path / "project"


# In code


def test_the_defaults_are_those_of_the_contract() -> None:
    """A host without a configuration behaves like one with an empty one."""
    config = Config()
    assert config == Config.from_dict({})
    assert (config.include_harness_identity, config.include_runtime_context) == (True, True)
    assert (config.persona, config.tool_order, config.hook_timeout) == ("", None, None)
    assert config.plugins == PluginsConfig(autoload=True, enable=(), disable=(), config={})


@pytest.mark.parametrize("cls", [Config, PluginsConfig])
def test_a_configuration_is_an_immutable_attrs_class(cls: type[Any]) -> None:
    """What a host was built with stays."""
    config = cls()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        config.autoload = config.persona = None
    assert attrs.evolve(config) == config


def test_a_host_knows_its_configuration() -> None:
    """Also where it was given none."""
    config = Config(persona="You are brief.")
    assert SystemPrompt(config).config is config
    assert SystemPrompt().config == Config()


def test_the_identity_can_be_left_out_and_the_persona_be_set() -> None:
    """The persona's section is there in any case."""
    config = Config(include_harness_identity=False, persona="You are brief.")
    assembly = SystemPrompt(config).assemble()
    assert [section.name for section in assembly.sections] == [PERSONA_SECTION]
    assert render_prompt(assembly) == "You are brief."
    assert IDENTITY_SECTION in [s.name for s in SystemPrompt().assemble().sections]


def test_runtime_contexts_can_be_left_out() -> None:
    """No provider of one is called then."""
    prompt = SystemPrompt(Config(include_runtime_context=False))

    def never() -> str:
        raise AssertionError("a suppressed context was evaluated")

    prompt.context(name="git", order=1, text=never)
    assert prompt.assemble().contexts == []


def test_a_persona_may_reference_variables() -> None:
    """It is a section like any other."""
    prompt = SystemPrompt(Config(include_harness_identity=False, persona="In {{cwd}}."))
    prompt.variable("cwd", "/src")
    assert render_prompt(prompt.assemble()) == "In /src."


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([], "must contain"),
        (["read"], "must contain"),
        (["read", "<unlisted-tools>", "read"], '"read" more than once'),
        (["<unlisted-tools>", "<unlisted-tools>"], "more than once"),
    ],
)
def test_a_malformed_tool_order_is_refused_when_the_config_is_built(
    order: list[str], message: str
) -> None:
    """Not when tools are first put in order."""
    for given in (order, tuple(order)):
        fields: dict[str, Any] = {"tool_order": given}
        with pytest.raises(ToolOrderError, match=message):
            Config(**fields)


@pytest.mark.parametrize("order", [[], ["read", "read"]])
def test_a_malformed_tool_order_in_a_file_is_the_same_error(order: list[str]) -> None:
    """However a config is built, it raises `ToolOrderError`."""
    with pytest.raises(ToolOrderError):
        Config.from_dict({"tool_order": order})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"include_harness_identity": 1}, "include_harness_identity: expected a boolean, got 1"),
    ({"include_runtime_context": "yes"}, "include_runtime_context: expected a boolean, got 'yes'"),
    ({"persona": 5}, "persona: expected a string, got 5"),
    ({"persona": None}, "persona: expected a string, got None"),
    ({"tool_order": "read"}, "tool_order: expected a list"),
    ({"tool_order": ["read", 5, "<unlisted-tools>"]}, "tool_order"),
    ({"hook_timeout": "5"}, "hook_timeout: expected a"),
    ({"hook_timeout": True}, "hook_timeout: expected a"),
    ({"hook_timeout": 0}, "hook_timeout: expected a"),
    ({"hook_timeout": -1}, "hook_timeout: expected a"),
    ({"hook_timeout": math.nan}, "hook_timeout: expected a"),
    ({"hook_timeout": math.inf}, "hook_timeout: expected a"),
    ({"plugins": 5}, "plugins: expected a"),
]
WRONG_PLUGINS: list[tuple[dict[str, Any], str]] = [
    ({"autoload": 1}, "autoload: expected a boolean"),
    ({"autoload": "true"}, "autoload: expected a boolean"),
    ({"enable": "git"}, "enable: expected a list"),
    ({"disable": ["git", 5]}, "disable"),
    ({"config": ["git"]}, "config: expected a table"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_a_wrong_type_is_refused(fields: dict[str, Any], message: str) -> None:
    """In code as in a document: nothing is made into something else."""
    with pytest.raises(ConfigError, match=message):
        Config(**fields)
    with pytest.raises(ConfigError, match=message):
        Config.from_dict(fields)


@pytest.mark.parametrize(("fields", "message"), WRONG_PLUGINS)
def test_a_wrong_type_in_the_plugins_table_is_refused(fields: dict[str, Any], message: str) -> None:
    """With its path from the top."""
    with pytest.raises(ConfigError, match=message):
        PluginsConfig(**fields)
    with pytest.raises(ConfigError, match=r"plugins\." + message) as caught:
        Config.from_dict({"plugins": fields})
    assert caught.value.path.startswith(f"plugins.{next(iter(fields))}")


@pytest.mark.parametrize("table", [5, "x", ["x"], None])
def test_the_table_of_a_plugin_is_a_table(table: object) -> None:
    """It is checked with the file, not when the plugin is loaded."""
    with pytest.raises(ConfigError, match=r"plugins\.config\.git"):
        Config.from_dict({"plugins": {"config": {"git": table}}})


@pytest.mark.parametrize(
    ("data", "path", "nearest"),
    [
        ({"personna": ""}, "personna", "persona"),
        ({"toolOrder": []}, "toolOrder", "tool_order"),
        ({"plugin": {}}, "plugin", "plugins"),
        ({"plugins": {"auto_load": True}}, "plugins.auto_load", "autoload"),
        ({"plugins": {"disabled": []}}, "plugins.disabled", "disable"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(
    data: dict[str, Any], path: str, nearest: str
) -> None:
    """A typing error must not pass for a setting."""
    with pytest.raises(ConfigError, match=f'{path}.*did you mean "{nearest}"') as caught:
        Config.from_dict(data)
    assert caught.value.path == path


def test_an_unknown_key_that_nothing_resembles_is_refused_with_the_valid_ones() -> None:
    """Whoever reads the error knows what there is."""
    with pytest.raises(ConfigError, match=r"xyz.*persona.*plugins"):
        Config.from_dict({"xyz": 1})


@pytest.mark.parametrize("key", ["file", "fil", "xyz"])
def test_only_keys_that_are_valid_are_proposed(key: str) -> None:
    """What cannot be written in a file is no proposal."""
    with pytest.raises(ConfigError) as caught:
        Config.from_dict({key: 1})
    assert '"file"' not in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    """Each on a line of its own."""
    with pytest.raises(ConfigError) as caught:
        Config.from_dict({"personna": "", "hook_timeout": "5", "plugins": {"autoload": 1}})
    lines = str(caught.value).splitlines()
    for word in ("personna", "hook_timeout", "plugins.autoload"):
        assert any(word in line for line in lines)
    assert len(lines) == 3


@pytest.mark.parametrize("data", [None, 5, "persona", ["persona"]])
def test_a_document_that_is_no_mapping_is_refused(data: Any) -> None:
    """Whatever a caller took for one."""
    with pytest.raises(ConfigError, match="expected a table"):
        Config.from_dict(data)


def test_a_config_error_is_a_value_error_with_path_and_file() -> None:
    """A program can point at the place."""
    with pytest.raises(ConfigError) as caught:
        Config.from_dict({"persona": 5}, file="some.toml")
    assert (caught.value.path, caught.value.file) == ("persona", "some.toml")
    assert str(caught.value).startswith("some.toml: persona")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, PromptError)


def test_any_mapping_is_taken() -> None:
    """As the annotation says; a read-only one is a mapping too."""
    data = MappingProxyType({"plugins": MappingProxyType({"autoload": False})})
    assert Config.from_dict(data).plugins.autoload is False


# From files


FULL = """
include_harness_identity = false
include_runtime_context = false
persona = "You are brief."
tool_order = ["read", "<unlisted-tools>"]
hook_timeout = 2.5

[plugins]
autoload = false
enable = ["git"]
disable = ["audit"]

[plugins.config.git]
max_commits = 5
nested = { a = [1, 2] }
"""


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    """Every setting has its key, and a plugin's table is kept as it stands."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(FULL)
    assert Config.load(file) == Config(
        include_harness_identity=False,
        include_runtime_context=False,
        persona="You are brief.",
        tool_order=("read", "<unlisted-tools>"),
        hook_timeout=2.5,
        plugins=PluginsConfig(
            autoload=False,
            enable=("git",),
            disable=("audit",),
            config={"git": {"max_commits": 5, "nested": {"a": [1, 2]}}},
        ),
    )


def test_a_path_may_be_a_str_and_of_any_name(tmp_path: Path) -> None:
    """Only ``pyproject.toml`` has a table for it."""
    file = tmp_path / "other.toml"
    file.write_text('persona = "mine"\n')
    config = Config.load(str(file))
    assert (config.persona, config.file) == ("mine", str(file))


def test_without_a_file_the_defaults_hold(project: Path) -> None:
    """Not to have one is no error."""
    assert Config.load() == Config()


def test_a_file_is_looked_for_upwards(project: Path) -> None:
    """From the working directory to the root."""
    (project / "dsh-prompt.toml").write_text('persona = "project"\n')
    assert Config.load().persona == "project"


def test_the_nearest_file_counts(project: Path) -> None:
    """Whatever stands farther up is not read, not even to be wrong."""
    (project / "dsh-prompt.toml").write_text("nonsense = {{{\n")
    (project / "src" / "pyproject.toml").write_text('[tool.dsh-prompt]\npersona = "near"\n')
    assert Config.load().persona == "near"


def test_the_own_file_wins_over_the_project_s(project: Path) -> None:
    """In one folder, ``dsh-prompt.toml`` stands before ``pyproject.toml``."""
    (project / "pyproject.toml").write_text('[tool.dsh-prompt]\npersona = "pyproject"\n')
    assert Config.load().persona == "pyproject"
    (project / "dsh-prompt.toml").write_text('persona = "own"\n')
    assert Config.load().persona == "own"


def test_a_project_file_without_the_table_is_passed_over(project: Path) -> None:
    """The search goes on above it."""
    (project / "src" / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.other]\nx = 1\n')
    (project / "dsh-prompt.toml").write_text('persona = "above"\n')
    assert Config.load().persona == "above"


def test_a_project_file_with_an_empty_table_ends_the_search(project: Path) -> None:
    """The table is there and says: the defaults."""
    (project / "src" / "pyproject.toml").write_text("[tool.dsh-prompt]\n")
    (project / "dsh-prompt.toml").write_text('persona = "above"\n')
    assert Config.load() == Config()


def test_a_folder_of_that_name_is_no_file(project: Path) -> None:
    """It is passed over."""
    (project / "src" / "dsh-prompt.toml").mkdir()
    (project / "dsh-prompt.toml").write_text('persona = "above"\n')
    assert Config.load().persona == "above"


@pytest.mark.parametrize("name", ["dsh-prompt.toml", "pyproject.toml"])
def test_what_is_wrong_in_a_file_names_it(project: Path, name: str) -> None:
    """With key and nearest key."""
    file = project / name
    table = "[tool.dsh-prompt]\n" if name == "pyproject.toml" else ""
    file.write_text(f"{table}personna = 1\n")
    with pytest.raises(ConfigError, match=r'personna.*did you mean "persona"') as caught:
        Config.load()
    assert (caught.value.file, caught.value.path) == (str(file), "personna")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"persona = ", b"\xff\xfe", b"persona = 1\npersona = 2\n"], ids=str
)
def test_a_file_that_is_no_toml_is_refused(project: Path, content: bytes) -> None:
    """The error names it, and keeps the parser's as its cause."""
    file = project / "dsh-prompt.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        Config.load()
    assert caught.value.file == str(file)
    assert str(file) in str(caught.value)
    assert caught.value.__cause__ is not None


def test_a_given_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    """Whoever names one means it."""
    with pytest.raises(ConfigError, match=r"missing\.toml.*cannot be read"):
        Config.load(tmp_path / "missing.toml")


@pytest.mark.parametrize("content", ["tool.dsh-prompt = 5", "[[tool.dsh-prompt]]"])
def test_a_table_that_is_none_is_refused(project: Path, content: str) -> None:
    """The error names the file."""
    (project / "pyproject.toml").write_text(content + "\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml"):
        Config.load()


def test_a_project_file_whose_tools_are_no_table_has_no_settings(project: Path) -> None:
    """It is somebody else's to complain about."""
    (project / "pyproject.toml").write_text("tool = 5\n")
    assert Config.load() == Config()


def test_dates_and_other_toml_types_are_no_settings(tmp_path: Path) -> None:
    """They are as wrong as any other type."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("persona = 2026-08-01\n")
    with pytest.raises(ConfigError, match="persona: expected a string"):
        Config.load(file)


# The user's own file


def test_the_user_s_own_file_counts_everywhere(project: Path, user_folder: Path) -> None:
    """Without a file of the project it stands alone."""
    own = user_folder / "dsh-prompt.toml"
    own.write_text('persona = "mine"\n')
    assert (Config.load().persona, Config.load().file) == ("mine", str(own))


def test_the_project_s_file_stands_over_the_user_s(project: Path, user_folder: Path) -> None:
    """Key by key, and table by table; a list is one value."""
    (user_folder / "dsh-prompt.toml").write_text("""
persona = "mine"
hook_timeout = 5
tool_order = ["read", "<unlisted-tools>"]
[plugins]
disable = ["audit"]
[plugins.config.git]
max_files = 5
paths = { a = [1], b = [2] }
[plugins.config.clock]
zone = "UTC"
""")
    file = project / "dsh-prompt.toml"
    file.write_text("""
persona = "project"
tool_order = ["<unlisted-tools>", "write"]
[plugins.config.git]
max_commits = 3
paths = { a = [3, 4] }
[plugins.config.todo]
""")
    config = Config.load()
    assert (config.persona, config.hook_timeout) == ("project", 5)
    assert config.tool_order == ("<unlisted-tools>", "write")
    assert config.plugins.disable == ("audit",)
    assert config.plugins.config == {
        "git": {"max_files": 5, "max_commits": 3, "paths": {"a": [3, 4], "b": [2]}},
        "clock": {"zone": "UTC"},
        "todo": {},
    }
    assert config.file == str(file)
    assert Config.load(file) == config


def test_each_file_answers_for_itself(project: Path, user_folder: Path) -> None:
    """A mistake is told with the file that makes it, also where the other one hides it."""
    own = user_folder / "dsh-prompt.toml"
    own.write_text("\npersona = 5\n")
    (project / "dsh-prompt.toml").write_text('persona = "project"\n')
    with pytest.raises(ConfigError) as caught:
        Config.load()
    assert (caught.value.file, caught.value.line) == (str(own), 2)
    assert str(caught.value) == f"{own}:2: persona: expected a string, got 5"


def test_the_user_s_own_file_is_no_project_s(
    user_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own folder too it is read once."""
    own = user_folder / "dsh-prompt.toml"
    own.write_text('persona = "mine"\n[plugins.config.git]\nmax_files = 5\n')
    monkeypatch.chdir(user_folder)
    config = Config.load()
    assert config.files == Config.load(own).files
    assert [file.path for file in config.files] == [own]


def test_a_path_is_a_str_or_a_path() -> None:
    """Not, for one, the text of a file, or an open one."""
    with pytest.raises(TypeError, match="path must be a str or a Path, not bytes"):
        Config.load(b"dsh-prompt.toml")  # type: ignore[arg-type]


def test_where_a_configuration_came_from_is_no_part_of_it(tmp_path: Path) -> None:
    """Two that say the same are equal, and neither names its file to users."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("")
    config = Config.load(file)
    assert config == Config()
    assert "dsh-prompt.toml" not in repr(config)
    assert attrs.evolve(config, persona="x").file == str(file)


@pytest.mark.parametrize("key", ["file", "files", "ignored"])
def test_what_is_no_part_of_a_document_is_no_key(key: str) -> None:
    """A file cannot say where it came from, nor what of it is ignored."""
    with pytest.raises(ConfigError, match=f"{key}: unknown key"):
        Config.from_dict({key: []})


# Errors of a file: where, what, and the way out


LONG = "[plugins]\ndisable = [\n" + "".join(f'  "plugin-{n}",\n' for n in range(60)) + "]\n"

#: What stands in a file; the line and the key of the mistake; the way out.
MISTAKES: list[tuple[str, int, str, str]] = [
    ("personna = 'x'", 1, "personna", 'did you mean "persona"?'),
    ("\n\n# persona\npersona = 5", 4, "persona", "expected a string, got 5"),
    ("include_harness_identity = 1", 1, "include_harness_identity", "expected a boolean"),
    ("include_runtime_context = 'no'", 1, "include_runtime_context", "expected a boolean"),
    ("persona = 'x'\nhook_timeout = -1", 2, "hook_timeout", "a positive number of seconds"),
    ("hook_timeout = inf", 1, "hook_timeout", "a positive number of seconds"),
    ("hook_timeout = '5'", 1, "hook_timeout", "expected a number"),
    ("layout = 'cache_first'", 1, "layout", "expected 'order' or 'cache-first'"),
    ("tool_order = 'read'", 1, "tool_order", "expected a list"),
    ("tool_order = [\n  'read',\n]", 1, "tool_order", '"<unlisted-tools>"'),
    ("tool_order = ['<unlisted-tools>',\n 5]", 1, "tool_order[1]", "expected a string"),
    ("xyz = 1", 1, "xyz", 'the keys are "include_harness_identity"'),
    ("[plugin]\nautoload = true", 1, "plugin", 'did you mean "plugins"?'),
    ("[plugins]\nauto_load = true", 2, "plugins.auto_load", 'did you mean "autoload"?'),
    ("[plugins]\nautoload = 'yes'", 2, "plugins.autoload", "expected a boolean"),
    ("plugins.enable = 'git'", 1, "plugins.enable", "expected a list"),
    (f"{LONG}enable = [1]", 64, "plugins.enable[0]", "expected a string"),
    ("[plugins]\nconfig = []", 2, "plugins.config", "expected a table"),
    ("[plugins.config]\ngit = 5", 2, "plugins.config.git", "expected a table"),
    ("'plugins'.'config'.'a.b' = 5", 1, "plugins.config.a.b", "expected a table"),
    ("persona = 'x'\npersona = 'y'", 2, "", "is no valid TOML: Cannot overwrite a value"),
    ("persona = 'x'\n[plugins\n", 2, "", "is no valid TOML: Expected"),
    ("persona = '''\nx\n", 3, "", "is no valid TOML"),
]


@pytest.mark.parametrize(("text", "line", "key", "way_out"), MISTAKES)
def test_a_mistake_is_told_with_file_line_key_and_way_out(
    text: str, line: int, key: str, way_out: str, project: Path
) -> None:
    """Whoever reads the message can go there, and knows what to write instead."""
    file = project / "dsh-prompt.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Config.load()
    error = caught.value
    assert (error.file, error.line, error.path) == (str(file), line, key)
    assert str(error).startswith(f"{file}:{line}: {key}")
    assert way_out in str(error)


def test_a_line_is_that_of_the_whole_file(project: Path) -> None:
    """Also where the settings are a table in the middle of it."""
    file = project / "pyproject.toml"
    file.write_text("[project]\nname = 'x'\n\n[tool.dsh-prompt]\npersona = 5\n[tool.x]\ny = 1\n")
    with pytest.raises(ConfigError) as caught:
        Config.load()
    assert str(caught.value) == f"{file}:5: persona: expected a string, got 5"


@pytest.mark.parametrize(
    "path",
    ["a", "a.b", "a.b.c", "a.b.c[1]", "a.b.c[1].d", 'x."', "late.r", "d.e.f", "d.e", "list[2].b"],
)
def test_the_line_of_a_setting_is_that_on_which_it_begins(path: str, tmp_path: Path) -> None:
    """However a table is written, over however many lines."""
    file = tmp_path / "dsh-prompt.toml"
    text = """
a.b.c = [ # line 2
  1, { d = 5 },
]

x."\\"" = 1 # line 6
d.e = { f = '''
g''' } # line 7 and 8
[late]
# line 10
r = 1
[[list]]
a = 1
[[list]]
a = '''['''
[[list]]
b = 1
"""
    file.write_text(text)
    found = read_config_file(file)
    assert found is not None
    lines = {"a": 2, "x": 6, "d": 7, "late.r": 11, "list[2].b": 17}
    assert found.line_of(path) == lines.get(path, lines.get(path[0]))
    assert found.line_of("a.b.nowhere") is None


def test_lines_that_take_too_long_to_find_are_left_out(tmp_path: Path) -> None:
    """A checkout must not make an error message the longest part of a run."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("".join(f"k{n} = 1 # {'x' * 100}\n" for n in range(5000)))
    found = read_config_file(file)
    assert found is not None
    lines = [found.line_of(f"k{n}") for n in range(0, 5000, 100)]
    assert lines[0] == 1
    assert lines[-1] is None


def test_many_mistakes_are_told_in_part(tmp_path: Path) -> None:
    """The first ones, and how many more there are."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("".join(f"k{n:03} = 1\n" for n in range(500)))
    with pytest.raises(ConfigError) as caught:
        Config.load(file)
    told = str(caught.value).splitlines()
    assert len(told) == 11
    assert told[0].startswith(f"{file}:1: k000: unknown key")
    assert told[-1] == "and 490 more"
    assert len(caught.value.paths) == 500


@pytest.mark.parametrize(
    "key",
    ["a." * 200 + "a", " . ".join(['"a"'] * 200), "[" + "a." * 200 + "a]", "x = {" + "''." * 200],
)
def test_a_key_of_more_parts_than_anybody_writes_is_refused(key: str, tmp_path: Path) -> None:
    """Its parser takes minutes for some tens of thousands."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(f"persona = 'x'\n{key} = 1\n")
    with pytest.raises(ConfigError, match=rf"{file}:2: has a key of more than 100 parts"):
        Config.load(file)


def test_a_long_value_is_told_in_part(tmp_path: Path) -> None:
    """An error is no place for a whole file."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(f"hook_timeout = '{'x' * 100_000}'\n'{'k' * 100_000}' = 1\n")
    with pytest.raises(ConfigError) as caught:
        Config.load(file)
    assert len(str(caught.value)) < 10_000


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Some editors write one."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_bytes(b"\xef\xbb\xbfpersona = 'x'\nhook_timeout = 0\n")
    with pytest.raises(ConfigError, match=rf"{file}:2: hook_timeout"):
        Config.load(file)


def test_a_table_that_is_nearly_ours_is_refused(project: Path) -> None:
    """It would be passed over in silence."""
    (project / "pyproject.toml").write_text("[tool.dsh_prompt]\npersona = 'x'\n")
    with pytest.raises(ConfigError, match=r'tool\.dsh_prompt.*did you mean "tool.dsh-prompt"'):
        Config.load()


def test_a_given_project_file_without_the_table_is_refused(tmp_path: Path) -> None:
    """Whoever names one means it."""
    file = tmp_path / "pyproject.toml"
    file.write_text("[project]\nname = 'x'\n")
    with pytest.raises(ConfigError, match=r"has no table tool\.dsh-prompt"):
        Config.load(file)


def test_a_link_out_of_the_project_is_not_used(project: Path, tmp_path: Path) -> None:
    """It may lead to anything of the user's, and be a stranger's."""
    secret = tmp_path / "secret.toml"
    secret.write_text("persona = ['s3cr3t']\n")
    (project / "dsh-prompt.toml").symlink_to(secret)
    with pytest.raises(ConfigError, match="a link that leads out of its folder") as caught:
        Config.load()
    assert "s3cr3t" not in str(caught.value)
    (project / "dsh-prompt.toml").unlink()
    # Somebody else's is none of our business, wherever it is kept.
    secret.write_text("[tool.other]\nx = 1\n")
    (project / "pyproject.toml").symlink_to(secret)
    assert Config.load() == Config()
    (project / "real.toml").write_text("persona = 'x'\n")
    (project / "dsh-prompt.toml").symlink_to("real.toml")
    assert Config.load().persona == "x"


@pytest.mark.parametrize("path", ["a\0b", "missing.toml"])
def test_what_is_no_file_is_a_config_error(path: str) -> None:
    """Whatever the system says of it."""
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load(path)


def test_a_pipe_in_place_of_the_file_makes_nobody_wait(tmp_path: Path) -> None:
    """Nor is a device read."""
    os.mkfifo(tmp_path / "dsh-prompt.toml")
    for path in (tmp_path / "dsh-prompt.toml", "/dev/zero"):
        with pytest.raises(ConfigError, match="not a regular file"):
            Config.load(path)


def test_a_relative_folder_for_settings_is_no_folder_of_the_user(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be that of any checkout."""
    theirs = project / ".config" / "dsh-prompt"
    theirs.mkdir(parents=True)
    (theirs / "dsh-prompt.toml").write_text("persona = 'theirs'\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CONFIG_HOME", ".config")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Config.load() == Config()


def test_a_file_larger_than_anybody_writes_is_refused(tmp_path: Path) -> None:
    """It is not even parsed."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(ConfigError, match="is larger than 1048576 bytes"):
        Config.load(file)


def test_a_name_full_of_escape_sequences_is_shown_harmlessly(tmp_path: Path) -> None:
    """A folder's name is whatever a checkout chose."""
    folder = tmp_path / "\x1b[31mred\n"
    folder.mkdir()
    file = folder / "dsh-prompt.toml"
    file.write_text('"per\\u001b[0msona" = 1\n')
    with pytest.raises(ConfigError) as caught:
        Config.load(file)
    assert str(caught.value).isprintable()
    assert r"\x1b[31mred\n" in str(caught.value)
    assert caught.value.file == str(file)
