"""The host's configuration, from code or from a TOML file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.config.settings import Ignored, Settings, SettingsLayer, merged
from dsh_prompt.errors import ConfigError, short
from dsh_prompt.layers.tool_order import check_tool_order
from dsh_prompt.structuring import UNDOCUMENTED, in_file, structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dsh_prompt.config.files import ConfigFile
    from dsh_prompt.structuring import Place

LAYOUTS = ("order", "cache-first")

#: For what no document says.
_INTERNAL: Any = {"eq": False, "repr": False, "kw_only": True, "metadata": UNDOCUMENTED}


def _of_type(kind: type, noun: str) -> Any:
    def check(_: object, attribute: Any, value: object) -> None:
        if not isinstance(value, kind):
            raise ConfigError(
                f"{attribute.name}: expected {noun}, got {short(value)}", path=attribute.name
            )

    return check


def _positive(_: object, attribute: Any, value: object) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:  # type: ignore[operator]
        raise ConfigError(
            f"{attribute.name}: expected a positive number of seconds, got {short(value)}",
            path=attribute.name,
        )


def _positive_count(_: object, attribute: Any, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(
            f"{attribute.name}: expected a positive number, got {short(value)}",
            path=attribute.name,
        )


def _strings(value: Any) -> tuple[str, ...]:
    """Give a list of strings as a tuple; anything else is left for `_check_strings`."""
    return tuple(value) if isinstance(value, list) else value


def _check_strings(_: object, attribute: Any, value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(
            f"{attribute.name}: expected a list of strings, got {short(value)}", path=attribute.name
        )


def _check_order(instance: object, attribute: Any, value: tuple[str, ...] | None) -> None:
    if value is not None:
        _check_strings(instance, attribute, value)
        check_tool_order(value)


def _check_layout(_: object, attribute: Any, value: object) -> None:
    if value not in LAYOUTS:
        choices = " or ".join(map(repr, LAYOUTS))
        raise ConfigError(
            f"{attribute.name}: expected {choices}, got {short(value)}", path="layout"
        )


def _check_tables(_: object, attribute: Any, value: object) -> None:
    if not isinstance(value, dict):
        raise ConfigError(f"config: expected a table, got {short(value)}", path=attribute.name)
    for name, table in value.items():
        if not isinstance(table, dict):
            raise ConfigError(
                f"config.{name}: expected a table, got {short(table)}", path=f"config.{name}"
            )


@attrs.frozen
class PluginsConfig:
    """Which installed plugins ``load_entry_points`` loads, and with which settings.

    With *autoload* all but those in *disable*, without it only those in *enable*; *config*
    maps plugin names to what their ``Config`` is built from.
    """

    autoload: bool = attrs.field(default=True, validator=_of_type(bool, "a boolean"))
    enable: tuple[str, ...] = attrs.field(default=(), converter=_strings, validator=_check_strings)
    disable: tuple[str, ...] = attrs.field(default=(), converter=_strings, validator=_check_strings)
    config: dict[str, dict[str, Any]] = attrs.field(factory=dict, validator=_check_tables)


@attrs.frozen
class Config:
    """The configuration of a host. Raises `ConfigError` or `ToolOrderError` when built wrongly.

    *include_harness_identity* registers the identity section, *include_runtime_context*
    lets runtime contexts take part, *persona* is the text of the persona section.
    *tool_order* lists tool names and exactly one ``<unlisted-tools>`` (None: by name).
    *layout* puts sections in their ``"order"``, or, ``"cache-first"``, those that never change
    before the others, so that more of the prompt is a stable prefix.
    *hook_timeout* bounds each async hook and provider under ``assemble_async``, in seconds.
    *quarantine_after* switches a plugin off that makes so many assemblies fail, one after
    the other (None: never).
    """

    include_harness_identity: bool = attrs.field(
        default=True, validator=_of_type(bool, "a boolean")
    )
    include_runtime_context: bool = attrs.field(default=True, validator=_of_type(bool, "a boolean"))
    persona: str = attrs.field(default="", validator=_of_type(str, "a string"))
    tool_order: tuple[str, ...] | None = attrs.field(
        default=None, converter=_strings, validator=_check_order
    )
    layout: Literal["order", "cache-first"] = attrs.field(default="order", validator=_check_layout)
    hook_timeout: float | None = attrs.field(default=None, validator=_positive)
    quarantine_after: int | None = attrs.field(default=None, validator=_positive_count)
    plugins: PluginsConfig = attrs.field(
        factory=PluginsConfig, validator=_of_type(PluginsConfig, "a PluginsConfig")
    )
    #: The project's file, or else the user's own, and all that `load` read, the nearest last;
    #: what of it has no effect.
    file: str | None = attrs.field(default=None, **_INTERNAL)
    files: tuple[Any, ...] = attrs.field(default=(), **_INTERNAL)
    ignored: tuple[Ignored, ...] = attrs.field(default=(), **_INTERNAL)
    #: Which plugins the user's own settings want, where the project's file is not trusted.
    own_plugins: PluginsConfig | None = attrs.field(default=None, **_INTERNAL)
    #: Whether whoever loaded it vouched for the project's file.
    vouched: bool | None = attrs.field(default=None, **_INTERNAL)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, file: str | None = None) -> Config:
        """Build a configuration from nested mappings, as TOML gives them.

        Raises `ConfigError` with *file*, key and the nearest valid key.
        """
        return attrs.evolve(_structured(cls, data, in_file(file)), file=file)

    @classmethod
    def load(cls, path: str | Path | None = None, *, trusted: bool | None = None) -> Config:
        """Read the configuration: the project's file, over the user's own.

        The project's is *path*, or the nearest ``dsh-prompt.toml``, or ``pyproject.toml``
        with a ``[tool.dsh-prompt]`` table, from the working directory up; the user's is
        ``dsh-prompt.toml`` in the platform's folder for settings, ``dsh-prompt``. Tables are
        merged, anything else the project's file replaces. Without files the defaults hold.

        Until the project's file is *trusted* (None: as ``dsh-prompt trust`` recorded it) it
        loads no plugin that the user's own settings leave out, and no plugin gets from it
        what the plugin marks as needing trust; ``ignored`` lists it. Raises `ConfigError`,
        with file, line, key and nearest key, for a file that cannot be read, or says what it
        should not.
        """
        from pathlib import Path  # noqa: PLC0415 - only where files are read

        from dsh_prompt.config import files, trust  # noqa: PLC0415

        own = files.find_user_file()
        if path is not None and not isinstance(path, str | Path):
            raise TypeError(f"path must be a str or a Path, not {type(path).__name__}")
        if path is None:
            project = files.find_project_file(Path.cwd())
        elif (project := files.read_config_file(Path(path))) is None:
            raise ConfigError(f"{path}: has no table tool.dsh-prompt", file=str(path))
        if project is None or files.is_user_file(project.path):
            return cls() if own is None else _merged(cls, [(own, True)])
        trusts = trust.TrustStore.of_user().trusts(project.path, project.content)
        layers = [(project, trusts if trusted is None else trusted)]
        if own is not None:
            layers.insert(0, (own, True))
        return attrs.evolve(_merged(cls, layers), vouched=trusted)

    def reread(self) -> Config:
        """Give this configuration, with what its files now say of plugins' settings.

        Settings that were built in Python stay, and so does all else. Raises `ConfigError`
        for a file that cannot be read any more.
        """
        from dsh_prompt.config import files, trust  # noqa: PLC0415 - only where files are read

        layers = []
        for before in self.files:
            path = before.path
            file = files.read_config_file(path) if path.is_file() else None
            if file is None:  # nothing is said there any more, and may be again
                layers.append((attrs.evolve(before, data={}), True))
                continue
            vouched = self.vouched if file.content == before.content else None
            trusted = files.is_user_file(path) or vouched
            if trusted is None:
                trusted = trust.TrustStore.of_user().trusts(path, file.content)
            layers.append((file, trusted))
        if not layers:
            return self
        fresh = _merged(type(self), layers)
        given = self.plugins.config
        built = {name: one for name, one in given.items() if not isinstance(one, Settings)}
        plugins = attrs.evolve(self.plugins, config={**fresh.plugins.config, **built})
        return attrs.evolve(self, plugins=plugins, files=fresh.files)


def _structured(cls: type[Config], data: object, place: Place) -> Config:
    return structure(data, cls, place=place, subject="config")


def _merged(cls: type[Config], layers: Sequence[tuple[ConfigFile, bool]]) -> Config:
    """Join the files in *layers*, the nearest last, each with whether it is trusted."""
    alone = [
        _structured(cls, file.data, lambda path, file=file: (str(file.path), file.line_of(path)))  # type: ignore[misc]
        for file, _ in layers
    ]
    nearest, trusted = layers[-1]
    together = _structured(cls, merged(file.data for file, _ in layers), in_file(None))
    plugins = together.plugins
    own: PluginsConfig | None = None
    ignored: list[Ignored] = []
    if not trusted:
        own = alone[0].plugins if len(alone) > 1 else PluginsConfig()
        plugins, ignored = _narrowed(plugins, own, str(nearest.path))
    tables: dict[str, dict[str, Any]] = {}
    for name in plugins.config:
        said = [
            SettingsLayer(file, config.plugins.config.get(name, {}), is_trusted)
            for (file, is_trusted), config in zip(layers, alone, strict=True)
        ]
        tables[name] = Settings(said, f"plugins.config.{name}")
    return attrs.evolve(
        together,
        plugins=attrs.evolve(plugins, config=tables),
        file=str(nearest.path),
        files=tuple(file for file, _ in layers),
        ignored=tuple(ignored),
        own_plugins=own,
    )


def _narrowed(
    wanted: PluginsConfig, own: PluginsConfig, file: str
) -> tuple[PluginsConfig, list[Ignored]]:
    """Give *wanted* without the plugins that the user's *own* settings leave out."""
    autoload, enable = wanted.autoload, wanted.enable
    ignored = []
    if not own.autoload:
        if wanted.autoload:
            ignored.append(Ignored(file, "plugins.autoload"))
            autoload, enable = False, own.enable
        enable = tuple(name for name in enable if name in own.enable)
    more = tuple(name for name in wanted.enable if name not in enable)
    if more:
        ignored.append(Ignored(file, "plugins.enable", more))
    back = tuple(name for name in own.disable if name not in wanted.disable)
    if back:
        ignored.append(Ignored(file, "plugins.disable", back))
    return attrs.evolve(
        wanted, autoload=autoload, enable=enable, disable=(*wanted.disable, *back)
    ), ignored
