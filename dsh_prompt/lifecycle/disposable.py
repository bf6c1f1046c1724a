"""The registering interface that hosts, scopes and plugins share, and scopes themselves."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from dsh_prompt.errors import (
    InvalidContributionError,
    PluginConflictError,
    ScopeError,
    raise_all,
)
from dsh_prompt.hookspecs import plugin_names
from dsh_prompt.layers.entries import CONTEXT, SECTION, block_entry, tools_entries, variable_entry
from dsh_prompt.layers.entry import Entry
from dsh_prompt.layers.layers import Layer
from dsh_prompt.layers.listeners import (
    Listener,
    ListenerEntry,
    check_listener,
    check_orders,
    required_arguments,
)
from dsh_prompt.layers.providers import function_name, is_async_callable
from dsh_prompt.layers.services import find_service, missing_service, service_entry
from dsh_prompt.layers.tool_registry import Restriction, known_tools
from dsh_prompt.lifecycle.changes import ChangeListener, tell_all, tell_in_turn, withdrawal
from dsh_prompt.lifecycle.registration import UNTOLD
from dsh_prompt.lifecycle.resources import ResourceOwner
from dsh_prompt.lifecycle.state import State
from dsh_prompt.model.source import Source
from dsh_prompt.model.tools import ToolSchema, as_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dsh_prompt.layers.layers import Layers
    from dsh_prompt.layers.plugin_block import Member
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.lifecycle.registration import Loading, Registration
    from dsh_prompt.model.budget import Budget
    from dsh_prompt.model.contributions import (
        PromptContext,
        PromptSection,
        Strategy,
        Text,
        When,
    )
    from dsh_prompt.model.keys import Key
    from dsh_prompt.model.tools import ToolProvider, Tools
    from dsh_prompt.plugins.context import PluginInfo
    from dsh_prompt.system_prompt import SystemPrompt

T = TypeVar("T")
D = TypeVar("D")


class DisposableContext(ResourceOwner):
    """The owner of a set of contributions: registers them, and withdraws them when disposed.

    A host, a scope and every plugin's ``ctx`` are disposable contexts. Each registration
    is visible to the next assembly, fires one change event and returns its undo; it happens
    whole or not at all. Registering through one that is disposed, or being disposed, raises
    `DisposedError`; a name that the layer already holds raises `DuplicateContributionError`;
    what could never be assembled raises `InvalidContributionError`.
    """

    __slots__ = ("_host",)

    def __init__(
        self,
        host: SystemPrompt,
        layers: Layers,
        layer: Layer,
        source: Source | None,
        *,
        owner: Lifetime | None,
        in_block: Member | None = None,
        loading: Loading | None = None,
    ) -> None:
        super().__init__(layers, layer, source, owner=owner, in_block=in_block, loading=loading)
        self._host = host

    @property
    def host(self) -> SystemPrompt:
        """The host that this context belongs to."""
        return self._host

    @property
    def scope(self) -> Scope | None:
        """The scope that is registered into; None is the global level."""
        return self._layer.scope

    @property
    def plugin(self) -> PluginInfo | None:
        """The plugin whose context this is, if it is one's."""
        return None

    @property
    def config(self) -> Any:
        """The plugin's configuration: its ``Config``, or a read-only mapping."""
        return MappingProxyType({})

    @overload
    def section(self, section: PromptSection, /) -> Registration: ...
    @overload
    def section(
        self,
        *,
        name: str,
        order: float,
        text: Text,
        complete: bool = ...,
        literal: bool = ...,
        cacheable: bool | None = ...,
        title: str | None = ...,
        strategy: Strategy = ...,
        when: When | None = ...,
        requires_tools: Iterable[str] = ...,
        budget: Budget | None = ...,
        blocking: bool = ...,
    ) -> Registration: ...
    def section(  # type: ignore[misc]
        self, section: PromptSection | None = None, /, **fields: Any
    ) -> Registration:
        """Register a section of the system prompt: a `PromptSection`, or its fields."""
        return self._register(block_entry(self, SECTION, section, fields))

    @overload
    def context(self, context: PromptContext, /) -> Registration: ...
    @overload
    def context(
        self,
        *,
        name: str,
        order: float,
        text: Text,
        literal: bool = ...,
        title: str | None = ...,
        when: When | None = ...,
        requires_tools: Iterable[str] = ...,
        budget: Budget | None = ...,
        blocking: bool = ...,
    ) -> Registration: ...
    def context(  # type: ignore[misc]
        self, context: PromptContext | None = None, /, **fields: Any
    ) -> Registration:
        """Register a runtime context: a `PromptContext`, or its fields."""
        return self._register(block_entry(self, CONTEXT, context, fields))

    def variable(
        self, name: str, value: Callable[..., Any] | str | None, *, blocking: bool = False
    ) -> Registration:
        """Register what ``{{name}}`` stands for: a constant, or a provider of ``str | None``.

        ``blocking=True`` runs the provider in a worker thread under ``assemble_async``.
        """
        return self._register(variable_entry(self, name, value, blocking=blocking))

    def tool(self, schema: ToolSchema | Mapping[str, Any]) -> Registration:
        """Register one tool, a `ToolSchema` or a dict of its fields, in the tool registry."""
        tool = as_schema(schema)
        return self._register(Entry(self, "tool", tool.name, tool))

    def tools(self, tools: ToolProvider | Tools, *, blocking: bool = False) -> Registration:
        """Register a tool provider, or an iterable of schemas (they go into the registry).

        A provider returns a `ToolProviderResult`, or an iterable of `ToolSchema` or dict.
        """
        return self._register_all(tools_entries(self, tools, blocking=blocking))

    def suppress_runtime_context(self) -> Registration:
        """Leave all runtime contexts out of the assemblies that see this layer."""
        return self._register(Entry(self, "suppressor", "runtime-context", None))

    def on_assemble(
        self,
        listener: Callable[..., Any],
        prepend: bool = False,
        before: Iterable[str] = (),
        after: Iterable[str] = (),
    ) -> Registration:
        """Register a waterfall listener, without a plugin object.

        It takes those of ``assembly``, ``context`` and ``call_next`` that it names, as the
        hook ``system_prompt_assemble`` does. *prepend* puts it before all others; *before*
        and *after* name plugins around which it stands. Raises `PluginConflictError` where
        these form a cycle.
        """
        arguments, name = required_arguments(listener), function_name(listener)
        if not (prepend or before or after):
            return self._register(Entry(self, "listener", name, listener), check=check_listener)
        return self.register_listener(
            Listener(
                listener,
                name,
                arguments,
                self._source,
                tryfirst=prepend,
                before=plugin_names(before, "before") if before else (),
                after=plugin_names(after, "after") if after else (),
            )
        )

    def register_listener(self, listener: Listener) -> Registration:
        """Register a waterfall *listener* that is made already."""
        return self._register(ListenerEntry(self, listener), check=check_listener)

    def on_change(self, listener: Callable[[ChangeEvent], object]) -> Registration:
        """Register a plain function that is called with every `ChangeEvent`, in every scope.

        One that raises while something is being registered or loaded takes that back.
        """
        if not callable(listener) or is_async_callable(listener):
            raise InvalidContributionError(
                f"on_change() takes a plain function, not {listener!r}; an async listener can "
                "put the event into a queue of its own"
            )
        name = function_name(listener)
        watchers = self._layers.watchers
        told = ChangeListener(listener, self._source)
        return self._register(Entry(self, "change", name, told, watchers))

    def provide(self, key: Key[T], value: T) -> Registration:
        """Offer *value* as a service, for this layer and those above it.

        It is withdrawn with its owner. A key that the layer holds already raises
        `DuplicateContributionError`.
        """
        return self._register(service_entry(self, key, value))

    @overload
    def get(self, key: Key[T]) -> T | None: ...
    @overload
    def get(self, key: Key[T], default: D) -> T | D: ...
    def get(self, key: Key[Any], default: object = None) -> object:
        """Give the service that *key* stands for, from the nearest layer outwards, or *default*."""
        entry = find_service(self, key)
        return default if entry is None else entry.value

    def require(self, key: Key[T]) -> T:
        """Give the service that *key* stands for; raises `PluginNotFoundError` if nobody has it.

        In ``activate`` that fails the load.
        """
        entry = find_service(self, key)
        if entry is None:
            raise missing_service(self, key)
        value: T = entry.value
        return value

    def create_scope(self, name: str, parent: Scope | None = None) -> Scope:
        """Create a scope for one agent, to be disposed with this context.

        Its assemblies see its own layer over those of *parent* and its ancestors, over the
        global one. Raises `ScopeError` for a parent of another host.
        """
        if not isinstance(name, str):
            raise InvalidContributionError(f"a scope's name must be a str, not {name!r}")
        scope = Scope(self, name, None if parent is None else self._layer_of(parent))
        self._own(scope)
        return scope

    def _layer_of(self, parent: Scope) -> Layer:
        if not isinstance(parent, Scope) or parent._layers is not self._layers:
            raise ScopeError(f"{parent!r} is no scope of this host; create_scope() makes one")
        return parent._layer

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._source.owner}, {self._state.value}>"


class Scope(DisposableContext):
    """One agent's layer: an opaque key, compared by identity.

    What is registered through it is seen by its own assemblies and those of scopes below
    it, and replaces inherited entries of the same name whole. A disposed scope stays a
    valid key that sees what its ancestors and the global layer hold.
    """

    __slots__ = ("_name",)

    _disposal = "scope-disposed"

    def __init__(self, creator: DisposableContext, name: str, parent: Layer | None) -> None:
        # What the bases do, without calls for it: there is one for each agent of a process.
        self._host = creator._host
        self._layers = creator._layers
        self._layer = Layer(self, parent)
        self._made_source = None
        self._owner = creator
        self._in_block = creator._in_block
        self._loading = creator._loading
        self._owned = None
        self._state = State.ACTIVE
        self._ending = None
        self._name = name

    def _make_source(self) -> Source:
        source = Source() if self._owner is None else self._owner._source
        return Source(source.plugin, source.distribution, source.version, self._name)

    @property
    def name(self) -> str:
        """The name that messages and tables show; it need not be unique."""
        return self._name

    @property
    def parent(self) -> Scope | None:
        """The scope whose layer lies below this one's; None is the global layer."""
        parent = self._layer.parent
        return None if parent is None else parent.scope

    @property
    def _label(self) -> str:
        return f'the scope "{self._name}"'

    @property
    def layer(self) -> Layer:
        """The layer that this scope is the key of."""
        return self._layer

    def rebind(self, parent: Scope | None) -> None:
        """Give the scope another parent (None: none), and fire ``rebound``.

        Raises `ScopeError` for a parent that is this scope or stands below it, and
        `PluginConflictError` where ``before`` and ``after`` of listeners would form a cycle.
        """
        layer = None if parent is None else self._layer_of(parent)
        layers = self._layers
        with layers.lock:
            self._check_active()
            before = self._layer.parent
            if before is layer:
                return
            if layer is not None and self._layer in layers.chain(layer):
                raise ScopeError(
                    f'scope parent link would form a cycle: "{self.name}" cannot stand below '
                    f"{parent!r}"
                )
            self._layer.parent = layer
            try:
                check_orders(self)
            except PluginConflictError:
                self._layer.parent = before
                raise
            self._layer.parent = before
            generation = layers.relink(self._layer, layer)
        event = self._event("rebound", (), (), generation)
        told, error = tell_in_turn(layers.watching(), event)
        if error is not None:
            generation = self._take_back_rebind(before, layer)
            raise_all([error, *tell_all(told, withdrawal(event, generation, ()))], UNTOLD)

    def _take_back_rebind(self, before: Layer | None, layer: Layer | None) -> int:
        """Go back to the parent *before*, unless somebody has moved this scope on since."""
        layers = self._layers
        with layers.lock:
            moved_on = self.is_gone or self._layer.parent is not layer
            if moved_on or (before is not None and self._layer in layers.chain(before)):
                return layers.generation
            return layers.relink(self._layer, before)

    def restrict(
        self, allow: Iterable[str] | None = None, deny: Iterable[str] | None = None
    ) -> Registration:
        """Mask registered tools that this scope and those below it do not register themselves.

        *allow* lets only its names through, later ones excluded (``()`` hides everything);
        *deny* hides its names. Several restrictions intersect, and each can be disposed.
        Raises `InvalidContributionError` for names of no tool, and where neither is given.
        """
        entry = Entry(self, "restriction", "tools", Restriction(allow, deny))
        return self._register(entry, kind="restricted", check=_check_restriction)

    def _detach(self) -> None:
        self._layers.close(self._layer)

    def __repr__(self) -> str:
        ended = "" if self._state is State.ACTIVE else f" {self._state.value}"
        return f"<Scope {self._name!r}{ended}>"


def _check_restriction(layers: Layers, new: Entry) -> None:
    restriction: Restriction = new.value
    restriction.check_known(known_tools(layers.chain(new.layer), loading=True))
