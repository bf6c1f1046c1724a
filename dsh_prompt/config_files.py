"""Configuration files: where they are looked for, what stands in them, and on which line."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.errors import ConfigError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The project's own file, and the file and table that may hold the same settings. The user's
#: own file is called like the project's.
CONFIG_FILE = "dsh-prompt.toml"
PYPROJECT = "pyproject.toml"
PYPROJECT_TABLE = "dsh-prompt"

#: Nobody writes as much by hand; a checkout must not make its reader parse for minutes.
LARGEST_FILE = 1 << 20
#: The characters that are parsed, at most, to find the line of a setting.
MOST_PARSED = 1 << 20


@attrs.frozen
class ConfigFile:
    """A file that was read: *content* as it was then, *data* the settings in it."""

    path: Path
    content: bytes = attrs.field(repr=False)
    data: dict[str, Any] = attrs.field(repr=False)

    def line_of(self, path: str) -> int | None:
        """Give the line, from 1, at which the setting at the dotted *path* begins.

        None where it is not in the file, or where looking for it would take too long.
        """
        lines = re.split("(?<=\n)", self.content.decode())
        budget = MOST_PARSED

        def whole_statements(count: int) -> tuple[int, dict[str, Any]]:
            """Parse *count* lines, or fewer: without a statement that ends after them."""
            import tomllib  # noqa: PLC0415 - only where a file is read

            nonlocal budget
            for end in range(count, -1, -1):
                text = "".join(lines[:end])
                budget -= len(text)
                if budget < 0:
                    raise TimeoutError
                try:
                    return end, settings_in(self.path, tomllib.loads(text)) or {}
                except tomllib.TOMLDecodeError:
                    continue
            raise AssertionError("nothing is valid TOML")

        def holds(count: int) -> bool:
            return has_setting(whole_statements(count)[1], path)

        if not path:
            return None
        try:
            last = bisect_left(range(len(lines) + 1), True, key=holds)
            return whole_statements(last - 1)[0] + 1 if last <= len(lines) else None
        except TimeoutError:
            return None


def user_directory() -> Path:
    """Give the folder of the user's own settings, as the platform wants it."""
    from platformdirs import user_config_path  # noqa: PLC0415 - only where a file is read

    return user_config_path("dsh-prompt", appauthor=False)


def find_user_file() -> ConfigFile | None:
    """Read the user's own file, if there is one."""
    file = user_directory() / CONFIG_FILE
    return read_config_file(file) if file.is_file() else None


def find_project_file(start: Path) -> ConfigFile | None:
    """Read the nearest file from *start* up; the user's own file is no project's."""
    own = user_directory() / CONFIG_FILE
    for directory in (start, *start.parents):
        for name in (CONFIG_FILE, PYPROJECT):
            file = directory / name
            if file.is_file() and file != own and (found := read_config_file(file)):
                return found
    return None


def read_config_file(path: Path) -> ConfigFile | None:
    """Read *path*; None for a ``pyproject.toml`` without a table for it.

    Raises `ConfigError`, with the line where there is one, for what is no TOML.
    """
    import tomllib  # noqa: PLC0415 - only where a file is read

    name = shown(str(path))
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name}: cannot be read: {error}", file=str(path)) from error
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{name}: is larger than {LARGEST_FILE} bytes", file=str(path))
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _line_in(str(error)) or text.count("\n") + 1
        message = f"{name}:{line}: is no valid TOML: {error}"
        raise ConfigError(message, file=str(path), line=line) from error
    data = settings_in(path, document)
    return None if data is None else ConfigFile(path, content, data)


def settings_in(path: Path, document: dict[str, Any]) -> dict[str, Any] | None:
    """Give the settings in what *path* holds; None for a ``pyproject.toml`` without any."""
    if path.name != PYPROJECT:
        return document
    tools = document.get("tool")
    return tools.get(PYPROJECT_TABLE) if isinstance(tools, dict) else None


def _line_in(message: str) -> int | None:
    found = re.search(r"at line (\d+)", message)
    return int(found[1]) if found else None


def has_setting(data: object, path: str) -> bool:
    """Tell whether the table *data* holds the dotted *path*; a list holds all its items."""
    if not isinstance(data, dict):
        return not path or path.startswith("[")
    return not path or any(has_setting(data[key], rest) for key, rest in _steps(data, path))


def _steps(data: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Give each key of *data* that *path* can begin with: a key may itself hold a dot."""
    for key in data:
        rest = path[len(key) :]
        if path.startswith(key) and (not rest or rest[0] in ".["):
            yield key, rest.removeprefix(".")
