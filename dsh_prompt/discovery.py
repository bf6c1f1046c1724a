"""Installed plugins, found by their entry points: one by one, none trusted to be whole."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.hookspecs import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importlib_metadata import EntryPoint

logger = logging.getLogger("dsh_prompt.plugins")


@attrs.frozen
class Installed:
    """An entry point of an installed distribution."""

    name: str
    distribution: str
    version: str
    entry_point: EntryPoint = attrs.field(repr=False)

    def load(self) -> Any:
        """Import what the entry point names."""
        return self.entry_point.load()

    def modules(self) -> list[str]:
        """Name the loaded modules whose files the distribution recorded as its own."""
        dist: Any = self.entry_point.dist
        files = {Path(str(dist.locate_file(file))).resolve() for file in dist.files or ()}
        return [
            name
            for name, module in list(sys.modules.items())
            if (path := getattr(module, "__file__", None)) and Path(path).resolve() in files
        ]


@attrs.frozen
class Discovery:
    """What one scan found: plugins by name, and what is wrong with what is installed."""

    plugins: dict[str, Installed]
    problems: tuple[str, ...]


def discover() -> Discovery:
    """Scan the installed distributions once for entry points of the group ``dsh_prompt``.

    Of several distributions that offer one name the first by name is used, of several
    versions of one distribution the one that Python imports: the first on the path, there
    the newest. What is not used is a problem, and so is metadata that cannot be read.
    """
    problems: list[str] = []
    found: dict[str, list[Installed]] = {}
    for dist in _distributions_in_use(problems):
        for entry_point in _entry_points(dist, problems):
            installed = Installed(entry_point.name, _name(dist), dist.version, entry_point)
            found.setdefault(entry_point.name, []).append(installed)
    plugins = {}
    for name in sorted(found):
        used, *others = sorted(found[name], key=lambda plugin: _normalized(plugin.distribution))
        plugins[name] = used
        problems += [
            f'plugin "{name}" is offered by {used.distribution} {used.version}, which is used, '
            f"and by {other.distribution} {other.version}; uninstall one of them"
            for other in others
        ]
    for problem in problems:
        logger.warning("%s", problem)
    return Discovery(plugins, tuple(problems))


def _distributions_in_use(problems: list[str]) -> Iterable[Any]:
    """Give the distributions with our entry points, one version of each."""
    import importlib_metadata  # noqa: PLC0415 - only where something is looked for

    names = {
        _normalized(_name(dist)): _name(dist)
        for dist in importlib_metadata.distributions()
        if _entry_points(dist, problems)
    }
    for normalized in sorted(names):
        name = names[normalized]
        versions = list(importlib_metadata.distributions(name=name))
        used, *others = sorted(versions, key=lambda dist: _preference(dist, versions))
        problems += [
            f"{name} {used.version} is used, but metadata of version {other.version} is "
            f"installed too, in {other.locate_file('')}; reinstall it"
            for other in others
            if _entry_points(other, problems)
        ]
        yield used


def _preference(dist: Any, versions: list[Any]) -> tuple[int, Any]:
    """Sort key: the place on the path, then the newest version first."""
    folders = [str(other.locate_file("")) for other in versions]
    release = re.match(r"\d+(?:\.\d+)*", dist.version or "")
    numbers = [-int(part) for part in release[0].split(".")] if release else []
    is_final = release is not None and release[0] == dist.version
    return folders.index(str(dist.locate_file(""))), (numbers, not is_final)


def _entry_points(dist: Any, problems: list[str]) -> list[EntryPoint]:
    try:
        points = [point for point in dist.entry_points if point.group == PROJECT]
        if points and not (_name(dist) and dist.version):
            raise ValueError("it has no name or no version")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001 - one broken package must not hide the others
        problem = f"the metadata in {_place(dist)} cannot be read: {error}"
        if problem not in problems:
            problems.append(problem)
        return []
    return points


def _place(dist: Any) -> object:
    return getattr(dist, "_path", None) or dist.locate_file("")


def _name(dist: Any) -> str:
    return str(dist.metadata["Name"] or "")


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
