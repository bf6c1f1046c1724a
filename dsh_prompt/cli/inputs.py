"""What the user hands in: configuration, state, tools and variables, read strictly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dsh_prompt.cli.exits import UnusableError
from dsh_prompt.config.config import Config
from dsh_prompt.errors import PromptError
from dsh_prompt.model.state import RuntimeState
from dsh_prompt.model.tool_spellings import read_tools
from dsh_prompt.render.template import NAME, is_variable_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.model.tools import ToolSchema


def load_config(file: str | None) -> Config:
    """Load the configuration from *file*, or from where it is looked for."""
    try:
        return Config.load(file)
    except PromptError as error:
        raise UnusableError(str(error)) from error
    except OSError as error:
        raise UnusableError(f"the configuration cannot be looked for: {error}") from error


def load_state(file: str | None) -> RuntimeState:
    """Load the runtime state from *file*; without one it is that of the surroundings."""
    try:
        if file is None:
            return RuntimeState(workdir=str(Path.cwd()))
        return RuntimeState.from_dict(_read_json(file), file=_name(file))
    except PromptError as error:
        raise UnusableError(str(error)) from error
    except OSError as error:
        raise UnusableError(f"there is no working directory: {error}") from error


def load_tools(file: str | None) -> list[ToolSchema]:
    """Load the tool list in *file*, in any spelling; without a file there are no tools."""
    if file is None:
        return []
    data = _read_json(file)
    try:
        return read_tools(data)
    except PromptError as error:
        raise UnusableError(f"{_name(file)}: {error}") from error


def load_messages(file: str | None) -> list[Any]:
    """Load the history in *file*, a JSON value in each line; without a file there is none."""
    if file is None:
        return []
    messages = []
    for number, line in enumerate(_read_text(file).splitlines(), 1):
        if line.strip():
            messages.append(_json(line, f"{_name(file)}, line {number}"))
    return messages


def parse_variables(assignments: Iterable[str]) -> dict[str, str]:
    """Take ``key=value`` apart; of several values for one key the last one counts."""
    variables = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise click.BadParameter(f'"{assignment}" is not key=value', param_hint="--set")
        if not is_variable_name(name):
            raise click.BadParameter(
                f'"{name}" is no variable name (it must match /^{NAME}$/)', param_hint="--set"
            )
        variables[name] = value
    return variables


def _read_json(file: str) -> Any:
    return _json(_read_text(file), _name(file))


def _read_text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UnusableError(f"{_name(file)}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UnusableError(f"{_name(file)}: is no valid JSON: {error}") from error


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"{place}: is no valid JSON: {error}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _name(file: str) -> str:
    return "standard input" if file == "-" else file
