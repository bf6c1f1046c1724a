"""Installed plugins, found by their entry points: one by one, none trusted to be whole."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.hookspecs import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from importlib_metadata import EntryPoint

logger = logging.getLogger("dsh_prompt.plugins")

#: Seconds for which an installer may still be at work on a folder that it has changed.
RECENT = 10.0


@attrs.frozen
class Installed:
    """An entry point of an installed distribution."""

    name: str
    distribution: str
    version: str
    entry_point: EntryPoint = attrs.field(repr=False)

    @property
    def label(self) -> str:
        """The plugin as messages name it."""
        return f'plugin "{self.name}" ({self.distribution} {self.version})'

    def load(self) -> Any:
        """Import what the entry point names."""
        return self.entry_point.load()


@attrs.frozen
class Discovery:
    """What one scan found: plugins by name, and what is wrong with what is installed.

    *unreadable* are the places of metadata that cannot be read.
    """

    plugins: dict[str, Installed]
    problems: tuple[str, ...]
    unreadable: tuple[str, ...] = ()

    def is_being_written(self) -> bool:
        """Tell whether an installer seems to be at work on what cannot be read."""
        return any(map(_is_recent, self.unreadable))


@attrs.frozen
class _Metadata:
    """One readable dist-info folder: *folder* is where it stands, *path* what it is."""

    name: str
    version: str
    folder: str
    path: str
    entry_points: tuple[EntryPoint, ...]


def discover() -> Discovery:
    """Scan the installed distributions once for entry points of the group ``dsh_prompt``.

    Of several distributions that offer one name the first by name is used, of several
    versions of one distribution the one that Python imports: the first on the path, there
    the newest. What is not used is a problem, and so is metadata that cannot be read.
    """
    problems: list[str] = []
    unreadable: dict[str, str] = {}
    found: dict[str, list[Installed]] = {}
    for metadata in _in_use(problems, unreadable):
        for point in metadata.entry_points:
            installed = Installed(point.name, metadata.name, metadata.version, point)
            offers = found.setdefault(point.name, [])
            if not offers or offers[-1].distribution != metadata.name:
                offers.append(installed)
    plugins = {}
    for name in sorted(found):
        used, *others = found[name]
        plugins[name] = used
        problems += [
            f'plugin "{name}" is offered by {used.distribution} {used.version}, which is used, '
            f"and by {other.distribution} {other.version}; uninstall one of them"
            for other in others
        ]
    problems = [*unreadable.values(), *problems]
    for problem in problems:
        logger.warning("%s", problem)
    return Discovery(plugins, tuple(problems), tuple(unreadable))


def _is_recent(place: str) -> bool:
    try:
        return time.time() - os.stat(place).st_mtime < RECENT  # noqa: PTH116
    except OSError:
        return True  # it is gone again: somebody is at work


def is_unfinished(distribution: str) -> bool:
    """Tell whether *distribution* seems to be half installed.

    Its metadata cannot be read, or was written just now, without the record of files that an
    installer writes last.
    """
    return any(
        _read(dist, {}, only_plugins=False) is None
        or (dist.files is None and _is_recent(str(_path(dist))))
        for dist in _distributions(distribution)
    )


def _in_use(problems: list[str], unreadable: dict[str, str]) -> Iterable[_Metadata]:
    """Give the distributions that offer plugins, by name, one version of each."""
    by_name: dict[str, dict[str, _Metadata]] = {}
    for dist in _distributions():
        if metadata := _read(dist, unreadable, only_plugins=True):
            by_name.setdefault(normalized(metadata.name), {})[metadata.path] = metadata
    for name in sorted(by_name):
        versions = by_name[name]
        # Another version may offer nothing, and be the one that is imported.
        for dist in _distributions(name):
            if metadata := _read(dist, unreadable, only_plugins=False):
                versions.setdefault(metadata.path, metadata)
        used, *others = _by_preference(list(versions.values()))
        problems += [
            f"{used.name} {used.version} is used, but metadata of version {other.version} is "
            f"installed too, in {other.folder}; reinstall it"
            for other in others
        ]
        yield used


def _distributions(name: str | None = None) -> Iterable[Any]:
    import importlib_metadata  # noqa: PLC0415 - only where something is looked for

    return importlib_metadata.distributions(**({} if name is None else {"name": name}))


def _by_preference(versions: list[_Metadata]) -> list[_Metadata]:
    """Sort by the place on the path, and there the newest version first."""
    newest_first = sorted(versions, key=_release, reverse=True)
    # Of a folder that is on the path twice the first place counts.
    path = reversed(list(enumerate(sys.path)))
    places = {os.path.realpath(folder or "."): place for place, folder in path}
    return sorted(newest_first, key=lambda one: places.get(one.folder, len(places)))


def _release(metadata: _Metadata) -> tuple[list[int], bool]:
    """Sort key of a version: its numbers, a final release after what leads to it."""
    match = re.match(r"\d+(?:\.\d+)*", metadata.version)
    if match is None:
        return [], False
    return [int(part) for part in match[0].split(".")], match[0] == metadata.version


def _read(dist: Any, unreadable: dict[str, str], *, only_plugins: bool) -> _Metadata | None:
    """Read what is needed of *dist*; with *only_plugins* nothing of what offers none."""
    path = os.path.realpath(_path(dist))
    try:
        points = tuple(point for point in dist.entry_points if point.group == PROJECT)
        if only_plugins and not points:
            return None
        name, version = dist.metadata["Name"], dist.version
        if not name or not version:
            raise ValueError("it has no name or no version")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001 - one broken package must not hide the others
        problem = f"the metadata in {path} cannot be read: {type(error).__name__}: {error}"
        unreadable.setdefault(path, problem)
        return None
    return _Metadata(name, version, os.path.realpath(dist.locate_file("")), path, points)


def _path(dist: Any) -> Path:
    """Give the place of the metadata of *dist*: a folder, if it is installed as usual."""
    from pathlib import Path  # noqa: PLC0415 - only where something is looked for

    return Path(str(getattr(dist, "_path", None) or dist.locate_file("")))


def normalized(name: str) -> str:
    """Give the name of a distribution in the one spelling that compares."""
    return re.sub(r"[-_.]+", "-", name).lower()
