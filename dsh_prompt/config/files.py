"""Configuration files: where they are looked for, what stands in them, and on which line."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_left
from pathlib import Path
from typing import Any

import attrs

from dsh_prompt.errors import ConfigError, shown

#: The project's own file, and the file and table that may hold the same settings. The user's
#: own file is called like the project's.
CONFIG_FILE = "dsh-prompt.toml"
PYPROJECT = "pyproject.toml"
PYPROJECT_TABLE = "dsh-prompt"

#: A checkout must not make its reader work for minutes: nobody writes as many bytes by hand, or
#: keys of as many parts, for which the parser takes time that grows with their square.
LARGEST_FILE = 1 << 20
MOST_PARTS = 100
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+"
_LONG_KEY = re.compile(rf"(?<![\w.-])(?:{_PART}){{{MOST_PARTS}}}")
#: The characters that are parsed, at most, to find the lines of the settings of one file.
MOST_PARSED = 4 << 20

#: What decides where a statement ends: strings and comments whole, brackets, and newlines.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|\#[^\n]*|[][{}\n]',
    re.DOTALL,
)


@attrs.frozen
class ConfigFile:
    """A file that was read: *content* as it was then, *data* the settings in it."""

    path: Path
    content: bytes = attrs.field(repr=False)
    data: dict[str, Any] = attrs.field(repr=False)
    _left_to_parse: list[int] = attrs.field(
        factory=lambda: [MOST_PARSED], init=False, repr=False, eq=False
    )

    def line_of(self, path: str) -> int | None:
        """Give the line, from 1, at which the setting at the dotted *path* begins.

        None where it is not in the file, or where looking for it would take too long.
        """
        text = _decoded(self.content)
        ends = [end for end in _statement_ends(text) if end]

        def holds(end: int) -> bool:
            import tomllib  # noqa: PLC0415 - only where a file is read

            self._left_to_parse[0] -= end
            if self._left_to_parse[0] < 0:
                raise TimeoutError
            document = tomllib.loads(text[:end])
            return has_setting(settings_in(self.path, document) or {}, path)

        try:
            found = bisect_left(ends, True, key=holds) if path else len(ends)
        except TimeoutError:
            return None
        if found == len(ends):
            return None
        start = ends[found - 1] if found else 0
        blank = re.match(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*", text[start:])
        return text.count("\n", 0, start + (blank.end() if blank else 0)) + 1


def _statement_ends(text: str) -> list[int]:
    """Give the position after each statement of *text*, which is valid TOML."""
    depth, ends = 0, []
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and depth == 0:
            ends.append(token.end())
    return [*ends, len(text)]


def user_directory() -> Path:
    """Give the folder of the user's own settings, as the platform wants it."""
    from platformdirs import user_config_path  # noqa: PLC0415 - only where a file is read

    folder = user_config_path("dsh-prompt", appauthor=False)
    # A relative one would be any checkout's: the standard wants it to be ignored.
    return folder if folder.is_absolute() else Path.home() / ".config" / "dsh-prompt"


def find_user_file() -> ConfigFile | None:
    """Read the user's own file, if there is one."""
    file = user_directory() / CONFIG_FILE
    return read_config_file(file) if file.is_file() else None


def find_project_file(start: Path) -> ConfigFile | None:
    """Read the nearest file from *start* up; the user's own file is no project's.

    Raises `ConfigError` for settings in a link that leads out of its folder: it may be a
    stranger's, and lead to anything.
    """
    for directory in (start, *start.parents):
        for name in (CONFIG_FILE, PYPROJECT):
            file = directory / name
            if not file.is_file() or is_user_file(file):
                continue
            found = read_config_file(file)
            if found is None:
                continue
            if not file.resolve().is_relative_to(directory.resolve()):
                raise ConfigError(
                    f"{shown(str(file))}: is a link that leads out of its folder, and is not "
                    "used; name the file that is meant",
                    file=str(file),
                )
            return found
    return None


def is_user_file(path: Path) -> bool:
    """Tell whether *path* is the user's own file, however it is spelled."""
    try:
        return path.samefile(user_directory() / CONFIG_FILE)
    except (OSError, ValueError):
        return False


def read_config_file(path: Path) -> ConfigFile | None:
    """Read *path*; None for a ``pyproject.toml`` without a table for it.

    Raises `ConfigError`, with the line where there is one, for what is no TOML.
    """
    import tomllib  # noqa: PLC0415 - only where a file is read

    name = shown(str(path))
    try:
        content = read_content(path)
        text = _decoded(content)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}: cannot be read: {error}", file=str(path)) from error
    try:
        if long := _LONG_KEY.search(text):
            line = text.count("\n", 0, long.start()) + 1
            raise ConfigError(
                f"{name}:{line}: has a key of more than {MOST_PARTS} parts",
                file=str(path),
                line=line,
            )
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        message = f"{name}:{line}: is no valid TOML: {error}"
        raise ConfigError(message, file=str(path), line=line) from error
    data = settings_in(path, document)
    return None if data is None else ConfigFile(path.absolute(), content, data)


def read_content(path: Path) -> bytes:
    """Read a regular file that is not too large, without waiting for anything else.

    Raises `OSError` where that is not what is there, and `ValueError` for what is no path.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:  # noqa: PTH123 - it is open already
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise OSError(f"it is larger than {LARGEST_FILE} bytes")
    return content


def _decoded(content: bytes) -> str:
    # Some editors begin with a byte order mark.
    return content.decode("utf-8-sig")


def settings_in(path: Path, document: dict[str, Any]) -> dict[str, Any] | None:
    """Give the settings in what *path* holds; None for a ``pyproject.toml`` without any.

    Raises `ConfigError` where something else stands in their place.
    """
    if path.name != PYPROJECT:
        return document
    tools = document.get("tool")
    if not isinstance(tools, dict):
        return None
    if "dsh_prompt" in tools and PYPROJECT_TABLE not in tools:
        raise ConfigError(
            f"{shown(str(path))}: tool.dsh_prompt: unknown table; did you mean "
            f'"tool.{PYPROJECT_TABLE}"?',
            path="tool.dsh_prompt",
            file=str(path),
        )
    settings = tools.get(PYPROJECT_TABLE)
    if settings is None or isinstance(settings, dict):
        return settings
    raise ConfigError(
        f"{shown(str(path))}: tool.{PYPROJECT_TABLE}: expected a table",
        path=f"tool.{PYPROJECT_TABLE}",
        file=str(path),
    )


def has_setting(data: object, path: str) -> bool:
    """Tell whether *data* holds the dotted *path*, in which ``[2]`` is an item of a list."""
    if not path:
        return True
    if isinstance(data, list) and (step := re.match(r"\[(\d+)\]\.?", path)):
        index = int(step[1])
        return index < len(data) and has_setting(data[index], path[step.end() :])
    if not isinstance(data, dict):
        return False
    # A key may itself hold a dot.
    return any(
        has_setting(data[key], path[len(key) :].removeprefix("."))
        for key in data
        if path.startswith(key) and path[len(key) :][:1] in ("", ".", "[")
    )
