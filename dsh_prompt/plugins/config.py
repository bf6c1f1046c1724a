"""A plugin's configuration: structured into the class that the plugin names."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.config.config import Config
from dsh_prompt.config.settings import Settings
from dsh_prompt.errors import ConfigError
from dsh_prompt.structuring import in_file, structure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt.config.settings import Ignored
    from dsh_prompt.plugins.hooks import Candidate
    from dsh_prompt.structuring import Admit


def configure(
    candidate: Candidate, given: object, host_config: Config
) -> tuple[Any, Sequence[Ignored]]:
    """Give a plugin's configuration: what was *given*, else the host's, else the defaults.

    Beside it stands what was left out, since the file that says it is not trusted.
    """
    cls = getattr(candidate.plugin, "Config", None)
    where, place = "", in_file(None)
    if given is None:
        given = host_config.plugins.config.get(candidate.name, {})
        where, place = f"plugins.config.{candidate.name}", in_file(host_config.file)
    if isinstance(given, Settings):
        where, place = given.where, given.place
    if cls is None or cls is Config:
        if not isinstance(given, Mapping):
            raise ConfigError(f"expected a table, got {type(given).__name__}", path=where)
        return MappingProxyType(deepcopy(dict(given))), ()
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise TypeError(f"its Config must be an attrs class, not {cls!r}")
    if isinstance(given, cls):
        return given, ()
    if attrs.has(type(given)) and type(given).__qualname__ == cls.__qualname__:
        # Of the class as it was before the plugin was reloaded.
        values = {
            field.alias: getattr(given, field.name)
            for field in attrs.fields(cls)
            if field.init and hasattr(given, field.name)
        }
        return cls(**values), ()
    subject = f"config of {candidate.label}"

    def build(table: object, admit: Admit) -> Any:
        return structure(table, cls, where=where, place=place, subject=subject, admit=admit)

    if isinstance(given, Settings):
        return given.structured(build)
    return build(given, lambda table, _: table), ()
