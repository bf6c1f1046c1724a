"""The host's configuration, from code or from a TOML file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.errors import ConfigError
from dsh_prompt.structuring import structure
from dsh_prompt.tool_order import check_tool_order

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The project's own file, and the file and table that may hold the same settings.
CONFIG_FILE = "dsh-prompt.toml"
PYPROJECT = "pyproject.toml"
PYPROJECT_TABLE = "dsh-prompt"


def _of_type(kind: type, noun: str) -> Any:
    def check(_: object, attribute: Any, value: object) -> None:
        if not isinstance(value, kind):
            raise ConfigError(
                f"{attribute.name}: expected {noun}, got {value!r}", path=attribute.name
            )

    return check


def _positive(_: object, attribute: Any, value: object) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:  # type: ignore[operator]
        raise ConfigError(
            f"{attribute.name}: expected a positive number of seconds, got {value!r}",
            path=attribute.name,
        )


def _strings(value: Any) -> tuple[str, ...]:
    """Give a list of strings as a tuple; anything else is left for `_check_strings`."""
    return tuple(value) if isinstance(value, list) else value


def _check_strings(_: object, attribute: Any, value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(
            f"{attribute.name}: expected a list of strings, got {value!r}", path=attribute.name
        )


def _check_order(instance: object, attribute: Any, value: tuple[str, ...] | None) -> None:
    if value is not None:
        _check_strings(instance, attribute, value)
        check_tool_order(value)


def _check_tables(_: object, attribute: Any, value: object) -> None:
    if not isinstance(value, dict):
        raise ConfigError(f"config: expected a table, got {value!r}", path=attribute.name)
    for name, table in value.items():
        if not isinstance(table, dict):
            raise ConfigError(
                f"config.{name}: expected a table, got {table!r}", path=f"config.{name}"
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
    *hook_timeout* bounds each async hook and provider under ``assemble_async``, in seconds.
    """

    include_harness_identity: bool = attrs.field(
        default=True, validator=_of_type(bool, "a boolean")
    )
    include_runtime_context: bool = attrs.field(default=True, validator=_of_type(bool, "a boolean"))
    persona: str = attrs.field(default="", validator=_of_type(str, "a string"))
    tool_order: tuple[str, ...] | None = attrs.field(
        default=None, converter=_strings, validator=_check_order
    )
    hook_timeout: float | None = attrs.field(default=None, validator=_positive)
    plugins: PluginsConfig = attrs.field(
        factory=PluginsConfig, validator=_of_type(PluginsConfig, "a PluginsConfig")
    )
    #: The file that `load` read, for error messages.
    file: str | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, file: str | None = None) -> Config:
        """Build a configuration from nested mappings, as TOML gives them.

        Raises `ConfigError` with *file*, key and the nearest valid key.
        """
        config = structure(data, cls, file=file, subject="config")
        object.__setattr__(config, "file", file)
        return config

    @classmethod
    def load(cls, path: str | Path | None = None) -> Config:
        """Read the configuration from *path*, or from the nearest file upwards.

        Looked for are ``dsh-prompt.toml`` and a ``[tool.dsh-prompt]`` table in
        ``pyproject.toml``, from the working directory up; without one the defaults hold.
        Raises `ConfigError` for a file that cannot be read, or says what it should not.
        """
        if path is not None:
            return cls.from_dict(_read(Path(path)) or {}, file=str(path))
        for directory in (Path.cwd(), *Path.cwd().parents):
            for name in (CONFIG_FILE, PYPROJECT):
                file = directory / name
                if file.is_file() and (data := _read(file)) is not None:
                    return cls.from_dict(data, file=str(file))
        return cls()


def _read(file: Path) -> dict[str, Any] | None:
    """Give the settings in *file*; None for a ``pyproject.toml`` without any."""
    import tomllib  # noqa: PLC0415 - only where a file is read

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}", file=str(file)) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: is no valid TOML: {error}", file=str(file)) from error
    if file.name != PYPROJECT:
        return data
    tools = data.get("tool")
    return tools.get(PYPROJECT_TABLE) if isinstance(tools, dict) else None
