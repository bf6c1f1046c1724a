"""Units: plugins that are loaded, or get new code, together: whole, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dsh_prompt.errors import AsyncProviderError, PluginConflictError, PluginLoadError, place_of
from dsh_prompt.lifecycle.leaving import leaving
from dsh_prompt.lifecycle.registration import Loading
from dsh_prompt.plugins.candidates import (
    can_be_renewed,
    imported,
    in_order,
    instantiated,
    renewed,
)
from dsh_prompt.plugins.exchange import take_back
from dsh_prompt.plugins.loading import are_used
from dsh_prompt.plugins.modules import FreshImport, OwnModules, is_extension

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from types import ModuleType

    from dsh_prompt.config.config import Config
    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.plugins.context import PluginContext
    from dsh_prompt.plugins.discovery import Installed
    from dsh_prompt.plugins.hooks import Candidate
    from dsh_prompt.plugins.loading import Loader


@attrs.frozen
class _Step:
    """One plugin to be loaded, and which one it replaces."""

    candidate: Candidate
    owner: DisposableContext
    predecessor: PluginContext | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the plugin that it brings."""
        return self.candidate.names

    def refused(self, problem: str) -> PluginLoadError:
        """Give the load error for *problem*."""
        return self.candidate.refused(problem)


class Unit:
    """Loads the plugins *added*, and new code for those *renewed*, whose code *dropped* shared.

    *installed* is what there is to load from. What depends on the renewed ones is imported
    and made anew as well: it may hold what it took from their modules. *departing* are
    plugins that go at the same time: their names give way.
    """

    def __init__(
        self,
        loader: Loader,
        owner: DisposableContext,
        installed: Mapping[str, Installed],
        *,
        added: Sequence[str] = (),
        renewed: Sequence[PluginContext] = (),
        dropped: Sequence[PluginContext] = (),
        departing: Sequence[PluginContext] = (),
        twin: str | None,
    ) -> None:
        self._loader = loader
        self._owner = owner
        self._installed = installed
        self.added = tuple(added)
        self.renewed = tuple(renewed)
        self.dropped = tuple(dropped)
        self._departing = departing
        self._twin = twin
        #: What goes when the unit comes, and what comes.
        restarted = loader.dependants(renewed, without=[*dropped, *departing])
        self.old = sorted({*restarted, *renewed, *dropped}, key=lambda one: one.sequence)
        self.new: list[PluginContext] = []
        # Looked at as long as the modules are there: one that is deleted is no object.
        self._renewable = [one for one in self.old if can_be_renewed(one._candidate)]
        self._claimed: list[PluginContext] = []
        self._fresh: FreshImport | None = None
        self._steps: list[_Step] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the plugins that it brings."""
        return (*self.added, *(one._candidate.name for one in self.renewed))

    @property
    def brings(self) -> dict[str, Installed]:
        """The installed plugins that it brings, by the names that they have here."""
        brings = {name: self._installed[name] for name in self.added}
        for context in self.renewed:
            loaded = context._candidate.installed
            if loaded is not None and loaded.name in self._installed:
                brings[context._candidate.name] = self._installed[loaded.name]
        return brings

    @property
    def requires(self) -> set[str]:
        """The names of the plugins that it requires from elsewhere; known once it is imported."""
        own = {step.candidate.name for step in self._steps}
        return {name for step in self._steps for name in step.candidate.requires} - own

    @property
    def label(self) -> str:
        """The unit as messages name it."""
        labels = [one._candidate.label for one in self.renewed]
        return " and ".join([*labels, *(self._installed[name].label for name in self.added)])

    def _claim(self) -> None:
        """Take what is to go for this unit alone, until it is shown or undone."""
        distributions = {one._candidate.distribution for one in self.old} - {None}
        with self._loader.lock:
            for context in self._loader.contexts():
                concerned = context in self.old or context._candidate.distribution in distributions
                if concerned and context.is_being_renewed:
                    label = context._candidate.label
                    raise PluginConflictError(f"{label} is being reloaded already")
            for context in self.old:
                if context.is_gone:
                    raise PluginConflictError(f"{context._candidate.label} has just gone")
            if self._twin is not None:
                for lifetime in leaving(self.old):
                    lifetime._refuse_async(self._twin)
            self._claimed = self.old
            for context in self._claimed:
                context.is_claimed = True

    def import_code(self, *, anew: bool = True) -> None:
        """Import all code, *anew* unless its modules are to stay; raises, all as before.

        Raises `PluginConflictError` where somebody else reloads what is to go, or it has gone
        meanwhile, and `AsyncProviderError` where async cleanups stand in the way.
        """
        self._claim()
        try:
            self._fresh = FreshImport(self.own_modules() if anew else {})
            with self._fresh:
                steps = [*self._imported()]
            for step in steps:
                step.candidate.requires  # noqa: B018 - told here, where it is not what it should be
            self._steps = [steps[index] for index in in_order(steps, _needs_of(steps))]
        except BaseException as error:
            self.undo_import()
            self._explain(error)
            raise

    def _imported(self) -> Iterable[_Step]:
        for name in self.added:
            yield _Step(imported(self._installed[name]), self._owner)
        for old in self.old:
            owner = old._owner
            if old in self.dropped:
                continue
            candidate = old._candidate
            if owner is None:
                raise PluginConflictError(f"{candidate.label} has just gone")
            if old in self._renewable:
                candidate = renewed(candidate, self._installed)
            else:
                candidate = instantiated(candidate)
            yield _Step(candidate, owner, old)  # type: ignore[arg-type]

    def refused(self, problem: str) -> PluginLoadError:
        """Give the load error for a unit that cannot be loaded."""
        return self._steps[0].candidate.refused(problem)

    def own_modules(self) -> dict[str, ModuleType]:
        """Give the modules to import anew: of all that goes, and of versions before."""
        modules: dict[str, ModuleType] = {}
        for name in self.added:
            modules |= self._loader.outdated_modules(self._installed[name])
        for context in self._renewable:
            modules |= context.own_modules.loaded()
        return modules

    def extensions(self) -> list[str]:
        """Name the C extensions among its modules, which cannot be loaded anew."""
        return sorted(name for name, one in self.own_modules().items() if is_extension(one))

    async def load(
        self, batch: list[Loading], config: Config, failed: Collection[str] = ()
    ) -> None:
        """Load all plugins, seen by nobody yet; raises, with everything as before.

        *failed* are names of plugins that should have been loaded before.
        """
        replaced = [*self.old, *self._departing]
        try:
            for step in self._steps:
                old = step.predecessor
                loading = Loading(batch, replaced, self._twin)
                context = self._loader.begin(
                    step.candidate, step.owner, loading, failed=failed, predecessor=old
                )
                given = None if old is None else old.given_config
                await self._loader.fill(context, given, config)
                self.new.append(context)
        except BaseException as error:
            await self.take_back()
            if self.old:
                self.undo_import()
            self._explain(error)
            raise
        finally:
            self._steps = []

    async def undo(self) -> None:
        """Take back what was loaded, and the imports."""
        await self.take_back()
        self.undo_import()

    async def take_back(self) -> None:
        """Take back what was loaded."""
        new, self.new = self.new, []
        await take_back(new, self._twin)

    def undo_import(self) -> None:
        """Put the old modules back, and let go of what was claimed."""
        self.release()
        if self._fresh is None:
            return
        own = [one.own_modules for one in self.old]
        # What is installed now may have more than what was.
        points = [installed.name for one in self.old if (installed := one._candidate.installed)]
        now = [self._installed.get(name) for name in (*self.added, *points)]
        own += [OwnModules.of_distribution(installed) for installed in now if installed]
        fresh, self._fresh = self._fresh, None
        fresh.undo(own, are_used)

    def release(self) -> None:
        """Let go of what was claimed."""
        for context in self._claimed:
            context.is_claimed = False
        self._claimed = []

    def _explain(self, error: BaseException) -> None:
        """Raise *error* as a load error that says that the old code stays, and where it failed.

        Returns for what is to be raised as it is.
        """
        if not self.renewed or not isinstance(error, Exception):
            return
        if isinstance(error, AsyncProviderError):
            return
        if isinstance(error, PluginLoadError):
            place = "" if error.__cause__ is None else place_of(error.__cause__)
            told = str(error).removesuffix(place)
            error.args = (f"{told}{place}; the old code stays in place",)
            return
        failure = self.renewed[0]._candidate.load_error(error)
        failure.args = (f"{failure}; the old code stays in place",)
        raise failure from error


def _needs_of(steps: Sequence[_Step]) -> list[set[int]]:
    """Give, for each of *steps*, which of them bring what it requires: the nearest ones."""
    places = {(step.owner._layer, step.candidate.name): n for n, step in enumerate(steps)}
    needs = []
    for number, step in enumerate(steps):
        around = list(reversed(step.owner._layers.chain(step.owner._layer)))
        found = (
            next(
                (p for layer in around if (p := places.get((layer, name), number)) != number), None
            )
            for name in step.candidate.requires
        )
        needs.append({place for place in found if place is not None})
    return needs
