"""The host: joins layers, plugins and the pipeline, and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.assembly import assemble
from dsh_prompt.config import Config
from dsh_prompt.coroutines import drive
from dsh_prompt.disposable import DisposableContext, Scope
from dsh_prompt.errors import DisposedError, ScopeError
from dsh_prompt.evaluation import Run
from dsh_prompt.layers import Layers
from dsh_prompt.lifecycle import State
from dsh_prompt.model.context import AssembleContext
from dsh_prompt.model.contributions import IDENTITY_SECTION, PERSONA_SECTION, SectionOrder
from dsh_prompt.model.source import Source
from dsh_prompt.plan import Plan
from dsh_prompt.plugins import Plugins
from dsh_prompt.tool_registry import ToolRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.layers import Layer
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.plugin_context import PluginInfo
    from dsh_prompt.plugins import LoadReport

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
        self._plugins = Plugins(self)
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
        with Run(self._layers.assemblies, context, True, None) as run:
            assembly: PromptAssembly = drive(assemble(self._plan(context.scope), run))
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
        with Run(self._layers.assemblies, context, False, timeout) as run:
            return await assemble(self._plan(context.scope), run)

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
            if layer.plan is None:
                plan = Plan(
                    layers.chain(layer),
                    generation=layers.generation,
                    layout=self._config.layout,
                    tool_order=self._config.tool_order,
                    block_start=layers.block_start,
                )
                layers.keep_plan(layer, plan)
                return plan
            current: Plan = layer.plan
            return current

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

    def unload(self, name: str, *, scope: Scope | None = None, purge: bool = False) -> None:
        """Unload the plugin *name* of *scope* (None: the global one).

        All that it contributed goes in one generation, then ``deactivate`` and its cleanups
        run, then one change event is fired. *purge* also removes its own modules from
        ``sys.modules``. Raises `PluginNotFoundError` for what is not loaded there, and
        `AsyncProviderError` where ``unload_async`` is needed.
        """
        context = self._plugins.context(name, scope)
        modules = context.modules() if purge else set()
        try:
            context._dispose_now("unload_async()")
        finally:
            if modules and context.is_gone:
                self._plugins.forget_modules(modules)

    async def unload_async(
        self, name: str, *, scope: Scope | None = None, purge: bool = False
    ) -> None:
        """Unload a plugin as `unload` does, async cleanups included.

        Waits, before they run, for the assemblies that were begun before.
        """
        context = self._plugins.context(name, scope)
        modules = context.modules() if purge else set()
        try:
            await context.dispose_async()
        finally:
            if modules and context.is_gone:
                self._plugins.forget_modules(modules)

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
        raise TypeError(f"expected an AssembleContext, not {context!r}")
