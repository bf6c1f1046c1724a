"""Every hook that a plugin can implement, and the markers for specifications and implementations.

A plugin marks functions with `hookimpl`; each takes only the arguments that it names::

    from dsh_prompt import PromptSection, hookimpl

    @hookimpl
    def contribute_sections(ctx):
        return [PromptSection(name="rules", order=10, text="Be precise.")]
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

import pluggy

from dsh_prompt.errors import InvalidContributionError

if TYPE_CHECKING:
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.model.contributions import PromptContext, PromptSection
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolProvider, Tools

# What hooks give: those that set up or take down, those that contribute, and the waterfall's,
# as functions and as wrappers.
Done: TypeAlias = "Awaitable[None] | None"
Contributed: TypeAlias = (
    "Iterable[PromptSection] | Iterable[PromptContext] | ToolProvider | Tools | Mapping[str, Any]"
)
Assembled: TypeAlias = "Awaitable[PromptAssembly | None] | PromptAssembly | None"
Wrapping: TypeAlias = "Generator[Any, PromptAssembly, PromptAssembly] | Iterator[None]"

#: A function that gives what some hook gives; its name, and so which hook, no checker sees.
F = TypeVar("F", bound="Callable[..., Done | Contributed | Assembled | Wrapping]")
#: Any function, for the hooks of later versions.
G = TypeVar("G", bound=Callable[..., Any])

#: The pluggy project name, and the entry-point group of plugins.
PROJECT = "dsh_prompt"

hookspec = pluggy.HookspecMarker(PROJECT)
_mark = pluggy.HookimplMarker(PROJECT)


class CallNext(Protocol):
    """Runs the rest of the waterfall; what middleware calls, once.

    Without an argument the rest runs on the assembly that the caller was given.
    """

    def __call__(self, assembly: PromptAssembly | None = None, /) -> PromptAssembly:
        """Run the rest and give its result."""
        ...


class AsyncCallNext(Protocol):
    """Runs the rest of the waterfall, for ``async def`` middleware."""

    def __call__(self, assembly: PromptAssembly | None = None, /) -> Awaitable[PromptAssembly]:
        """Run the rest and give its result."""
        ...


@overload
def hookimpl(function: F, /) -> F: ...
@overload
def hookimpl(
    *,
    wrapper: bool = ...,
    optionalhook: Literal[False] = ...,
    tryfirst: bool = ...,
    trylast: bool = ...,
    specname: str | None = ...,
    before: Iterable[str] = ...,
    after: Iterable[str] = ...,
) -> Callable[[F], F]: ...
@overload
def hookimpl(
    *,
    wrapper: bool = ...,
    optionalhook: bool,
    tryfirst: bool = ...,
    trylast: bool = ...,
    specname: str | None = ...,
    before: Iterable[str] = ...,
    after: Iterable[str] = ...,
) -> Callable[[G], G]: ...
def hookimpl(
    function: G | None = None,
    /,
    *,
    before: Iterable[str] = (),
    after: Iterable[str] = (),
    **options: Any,
) -> G | Callable[[G], G]:
    """Mark a function or method as a hook implementation.

    Takes pluggy's options (*wrapper*, *tryfirst*, *trylast*, *specname*, *optionalhook*),
    and for the waterfall *before* and *after*: names of plugins around which this
    implementation is placed. The function itself is returned, its type unchanged.
    """
    around = (plugin_names(before, "before"), plugin_names(after, "after"))

    def mark(implementation: G) -> G:
        marked: G = _mark(**options)(implementation)
        marked.dsh_prompt_around = around  # type: ignore[attr-defined]
        return marked

    return mark if function is None else mark(function)


def plugin_names(names: Iterable[str], option: str) -> tuple[str, ...]:
    """Give the plugin *names* of *option* as a tuple; a lone ``str`` is refused."""
    if isinstance(names, str):
        raise InvalidContributionError(
            f"{option} takes a list of plugin names, not the str {names!r}"
        )
    return tuple(names)


@hookspec
def activate(ctx: DisposableContext) -> Awaitable[None] | None:
    """Set the plugin up. Called once per load, with the plugin's own disposable context.

    ``ctx.config`` is the plugin's configuration. If the plugin (a module, or a class) has an
    attrs class named ``Config``, it is an instance of that, made from what ``load`` was given,
    or from the table ``[plugins.config.NAME]`` of the host's configuration file. A hook without
    *ctx* reads what this one has kept.

    Whatever is registered through *ctx* is withdrawn at unload. May be ``async`` where the
    plugin is loaded by ``load_async``. Raising fails the load, which leaves nothing behind.
    """


@hookspec
def contribute_sections(ctx: DisposableContext) -> Iterable[PromptSection]:
    """Give the plugin's sections. Called once per load, after `activate`."""
    raise NotImplementedError


@hookspec
def contribute_contexts(ctx: DisposableContext) -> Iterable[PromptContext]:
    """Give the plugin's runtime contexts. Called once per load, after the sections."""
    raise NotImplementedError


@hookspec
def contribute_tools(ctx: DisposableContext) -> ToolProvider | Tools:
    """Give a tool provider, or an iterable of schemas. Called once per load."""
    raise NotImplementedError


@hookspec
def contribute_variables(ctx: DisposableContext) -> Mapping[str, Any]:
    """Give variables by name: a ``str``, or a provider of one. Called once per load."""
    raise NotImplementedError


@hookspec
def system_prompt_assemble(
    assembly: PromptAssembly,
    context: AssembleContext,
    call_next: CallNext | AsyncCallNext,
) -> Awaitable[PromptAssembly | None] | PromptAssembly | None:
    """Change anything that the model is told: the waterfall. Called for every assembly.

    Without *call_next* in its signature, an implementation changes *assembly* in place and
    returns None, or returns another `PromptAssembly` for the rest of the chain. With it, it
    is middleware: ``call_next()`` runs the rest, and the returned assembly counts. May be
    ``async``; raising fails the assembly with a `ProviderError` that names the plugin.
    """


@hookspec
def system_prompt_change(event: ChangeEvent) -> None:
    """Take note of a change, after the fact. Called for every change in every scope.

    Raising while something is being registered or loaded takes that back.
    """


@hookspec
def deactivate(ctx: DisposableContext) -> Awaitable[None] | None:
    """Wind the plugin down. Called once, at unload, before the callbacks of *ctx* run."""
