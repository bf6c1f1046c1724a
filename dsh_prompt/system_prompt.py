"""The host: joins layers, plugins and the pipeline, and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt.assembly.assembly import assemble, assemble_async
from dsh_prompt.assembly.evaluation import Run
from dsh_prompt.assembly.plan import Plan
from dsh_prompt.config.config import Config
from dsh_prompt.coroutines import drive
from dsh_prompt.errors import DisposedError, PromptError, ScopeError, short
from dsh_prompt.layers.layers import Layers
from dsh_prompt.layers.tool_registry import ToolRegistry
from dsh_prompt.lifecycle.disposable import DisposableContext, Scope
from dsh_prompt.lifecycle.state import State
from dsh_prompt.model.context import AssembleContext
from dsh_prompt.model.contributions import IDENTITY_SECTION, PERSONA_SECTION, SectionOrder
from dsh_prompt.model.source import Source
from dsh_prompt.plugins.failures import Failures
from dsh_prompt.plugins.manager import PluginManager
from dsh_prompt.plugins.sync import sync

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from dsh_prompt.layers.layers import Layer
    from dsh_prompt.lifecycle.change_stream import ChangeStream
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.plugins.context import PluginInfo
    from dsh_prompt.plugins.manager import LoadReport
    from dsh_prompt.plugins.sync import SyncReport
    from dsh_prompt.plugins.watching import Watch

IDENTITY = "You are an AI agent powered by DeepSeek Harness."


class SystemPrompt(DisposableContext):
    """A host: the global layer, its scopes and plugins, and the assembly of model inputs.

    Starts with the two built-in sections and the tool registry, and no plugins. All of it
    may be used from any thread, also while assemblies run.
    """

    def __init__(self, config: Config | None = None) -> None:
        layers = Layers()
        super().__init__(self, layers, layers.root, Source(), owner=None)
        self._config = Config() if config is None else config
        self._plugins = PluginManager(self)
        limit = self._config.quarantine_after
        self._failures = None if limit is None else Failures(self._plugins, limit)
        self.registry = ToolRegistry(layers)
        self._register_built_ins(self._config)

    def _register_built_ins(self, config: Config) -> None:
        if config.include_harness_identity:
            self.section(name=IDENTITY_SECTION, order=SectionOrder.IDENTITY, text=IDENTITY)
        self.section(name=PERSONA_SECTION, order=SectionOrder.PERSONA, text=config.persona)
        self.tools(self.registry)
        if not config.include_runtime_context:
            self.suppress_runtime_context()

    @property
    def config(self) -> Config:
        """The host's configuration."""
        return self._config

    def _take(self, config: Config) -> None:
        self._config = config

    # Assembling

    def assemble(
        self,
        context: AssembleContext | None = None,
        /,
        *,
        scope: Scope | None = None,
        state: RuntimeState | None = None,
    ) -> PromptAssembly:
        """Assemble the model input for *scope* and *state*, or for a given *context*.

        Raises what the first failing step raises, a `PromptError`; among them
        `AsyncProviderError` for an async provider or hook, when it is reached.
        """
        if context is None:
            context = AssembleContext(scope, state)
        else:
            _check_context(context, scope, state)
        generation = self._layers.generation
        try:
            with Run(self._layers.assemblies, context, True, None) as run:
                assembly = assemble(self._plan(context.scope), run)
        except PromptError as error:
            self._note_failure(error, context.scope, generation)
            raise
        if self._failures is not None:
            self._failures.note_success(context.scope)
        return assembly

    async def assemble_async(
        self,
        context: AssembleContext | None = None,
        /,
        *,
        scope: Scope | None = None,
        state: RuntimeState | None = None,
    ) -> PromptAssembly:
        """Assemble as `assemble` does, with async providers and hooks, side by side."""
        if context is None:
            context = AssembleContext(scope, state)
        else:
            _check_context(context, scope, state)
        timeout = self._config.hook_timeout
        generation = self._layers.generation
        try:
            with Run(self._layers.assemblies, context, False, timeout) as run:
                assembly = await assemble_async(self._plan(context.scope), run)
        except PromptError as error:
            self._note_failure(error, context.scope, generation)
            raise
        if self._failures is not None:
            self._failures.note_success(context.scope)
        return assembly

    def _note_failure(self, error: PromptError, scope: Scope | None, generation: int) -> None:
        if self._failures is not None:
            self._failures.note_failure(error, scope, generation)

    def _plan(self, scope: Scope | None) -> Plan:
        """Give the current plan; only the first call after a change waits for the lock."""
        if self._state is not State.ACTIVE:
            raise DisposedError("the host is disposed; it assembles nothing any more")
        layer = self._layers.root if scope is None else self._scope_layer(scope)
        plan: Plan | None = layer.plan
        return plan if plan is not None else self._new_plan(layer)

    def _new_plan(self, layer: Layer) -> Plan:
        layers = self._layers
        with layers.lock:
            if layer.plan is not None:
                current: Plan = layer.plan
                return current
            while True:
                generation = layers.generation
                try:
                    plan = self._planned(layer)
                except Exception:
                    if generation == layers.generation:
                        raise
                    continue  # a finalizer has changed something: it is made again
                if layers.keep_plan(layer, plan):
                    return plan

    def _planned(self, layer: Layer) -> Plan:
        return Plan(
            self._layers.chain(layer),
            generation=self._layers.generation,
            layout=self._config.layout,
            tool_order=self._config.tool_order,
            block=self._layers.block,
        )

    def _urgent_generation(self, scope: Scope | None) -> int:
        """Give the generation of the last urgent change that *scope* sees."""
        layers = self._layers
        layer = layers.root if scope is None else self._scope_layer(scope)
        return max(link.urgent for link in layers.chain(layer))

    def _detach(self) -> None:
        self._layers.close(self._layers.root)

    def _scope_layer(self, scope: Scope) -> Layer:
        if not isinstance(scope, Scope) or scope._layers is not self._layers:
            raise ScopeError(f"{scope!r} is no scope of this host; create_scope() makes one")
        return scope._layer

    # Plugins

    @property
    def plugins(self) -> list[PluginInfo]:
        """The loaded plugins, global ones and those of scopes, in load order."""
        return self._plugins.loaded()

    def load(
        self,
        plugin: object,
        name: str | None = None,
        config: object = None,
        scope: Scope | None = None,
    ) -> PluginInfo:
        """Load *plugin*: an object, class or module with hooks, or an entry point's name.

        *config* goes into the plugin's ``Config`` (None: from the host's ``[plugins.config]``);
        with *scope* it acts in that scope alone. Raises `PluginLoadError`, having changed
        nothing, where it fails; `PluginConflictError` for a name that is taken there,
        `PluginNotFoundError` for an entry point that is not installed, `AsyncProviderError`
        where ``load_async`` is needed.
        """
        info: PluginInfo = drive(
            self._plugins.load(plugin, name, config, scope, async_twin="load_async()")
        )
        return info

    async def load_async(
        self,
        plugin: object,
        name: str | None = None,
        config: object = None,
        scope: Scope | None = None,
    ) -> PluginInfo:
        """Load a plugin as `load` does; its ``activate`` may be async."""
        return await self._plugins.load(plugin, name, config, scope)

    def load_entry_points(
        self,
        only: Iterable[str] | None = None,
        block: Iterable[str] = (),
        strict: bool = False,
    ) -> LoadReport:
        """Load the installed plugins that the configuration wants and that are not loaded.

        *only* takes the place of the configured choice, *block* adds to what is disabled;
        ``DSH_PROMPT_PLUGINS`` narrows both. One that fails is reported and leaves nothing
        behind; with *strict* it is raised, and none is loaded. Fires one change event.
        """
        report: LoadReport = drive(
            self._plugins.load_entry_points(
                only, block, strict=strict, async_twin="load_entry_points_async()"
            )
        )
        return report

    async def load_entry_points_async(
        self,
        only: Iterable[str] | None = None,
        block: Iterable[str] = (),
        strict: bool = False,
    ) -> LoadReport:
        """Load the installed plugins as `load_entry_points` does, async ones included."""
        return await self._plugins.load_entry_points(only, block, strict=strict)

    def unload(
        self, name: str, *, scope: Scope | None = None, purge: bool = False, urgent: bool = False
    ) -> None:
        """Unload the plugin *name* of *scope* (None: the global one), and what requires it.

        All that they contributed goes in one generation, then ``deactivate`` and the cleanups
        run, then one change event is fired. *purge* also removes the plugin's own modules
        from ``sys.modules``, unless another plugin uses them. An *urgent* one reaches models
        at once, also in conversations whose prefix is pinned. Raises `PluginNotFoundError`
        for what is not loaded there, and `AsyncProviderError` where ``unload_async`` is
        needed.
        """
        twin = "unload_async()"
        drive(self._plugins.unload(name, scope, purge=purge, urgent=urgent, async_twin=twin))

    async def unload_async(
        self, name: str, *, scope: Scope | None = None, purge: bool = False, urgent: bool = False
    ) -> None:
        """Unload a plugin as `unload` does, async cleanups included.

        Waits, before they run, for the assemblies that were begun before.
        """
        await self._plugins.unload(name, scope, purge=purge, urgent=urgent)

    def reload(self, name: str, *, scope: Scope | None = None) -> PluginInfo:
        """Load the code of the plugin *name* anew, from disk, in the place of the old.

        Its own modules are imported again, unless another host of this process uses them,
        and so is its configuration read again. The new plugin is activated beside the old
        one; then they are swapped in one generation, one event is fired, and the old one is
        wound down. What requires it is made anew as well. Where anything fails, the old one
        stays as it is, and `PluginLoadError` says why and where. Raises
        `PluginNotFoundError` for what is not loaded, `PluginConflictError` while it is being
        reloaded already, `AsyncProviderError` where ``reload_async`` is needed.
        """
        info: PluginInfo = drive(self._plugins.reload(name, scope, async_twin="reload_async()"))
        return info

    async def reload_async(self, name: str, *, scope: Scope | None = None) -> PluginInfo:
        """Reload a plugin as `reload` does; ``activate`` and cleanups may be async.

        Waits, before the old one is wound down, for the assemblies that were begun before.
        """
        return await self._plugins.reload(name, scope)

    def sync(self) -> SyncReport:
        """Follow what is installed now: load, reload and unload plugins.

        What is new is loaded, as `load_entry_points` was asked to (without that, as the
        configuration says), unless it was unloaded by name; what has another version is
        reloaded, the plugins of one distribution together; what is gone is unloaded. Each
        failure is contained, reported, and not tried again before the version changes. All
        of it is one generation and one event.
        """
        report: SyncReport = drive(sync(self._plugins, async_twin="sync_async()"))
        return report

    async def sync_async(self) -> SyncReport:
        """Follow what is installed as `sync` does, async plugins included."""
        return await sync(self._plugins)

    def quarantine(self, name: str, reason: str, *, scope: Scope | None = None) -> None:
        """Switch the plugin *name* off, and what requires it: a misbehaving one, for example.

        All that they contributed goes in one generation, and one event (``unloaded``) is
        fired; they cannot register anything more. Their cleanups do not run yet: the plugin
        stays listed, with the state ``quarantined`` and the *reason*, until it is unloaded
        or reloaded. It is never loaded again by itself. From any thread, also inside of an
        assembly. Raises `PluginNotFoundError` for what is not loaded.
        """
        self._plugins.quarantine(name, reason, scope)

    def changes(self, *, limit: int = 1000) -> ChangeStream:
        """Give the change events from now on, for ``async for``.

        Up to *limit* events wait for a slow reader; then the oldest are dropped, and
        `ChangeStream.dropped` counts them. It ends when the host is disposed.
        """
        from dsh_prompt.lifecycle.change_stream import ChangeStream  # noqa: PLC0415 - for async hosts

        return ChangeStream(self, limit)

    def watch(self, *paths: str | PathLike[str], stop: Any = None) -> Watch:
        """Follow edits, and give a `WatchReport` for each batch of them, for ``async for``.

        Plugins whose code or settings (in the host's configuration files) changed are
        reloaded, each contained: a broken one keeps its old code until the next edit. Where
        installed metadata changed, `sync_async` runs. Other changes at or below *paths* are
        reported alone. It ends when *stop*, an event of the running loop, is set. Raises
        `ModuleNotFoundError` without the extra ``watch``.
        """
        from dsh_prompt.plugins.watching import Watch  # noqa: PLC0415 - needs an extra

        return Watch(self, paths, stop)

    def __repr__(self) -> str:
        return (
            f"<SystemPrompt generation={self._layers.generation} "
            f"contributions={len(self._layers.root.entries)} plugins={len(self.plugins)}>"
        )


def _check_context(
    context: AssembleContext, scope: Scope | None, state: RuntimeState | None
) -> None:
    if scope is not None or state is not None:
        raise TypeError("give an AssembleContext, or scope and state, not both")
    if not isinstance(context, AssembleContext):
        raise TypeError(f"expected an AssembleContext, not {short(context)}; a state is state=...")
