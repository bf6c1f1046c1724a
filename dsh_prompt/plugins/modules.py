"""A plugin's own modules: which they are, and how they are imported anew from disk."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, all_suffixes
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    from dsh_prompt.plugins.discovery import Installed

# Taking modules out and importing others in their place is one step for the whole process.
_importing = RLock()


@attrs.frozen
class OwnModules:
    """What belongs to one plugin: modules by name and file, and whole packages below a folder.

    *files* maps the names of modules to the files that a distribution recorded for them.
    *packages* are names of modules that are the plugin's together with all below them, as
    far as their files stand under *root*.
    """

    files: Mapping[str, str] = attrs.field(factory=dict)
    packages: tuple[str, ...] = ()
    root: str = ""

    @classmethod
    def of_distribution(cls, installed: Installed) -> OwnModules:
        """Give the modules that an installed distribution recorded as its own.

        An editable one records no sources: its own are those in its project's folder.
        """
        dist: Any = installed.entry_point.dist
        values = (point.value.partition(":")[0].strip() for point in dist.entry_points)
        tops = tuple(dict.fromkeys(value.partition(".")[0] for value in values))
        project = _project_of_editable(dist)
        if project is not None:
            return cls(packages=tops, root=project)
        files = _recorded(dist)
        if files is None:
            module = installed.entry_point.value.partition(":")[0].strip()
            file = getattr(sys.modules.get(module), "__file__", None) or ""
            return cls(packages=(module,), root=os.path.dirname(file))  # noqa: PTH120
        named = ((_module_name(str(file)), file) for file in files)
        return cls({name: str(dist.locate_file(file)) for name, file in named if name})

    @classmethod
    def of_module(cls, name: str) -> OwnModules:
        """Give the module *name* and all below it; nothing for what is nobody's.

        The running program and the standard library are.
        """
        if name == "__main__" or name.partition(".")[0] in sys.stdlib_module_names:
            return cls()
        return cls(packages=(name,))

    def loaded(self) -> dict[str, ModuleType]:
        """Give those that are imported now, by name."""
        found = {}
        for name, file in self.files.items():
            module = sys.modules.get(name)
            path = getattr(module, "__file__", None)
            if module is not None and path and _same_file(path, file):
                found[name] = module
        if self.packages:
            below = tuple(f"{package}." for package in self.packages)
            found |= {
                name: module
                for name, module in list(sys.modules.items())
                if (name in self.packages or name.startswith(below)) and self._is_inside(module)
            }
        return found

    def _is_inside(self, module: ModuleType) -> bool:
        if not self.root:
            return True
        file = getattr(module, "__file__", None)
        if not file:  # a namespace, which others may share
            return False
        path = os.path.realpath(file)
        inside = path.removeprefix(os.path.join(os.path.realpath(self.root), ""))  # noqa: PTH118
        return inside != path and "site-packages" not in Path(inside).parts


class FreshImport:
    """Takes *modules* out of ``sys.modules``, so that importing them again reads the disk.

    Entered while they are imported; `undo` puts them back afterwards. C extensions stay, as
    Python cannot load one twice.
    """

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._old = {name: module for name, module in modules.items() if not is_extension(module)}
        self._kept = _Kept({n: one for n, one in modules.items() if n not in self._old})
        self._before: set[str] = set()
        self._detached: list[tuple[ModuleType, str, ModuleType]] = []
        self._writes_no_bytecode = False

    def __enter__(self) -> None:
        self._before = set(sys.modules)
        if not self._old:
            importlib.invalidate_caches()
            return
        _importing.acquire()
        self._writes_no_bytecode = sys.dont_write_bytecode
        self._kept.enter()
        try:
            importlib.invalidate_caches()
            for module in self._old.values():
                _forget_bytecode(module)
            # What is edited now may fail, and be edited again in the same second.
            sys.dont_write_bytecode = True
            self._detached = forget(self._old)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._old:
            self._kept.leave()
            sys.dont_write_bytecode = self._writes_no_bytecode
            _importing.release()

    def undo(
        self,
        own: Iterable[OwnModules],
        are_used: Callable[[Mapping[str, ModuleType]], bool] = lambda _: False,
    ) -> None:
        """Put the modules back, and forget those of the plugins' *own* that are new.

        What others use already (*are_used*) is not forgotten.
        """
        with _importing:
            now = {name: module for one in own for name, module in one.loaded().items()}
            new = {name: module for name, module in now.items() if name not in self._before}
            if not self._old and are_used(new):
                return
            forget({**new, **{n: sys.modules[n] for n in self._old if n in sys.modules}})
            sys.modules.update(self._old)
            for package, child, module in self._detached:
                setattr(package, child, module)
            with suppress(Exception):  # of an odd finder, which may have made it fail before
                importlib.invalidate_caches()


class _Kept:
    """A finder of *modules* that are there: importing one puts it into its package, no more."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = modules
        self._specs = {name: module.__spec__ for name, module in modules.items()}

    def enter(self) -> None:
        """Take them out of ``sys.modules``, to be found here."""
        sys.meta_path.insert(0, self)
        for name in self._modules:
            sys.modules.pop(name, None)

    def leave(self) -> None:
        """Put them back, also those that nobody has imported yet."""
        sys.meta_path.remove(self)
        for name, module in self._modules.items():
            sys.modules[name] = module
            parent, _, child = name.rpartition(".")
            if parent in sys.modules and not hasattr(sys.modules[parent], child):
                setattr(sys.modules[parent], child, module)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in self._modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            module.__spec__ = self._specs[spec.name]


def forget(modules: Mapping[str, ModuleType]) -> list[tuple[ModuleType, str, ModuleType]]:
    """Remove *modules* from ``sys.modules``, and from the packages that stay.

    Gives each such package, with the name and the module that it lost.
    """
    detached = []
    for name, module in modules.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
        parent, _, child = name.rpartition(".")
        package = None if parent in modules else sys.modules.get(parent)
        if package is not None and vars(package).get(child) is module:
            delattr(package, child)
            detached.append((package, child, module))
    return detached


def is_extension(module: ModuleType) -> bool:
    """Tell whether *module* is a C extension."""
    return (getattr(module, "__file__", None) or "").endswith(tuple(EXTENSION_SUFFIXES))


def can_be_imported(name: str) -> bool:
    """Tell whether there is a module *name* to import from."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _forget_bytecode(module: ModuleType) -> None:
    """Remove the cached bytecode: it is taken for current after an edit in the same second."""
    source = getattr(module, "__file__", None)
    if source is None or not source.endswith(".py"):
        return
    # There may be none, or it may not be ours to remove.
    with suppress(OSError, NotImplementedError):
        os.remove(importlib.util.cache_from_source(source))  # noqa: PTH107


def _module_name(file: str) -> str | None:
    """Give the name of the module that *file* of a distribution is, if it is one."""
    for suffix in sorted(all_suffixes(), key=len, reverse=True):
        if file.endswith(suffix):
            parts = file.removesuffix(suffix).replace("\\", "/").split("/")
            if parts[-1] == "__init__":
                parts.pop()
            return ".".join(parts) if parts and all(p.isidentifier() for p in parts) else None
    return None


def _same_file(path: str, other: str) -> bool:
    return path == other or os.path.realpath(path) == os.path.realpath(other)


def _recorded(dist: Any) -> list[Any] | None:
    """Give the files that *dist* recorded; None where there is no record, or none to read."""
    try:
        return None if dist.files is None else list(dist.files)
    except Exception:  # noqa: BLE001 - a broken record is none
        return None


def _project_of_editable(dist: Any) -> str | None:
    """Give the folder of the project that an editable *dist* is installed from."""
    try:
        origin = dist.origin
    except Exception:  # noqa: BLE001 - where it cannot be read, it says nothing
        return None
    url = getattr(origin, "url", "") or ""
    if not url.startswith("file:") or not getattr(
        getattr(origin, "dir_info", None), "editable", False
    ):
        return None
    from urllib.parse import urlparse  # noqa: PLC0415 - only for editable installations
    from urllib.request import url2pathname  # noqa: PLC0415

    return url2pathname(urlparse(url).path)
