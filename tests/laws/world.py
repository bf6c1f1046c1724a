"""A host with two scopes, one below the other, and ways to contribute to any layer of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dsh_prompt import (
    AssembledSection,
    PromptAssembly,
    PromptContext,
    PromptError,
    PromptSection,
    SystemPrompt,
    ToolSchema,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import ChangeEvent, DisposableContext, Registration, Scope

    Undo = Callable[[], object]

#: Kinds with a name that is unique within a layer.
NAMED_KINDS = ("section", "context", "variable", "tool")
#: Kinds that only a scope has.
SCOPED_KINDS = ("restrict",)
KINDS = (*NAMED_KINDS, "tools", "suppress", "on_assemble", "load", *SCOPED_KINDS)


class Item(NamedTuple):
    """One thing to register: what it is, where, and what it says."""

    kind: str
    layer: int
    name: str
    order: float = 0
    text: str = "text"
    dynamic: bool = False

    @property
    def key(self) -> tuple[str, int, str]:
        """What may occur only once."""
        return (self.kind, self.layer, self.name)

    @property
    def given_text(self) -> Any:
        """The text as it is registered: constant, or from a provider."""
        return (lambda: self.text) if self.dynamic else self.text

    @property
    def schema(self) -> ToolSchema:
        """The text as a tool's description."""
        return ToolSchema(self.name, self.text, {"type": "object"})


class World:
    """The host, its layers from far to near, and everything that they show."""

    def __init__(self) -> None:
        self.prompt = SystemPrompt()
        self.parent = self.prompt.create_scope("parent")
        self.child = self.prompt.create_scope("child", parent=self.parent)
        self.layers: list[DisposableContext] = [self.prompt, self.parent, self.child]

    def add(self, item: Item) -> Undo:
        """Register *item* and give what undoes it."""
        return ADD[item.kind](self, item)

    def add_all(self, items: list[Item]) -> list[Undo]:
        """Register those *items* that are not refused and give what undoes them."""
        undos = []
        for item in items:
            try:
                undos.append(self.add(item))
            except PromptError:
                continue
        return undos

    def view(self) -> dict[str, Any]:
        """Give all that can be seen of the host, but for its generation."""
        return {
            "assemblies": [content(self.prompt.assemble(scope=s)) for s in self.scopes],
            "schemas": [list(self.prompt.registry.schemas(scope)) for scope in self.scopes],
            "plugins": [(plugin.name, plugin.scope) for plugin in self.prompt.plugins],
        }

    @property
    def scopes(self) -> list[Scope | None]:
        """The scopes that an assembly can be for."""
        return [None, self.parent, self.child]


def content(assembly: PromptAssembly) -> dict[str, Any]:
    """Give *assembly* as JSON without the number of the host state it was made from."""
    return {key: value for key, value in assembly.to_dict().items() if key != "generation"}


class RefusedError(Exception):
    """Raised by a change listener that was asked to refuse the next change."""


class Told:
    """A change listener that keeps what it was told, and fails at the next change if asked."""

    def __init__(self) -> None:
        self.events: list[ChangeEvent] = []
        self.failing = False

    def __call__(self, event: ChangeEvent) -> None:
        if self.failing and event.kind != "withdrawn":
            raise RefusedError
        self.events.append(event)


def _section(world: World, item: Item) -> Registration:
    section = PromptSection(name=item.name, order=item.order, text=item.given_text)
    return world.layers[item.layer].section(section)


def _context(world: World, item: Item) -> Registration:
    context = PromptContext(name=item.name, order=item.order, text=item.given_text)
    return world.layers[item.layer].context(context)


def _variable(world: World, item: Item) -> Registration:
    return world.layers[item.layer].variable(item.name, item.given_text)


def _tool(world: World, item: Item) -> Registration:
    return world.layers[item.layer].tool(item.schema)


def _tools(world: World, item: Item) -> Registration:
    return world.layers[item.layer].tools(lambda: [item.schema])


def _suppress(world: World, item: Item) -> Registration:
    return world.layers[item.layer].suppress_runtime_context()


def _on_assemble(world: World, item: Item) -> Registration:
    def listener(assembly: PromptAssembly) -> None:
        if all(section.name != "added" for section in assembly.sections):
            assembly.sections.append(AssembledSection("added", item.text))

    return world.layers[item.layer].on_assemble(listener)


def _restrict(world: World, item: Item) -> Registration:
    scope = world.child if item.layer == 2 else world.parent
    return scope.restrict(allow=()) if item.dynamic else scope.restrict(deny=[item.name])


def _load(world: World, item: Item) -> Undo:
    scope = world.layers[item.layer].scope

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name=f"{item.name} of a plugin", order=item.order, text=item.given_text)
            ctx.variable("from_plugin", item.given_text)

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.variables["hooked"] = item.text

    world.prompt.load(Plugin(), name=item.name, scope=scope)
    return lambda: world.prompt.unload(item.name, scope=scope)


ADD: dict[str, Callable[[World, Item], Undo]] = {
    "section": _section,
    "context": _context,
    "variable": _variable,
    "tool": _tool,
    "tools": _tools,
    "suppress": _suppress,
    "on_assemble": _on_assemble,
    "restrict": _restrict,
    "load": _load,
}
