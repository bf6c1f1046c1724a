"""Run a recorded scenario against ``SystemPrompt`` and give its outcome in the recorded form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio

from dsh_prompt import (
    AssembleContext,
    Config,
    Key,
    PromptError,
    SystemPrompt,
    ToolProviderResult,
    ToolSchema,
    hookimpl,
    render_context_snapshot,
    render_prompt,
)
from tests.conformance.actions import async_listener_of, listener_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dsh_prompt import DisposableContext, PromptAssembly, Registration, Scope

    Json = dict[str, Any]
    Op = Callable[["Run", Json], Json | None]

T = TypeVar("T")

FIELDS = {"who": Key[str]("who"), "turn": Key[str]("turn")}
CONFIG_FIELDS = {
    "persona": "persona",
    "toolOrder": "tool_order",
    "includeHarnessIdentity": "include_harness_identity",
    "includeRuntimeContext": "include_runtime_context",
}
OPS: dict[str, Op] = {}


class DriverError(Exception):
    """Raised when a step names an owner or registration that never came to be."""


class Way(NamedTuple):
    """One of the two ways into the pipeline, and what the callables of a scenario look like."""

    assemble: Callable[[SystemPrompt, AssembleContext], PromptAssembly]
    is_async: bool


def _assemble(prompt: SystemPrompt, context: AssembleContext) -> PromptAssembly:
    return prompt.assemble(context)


def _assemble_async(prompt: SystemPrompt, context: AssembleContext) -> PromptAssembly:
    return anyio.run(prompt.assemble_async, context)


WAYS = {"sync": Way(_assemble, is_async=False), "async": Way(_assemble_async, is_async=True)}


def run_scenario(scenario: Json, way: Way) -> Json:
    """Run every step of *scenario* and give the outcome."""
    try:
        run = Run(scenario["config"], way)
    except PromptError as error:
        return {"ok": False, "error": error_text(error)}
    return {"ok": True, "steps": [run.outcome(step) for step in scenario["steps"]]}


def error_text(error: BaseException) -> str:
    """Join the texts of *error* and of everything in its chain, one a line."""
    return "\n".join(str(link) for link in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class Run:
    """The host of one scenario with its owners, scopes and registrations by name."""

    def __init__(self, config: Json, way: Way) -> None:
        self.prompt = SystemPrompt(Config(**{CONFIG_FIELDS[key]: config[key] for key in config}))
        self.way = way
        self.owners: dict[str | None, DisposableContext] = {None: self.prompt}
        self.scopes: dict[str | None, Scope | None] = {None: None}
        self.plugins: dict[str, str | None] = {}
        self.registrations: dict[str, Registration] = {}
        self.providers = 0

    def outcome(self, step: Json) -> Json:
        """Run one step; its result or its error, as recorded."""
        try:
            result = OPS[step["op"]](self, step)
        except (PromptError, DriverError) as error:
            return {"op": step["op"], "ok": False, "error": error_text(error)}
        return {"op": step["op"], "ok": True, **(result or {})}

    def owner(self, name: str | None) -> DisposableContext:
        """Give the context that a step registers through."""
        if name not in self.owners:
            raise DriverError(f'driver: unknown owner "{name}"')
        return self.owners[name]

    def provider(
        self, function: Callable[[AssembleContext], T]
    ) -> Callable[[AssembleContext], Any]:
        """Wrap every second provider as an async one where the way allows that."""
        self.providers += 1
        if not self.way.is_async or self.providers % 2:
            return function

        async def async_provider(context: AssembleContext) -> T:
            return function(context)

        return async_provider


def op(name: str) -> Callable[[Op], Op]:
    """Register the function that runs the steps called *name*."""

    def register(function: Op) -> Op:
        OPS[name] = function
        return function

    return register


@op("section")
def _section(run: Run, step: Json) -> None:
    run.registrations[step["id"]] = run.owner(step.get("in")).section(
        name=step["name"],
        order=_order(step["order"]),
        text=_text(run, step["text"]),
        complete=step.get("complete", False),
    )


@op("context")
def _context(run: Run, step: Json) -> None:
    run.registrations[step["id"]] = run.owner(step.get("in")).context(
        name=step["name"],
        order=_order(step["order"]),
        text=_text(run, step["text"]),
    )


@op("variable")
def _variable(run: Run, step: Json) -> None:
    run.registrations[step["id"]] = run.owner(step.get("in")).variable(
        step["name"],
        _text(run, step["value"]),
    )


@op("tools")
def _tools(run: Run, step: Json) -> None:
    def provide(_: AssembleContext) -> ToolProviderResult:
        if "throw" in step:
            raise RuntimeError(step["throw"])
        schemas = [ToolSchema(**schema) for schema in step["schemas"]]
        return ToolProviderResult(schemas, known_names=step.get("knownNames"))

    owner = run.owner(step.get("in"))
    run.registrations[step["id"]] = owner.tools(run.provider(provide))


@op("suppress")
def _suppress(run: Run, step: Json) -> None:
    owner = run.owner(step.get("in"))
    run.registrations[step["id"]] = owner.suppress_runtime_context()


@op("listen")
def _listen(run: Run, step: Json) -> None:
    make = async_listener_of if run.way.is_async else listener_of
    run.registrations[step["id"]] = run.owner(step.get("in")).on_assemble(
        make(step["actions"]),
        prepend=step.get("prepend", False),
    )


@op("dispose")
def _dispose(run: Run, step: Json) -> None:
    if step["target"] not in run.registrations:
        raise DriverError(f'driver: nothing to dispose for "{step["target"]}"')
    run.registrations[step["target"]].dispose()


@op("scope")
def _scope(run: Run, step: Json) -> None:
    name = step["name"]
    parent = run.scopes[step.get("parent")]
    run.owners[name] = run.scopes[name] = run.prompt.create_scope(name, parent=parent)


@op("plugin")
def _plugin(run: Run, step: Json) -> None:
    activated: list[DisposableContext] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            activated.append(ctx)
            _activate(run, step, ctx)

    scope = run.owner(step.get("in")).scope
    run.prompt.load(Plugin(), name=step["name"], scope=scope)
    run.owners[step["name"]] = activated[0]
    run.plugins[step["name"]] = step.get("in")


def _activate(run: Run, step: Json, ctx: DisposableContext) -> None:
    run.owners["activating"] = ctx
    for inner in step["steps"]:
        OPS[inner["op"]](run, {**inner, "in": "activating"})
    if "throw" in step:
        raise RuntimeError(step["throw"])


@op("disposeOwner")
def _dispose_owner(run: Run, step: Json) -> None:
    name = step["name"]
    if name in run.plugins:
        run.prompt.unload(name, scope=run.scopes[run.plugins[name]])
    else:
        run.owner(name).dispose()


@op("assemble")
def _assemble_step(run: Run, step: Json) -> Json:
    context = AssembleContext(scope=run.scopes[step.get("scope")])
    for field, value in step.get("fields", {}).items():
        context[FIELDS[field]] = value
    assembly = run.way.assemble(run.prompt, context)
    return {
        "assembly": _recorded(assembly),
        "prompt": _rendered(render_prompt, assembly),
        "context_snapshot": _rendered(render_context_snapshot, assembly),
    }


def _recorded(assembly: PromptAssembly) -> Json:
    return {
        "sections": [[section.name, section.text] for section in assembly.sections],
        "contexts": [[context.name, context.text] for context in assembly.contexts],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in assembly.tools
        ],
        "variables": assembly.variables,
    }


def _rendered(render: Callable[[PromptAssembly], str], assembly: PromptAssembly) -> Json:
    try:
        return {"ok": True, "value": render(assembly)}
    except PromptError as error:
        return {"ok": False, "error": error_text(error)}


def _order(order: float | str) -> float:
    return float(order) if isinstance(order, str) else order


def _text(run: Run, text: str | Json | None) -> Any:
    """Give a recorded text or value as what is registered: constant, None or a provider."""
    if isinstance(text, str):
        return text
    if text is None:
        return run.provider(lambda _: None)

    def provide(context: AssembleContext) -> str:
        if "throw" in text:
            raise RuntimeError(text["throw"])
        suffix = context.get(FIELDS[text["field"]], "nobody") if "field" in text else ""
        return f"{text['text']}{suffix}"

    return run.provider(provide)
