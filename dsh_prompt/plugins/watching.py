"""Watching: a host follows edits of plugins' code, of its configuration and of given folders."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import attrs

from dsh_prompt.errors import PromptError
from dsh_prompt.plugins.candidates import can_be_renewed, discover
from dsh_prompt.plugins.file_changes import FileChanges, is_below
from dsh_prompt.plugins.modules import OwnModules
from dsh_prompt.plugins.sync import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Self

    from dsh_prompt.config.config import Config
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.plugins.context import PluginContext, PluginInfo
    from dsh_prompt.plugins.sync import SyncReport
    from dsh_prompt.system_prompt import SystemPrompt

#: Folders in which tools keep what they made, and files that editors leave for a moment.
_MADE = frozenset(
    {"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".git", ".hg", ".svn", ".idea"}
    | {".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_FLEETING = re.compile(r"\.py[co]$|\.sw\w$|~$|^\.#|^4913$|\.tmp$|^\.DS_Store$|^flycheck_|___jb_")
_METADATA = (".dist-info", ".egg-info")

#: Kinds of events after which there may be other code to watch.
_OF_PLUGINS = {"loaded", "unloaded", "reloaded", "synced", "scope-disposed", "disposed"}


@attrs.frozen
class WatchReport:
    """What one batch of changed files meant to a host.

    *paths* are the files and folders that changed, *reloaded* the plugins that were loaded
    anew for it. *failed* maps the names of others, which stay as they were, to the errors, and
    so the path of a configuration file that cannot be read. *sync* tells what came of
    following what is installed, where that changed.
    """

    paths: tuple[Path, ...]
    reloaded: tuple[PluginInfo, ...] = ()
    failed: Mapping[str, BaseException] = attrs.field(factory=dict)
    sync: SyncReport | None = None


class Watch:
    """Acts on changed files, and gives a `WatchReport` for each batch: for ``async for``.

    Watching begins with ``async with``, or with the first report that is waited for. It ends
    when *stop* is set, when it is closed, or with the host. Raises `ModuleNotFoundError`
    where watchfiles is not installed.
    """

    def __init__(
        self, host: SystemPrompt, paths: Iterable[str | os.PathLike[str]], stop: Any
    ) -> None:
        self._host = host
        self._given = frozenset(os.path.realpath(path) for path in paths)
        self._stop = stop
        self._config = host.config
        #: Plugins that a sync could not load: it does not remember each of them.
        self._missed: set[str] = set()
        #: Metadata folders that changed: what is in them may come later.
        self._metadata: set[str] = set()
        self._changes = FileChanges()
        listener = host.on_change(_waker(self._changes))
        self._finalizer = finalize(self, _end, self._changes, listener.dispose)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchReport:
        await self._follow()
        while (changed := await self._changes.take(self._stop)) is not None:
            if self._host.is_gone:
                break
            await self._follow()  # a folder may have taken the place of a watched one
            report = await self._act(changed)
            await self._follow()
            if report is not None:
                return report
        self._finalizer()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        await self._follow()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End it."""
        self._finalizer()

    # Which folders

    async def _follow(self) -> None:
        deep = {folder for one in self._subjects() for folder in one.code.folders}
        files = {file for one in self._subjects() for file in one.code.files}
        files |= self._config_files()
        # Whole folders are replaced as well, which shows where they stand.
        flat = {os.path.dirname(path) for path in (*files, *deep, *self._given)}  # noqa: PTH120
        flat |= _import_folders() | self._metadata
        for path in self._given:
            inside, beside = _without_made(path)
            deep |= inside
            flat |= beside
        await self._changes.follow(deep, flat)

    def _config_files(self) -> set[str]:
        return {name for file in self._config.files for name in _names(file.path)}

    def _subjects(self) -> list[_Subject]:
        """List the plugins that can change: the loaded ones, and those whose code failed."""
        manager = self._host._plugins
        loaded = [
            _Subject(context._candidate.name, context.scope, _Code.of_plugin(context), context)
            for context in manager.loader.contexts()
            if not context.is_loading
        ]
        names = {name_of(one.context) for one in loaded if one.context and one.scope is None}
        missing = {*self._missed, *manager.attempts.names} - names
        if not missing:
            return loaded
        failed = [
            _Subject(name, None, _Code.of_modules(OwnModules.of_distribution(installed)))
            for name, installed in discover().plugins.items()
            if name in missing
        ]
        return [*loaded, *failed]

    # What a change means

    async def _act(self, changed: set[str]) -> WatchReport | None:
        failed: dict[str, BaseException] = {}
        installed = {path for path in changed if self._is_metadata(path)}
        settings = changed & self._config_files()
        other_settings = self._resettled(settings, failed) if settings else frozenset()
        subjects = self._subjects()
        code = {path for path in changed if any(path in one.code for one in subjects)}
        given = {path for path in changed if self._is_given(path)}
        paths = sorted(installed | settings | code | given)
        if not paths:
            return None
        hit = [
            one
            for one in subjects
            if any(path in one.code for path in code)
            or (one.name in other_settings and one.has_settings_of_files)
        ]
        again = [one.name for one in hit if one.context is None]
        synced = await self._sync(again, paths[0], failed) if installed or again else None
        if synced is not None:
            failed |= {name: synced.failed[name] for name in again if name in synced.failed}
        reloaded = await self._reload(hit, failed)
        return WatchReport(tuple(map(Path, paths)), reloaded, failed, synced)

    def _is_metadata(self, path: str) -> bool:
        for place in (path, os.path.dirname(path)):  # noqa: PTH120
            if place.endswith(_METADATA) and os.path.dirname(place) in _import_folders():  # noqa: PTH120
                self._metadata.add(place)
                return True
        return False

    def _is_given(self, path: str) -> bool:
        return any(_is_of_interest(path, folder) for folder in self._given)

    def _resettled(self, files: Iterable[str], failed: dict[str, BaseException]) -> Collection[str]:
        """Read the configuration again: the names of the plugins that have other settings."""
        before = self._config
        try:
            self._config = now = self._host.config.reread()
        except PromptError as error:
            failed |= dict.fromkeys(files, error)
            return ()
        names = {*before.plugins.config, *now.plugins.config}
        return {name for name in names if _said(before, name) != _said(now, name)}

    async def _sync(
        self, again: Collection[str], path: str, failed: dict[str, BaseException]
    ) -> SyncReport | None:
        """Follow what is installed, with another try for the plugins *again*."""
        self._host._plugins.attempts.forget(again)
        try:
            report = await self._host.sync_async()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the next edit may mend it
            failed[path] = error
            return None
        self._missed = {*report.failed}
        return report

    async def _reload(
        self, subjects: Iterable[_Subject], failed: dict[str, BaseException]
    ) -> tuple[PluginInfo, ...]:
        """Reload plugins, each contained; one that got its new code with another is done."""
        manager = self._host._plugins
        todo = [one for one in subjects if one.context is not None and not one.context.is_gone]
        installed = discover().plugins if any(one.is_installed for one in todo) else {}
        for one in todo:
            # Without its metadata it is being replaced, or goes: `sync` sees to that.
            is_here = not one.is_installed or name_of(one.context) in installed  # type: ignore[arg-type]
            if not is_here or one.context.is_gone:  # type: ignore[union-attr]
                continue
            try:
                await self._host.reload_async(one.name, scope=one.scope)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the next edit may mend it
                failed[one.name] = error
        current = {(info.name, info.scope): info for info in manager.loaded()}
        renewed = ((one.name, one.scope) for one in todo if one.context and one.context.is_gone)
        return tuple(current[key] for key in renewed if key in current)


@attrs.frozen
class _Code:
    """Where a plugin's code stands: whole *folders*, and single *files*."""

    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    @classmethod
    def of_plugin(cls, context: PluginContext) -> _Code:
        """Give the code of a loaded plugin; none for an object, which cannot be loaded anew."""
        renewable = can_be_renewed(context._candidate)
        return cls.of_modules(context.own_modules) if renewable else cls()

    @classmethod
    def of_modules(cls, own: OwnModules) -> _Code:
        """Give the code of modules: a package is its folder, with all that is in it."""
        files = {*own.files.values(), *_files_of(own.loaded().values())}
        if not files:  # nothing could be imported, and nothing was recorded
            files = _files_of(filter(None, map(_spec, own.packages)))
        packages = {file for file in files if Path(file).stem == "__init__"}
        return cls(
            frozenset(os.path.realpath(os.path.dirname(file)) for file in packages),  # noqa: PTH120
            frozenset(name for file in files - packages for name in _names(file)),
        )

    def __contains__(self, path: str) -> bool:
        return path in self.files or any(_is_of_interest(path, one) for one in self.folders)


@attrs.frozen
class _Subject:
    """A plugin that files can change; *context* is None where its code failed."""

    name: str
    scope: Scope | None
    code: _Code
    context: PluginContext | None = None

    @property
    def is_installed(self) -> bool:
        """Whether it comes from an installed distribution."""
        return self.context is None or self.context._candidate.installed is not None

    @property
    def has_settings_of_files(self) -> bool:
        """Whether nobody gave it its settings when it was loaded."""
        return self.context is None or self.context.given_config is None


def _files_of(modules: Iterable[Any]) -> set[str]:
    """Give the files of modules, or of specifications of them."""
    found = (getattr(one, "__file__", None) or getattr(one, "origin", None) for one in modules)
    return {file for file in found if file and os.path.isabs(file)}  # noqa: PTH117


def _spec(module: str) -> Any:
    """Find *module* without running it: what it stands in is found instead."""
    try:
        return find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None


def _said(config: Config, name: str) -> object:
    """Give what files say of a plugin: an edit can also take the trust away."""
    table = config.plugins.config.get(name, {})
    layers = getattr(table, "_layers", ())
    return table, [(dict(layer.table), layer.trusted) for layer in layers if layer.table]


def _names(file: str | os.PathLike[str]) -> set[str]:
    """Give the paths by which *file* can be told: where it stands, and where a link leads."""
    folder, name = os.path.split(file)
    return {os.path.join(os.path.realpath(folder), name), os.path.realpath(file)}  # noqa: PTH118


def _import_folders() -> set[str]:
    """Give the folders on the import path, where installers put metadata."""
    return {os.path.realpath(folder or ".") for folder in sys.path}


def _is_of_interest(path: str, folder: str) -> bool:
    """Tell whether *path* is in *folder*, and is nothing that tools make for themselves."""
    if not is_below(path, {folder}):
        return False
    parts = Path(path).relative_to(folder).parts
    if parts[-2:] == (".git", "HEAD"):  # another branch
        return True
    return _MADE.isdisjoint(parts) and not (parts and _FLEETING.search(parts[-1]))


def _without_made(folder: str) -> tuple[set[str], set[str]]:
    """Give what to watch of *folder*: with all that is below it, and alone.

    What tools made is often most of it, and would cost as much to watch.
    """
    try:
        children = [entry for entry in os.scandir(folder) if entry.is_dir()]
    except OSError:  # it is a file, or not there now
        return set(), set()
    if not any(entry.name in _MADE for entry in children):
        return {folder}, set()
    deep = {entry.path for entry in children if entry.name not in _MADE}
    return deep, {folder, *(entry.path for entry in children if entry.name == ".git")}


def _waker(changes: FileChanges) -> Callable[[ChangeEvent], None]:
    def wake(event: ChangeEvent) -> None:
        if event.kind in _OF_PLUGINS:
            changes.wake()

    return wake


def _end(changes: FileChanges, forget: Callable[[], object]) -> None:
    changes.close()
    forget()
