"""Plugins by name: said so that another process finds the same one."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import FunctionType, ModuleType
from typing import Any

import attrs

from dsh_prompt.plugins.candidates import installed_plugin
from dsh_prompt.plugins.discovery import discover


@attrs.frozen
class Target:
    """An installed entry point (*module* is None), or a module, or *qualname* in it.

    *file* is where the module is found if it cannot be imported by its name.
    """

    name: str
    module: str | None = None
    qualname: str = ""
    file: str | None = None

    @classmethod
    def of(cls, plugin: object) -> Target:
        """Name *plugin*; raises `TypeError` for what another process could not find.

        That is the name of an installed plugin, ``"module:qualname"``, a module, or a class or
        function at the top of one. Raises `PluginNotFoundError` for what is not installed.
        """
        if isinstance(plugin, str):
            module, colon, qualname = plugin.partition(":")
            if colon:
                return cls(plugin, module, qualname)
            return cls(installed_plugin(plugin, discover().plugins).name)
        if isinstance(plugin, ModuleType):
            return cls(plugin.__name__, plugin.__name__, "", getattr(plugin, "__file__", None))
        if isinstance(plugin, type | FunctionType) and _finds(plugin):
            module = plugin.__module__
            file = getattr(sys.modules[module], "__file__", None)
            return cls(plugin.__name__, module, plugin.__qualname__, file)
        raise TypeError(
            f"{plugin!r} cannot be found by a fresh process; give the name of an installed "
            "plugin, a module, or a class or function at the top of a module (a function is "
            "called, and gives the plugin)"
        )

    def found(self) -> Any:
        """Give what `SystemPrompt.load` takes; what a function gives, for a function."""
        if self.module is None:
            return self.name
        found: Any = _imported(self.module, self.file)
        for part in filter(None, self.qualname.split(".")):
            found = getattr(found, part)
        return found() if isinstance(found, FunctionType) else found


def _finds(plugin: type | FunctionType) -> bool:
    found: Any = sys.modules.get(plugin.__module__)
    for part in plugin.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is plugin and plugin.__module__ != "__main__"


def _imported(name: str, file: str | None) -> ModuleType:
    """Import the module *name*, or make it of its *file*, as pytest does with test files."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        spec = None if file is None else spec_from_file_location(name, file)
        is_itself = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not is_itself or spec is None or spec.loader is None:
            raise
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
