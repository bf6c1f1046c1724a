"""The waterfall: what an implementation may do to an assembly, and where it stands."""

from __future__ import annotations

import gc
import itertools
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel
import pytest

from dsh_prompt import (
    AssembleContext,
    AssembledSection,
    AsyncProviderError,
    Config,
    InvalidContributionError,
    PluginConflictError,
    PluginLoadError,
    PromptAssembly,
    ProviderError,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator
    from pathlib import Path

    from dsh_prompt import AsyncCallNext, CallNext, Scope

Wrapping: TypeAlias = "Generator[None, PromptAssembly, Any]"

BACKENDS = ["asyncio", "trio"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
every_way = pytest.mark.parametrize("way", ["sync", *BACKENDS])


def assembled(prompt: SystemPrompt, way: str, scope: Scope | None = None) -> PromptAssembly:
    """Assemble without an event loop, or in one."""
    if way == "sync":
        return prompt.assemble(scope=scope)
    return anyio.run(partial(prompt.assemble_async, scope=scope), backend=way)


def trail(assembly: PromptAssembly) -> str:
    """Give the letters that listeners wrote, in the order in which they ran."""
    return assembly.variables.get("trail") or ""


def mark(assembly: PromptAssembly, letter: str) -> None:
    """Write one more letter."""
    assembly.variables["trail"] = trail(assembly) + letter


def marker(letter: str) -> Callable[[PromptAssembly], None]:
    """Make a listener that writes *letter*."""

    def listener(assembly: PromptAssembly) -> None:
        mark(assembly, letter)

    return listener


def marking(letter: str, **options: Any) -> object:
    """Make a plugin whose waterfall implementation, marked with *options*, writes *letter*."""

    class Plugin:
        @hookimpl(**options)
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            mark(assembly, letter)

    return Plugin()


def order_of(plugins: dict[str, dict[str, Any]]) -> str:
    """Load a plugin for each letter, with the options of its mark, and give their order."""
    prompt = SystemPrompt()
    for letter, options in plugins.items():
        prompt.load(marking(letter, **options), name=letter)
    return trail(prompt.assemble())


@contextmanager
def all_awaited() -> Iterator[None]:
    """Fail where a coroutine is thrown away, neither awaited nor closed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect(1)
    assert [str(warning.message) for warning in caught] == []


# Without call_next


@every_way
def test_an_implementation_that_returns_none_edits_in_place(way: str) -> None:
    """What a plain implementation does to the assembly is what comes out."""
    prompt = SystemPrompt()

    def listener(assembly: PromptAssembly) -> None:
        assembly.sections[0].text = "Edited."
        assembly.sections.append(AssembledSection("added", "Added."))

    prompt.on_assemble(listener)
    assert render_prompt(assembled(prompt, way)) == "Edited.\n\nAdded."


@every_way
def test_the_chain_continues_with_a_returned_assembly(way: str) -> None:
    """A plain implementation may return another assembly, which later ones are given."""
    prompt = SystemPrompt()
    seen: list[PromptAssembly] = []
    other = PromptAssembly([AssembledSection("only", "Only this.")])
    prompt.on_assemble(lambda: other)
    prompt.on_assemble(lambda assembly: seen.append(assembly))  # noqa: PLW0108 - argument names
    assert assembled(prompt, way) is other
    assert seen[0] is other


@every_backend
def test_an_async_implementation_is_awaited(backend: str) -> None:
    """An ``async def`` without call_next edits in place, or returns, as a plain one does."""
    prompt = SystemPrompt()

    async def edits(assembly: PromptAssembly) -> None:
        await anyio.lowlevel.checkpoint()
        mark(assembly, "a")

    async def replaces(assembly: PromptAssembly) -> PromptAssembly:
        await anyio.lowlevel.checkpoint()
        return PromptAssembly(variables={"trail": trail(assembly) + "b"})

    prompt.on_assemble(edits)
    prompt.on_assemble(replaces)
    assert assembled(prompt, backend).variables == {"trail": "ab"}


@every_backend
def test_a_def_that_returns_an_awaitable_counts_as_async(backend: str) -> None:
    """A plain function that hands on a coroutine is awaited under assemble_async."""
    prompt = SystemPrompt()

    async def edits(assembly: PromptAssembly) -> None:
        mark(assembly, "a")

    prompt.on_assemble(lambda assembly: edits(assembly))  # noqa: PLW0108 - no coroutine function
    assert trail(assembled(prompt, backend)) == "a"


def test_an_implementation_gets_only_the_arguments_it_requires() -> None:
    """Arguments go by name; those with a default, and variadic ones, are left alone."""
    prompt, context = SystemPrompt(), AssembleContext()
    seen: dict[str, Any] = {}
    prompt.on_assemble(lambda: seen.update(none=()))
    prompt.on_assemble(lambda context: seen.update(context=context))
    prompt.on_assemble(lambda context, assembly: seen.update(both=(context, assembly)))
    prompt.on_assemble(lambda assembly, context=None: seen.update(default=context))
    prompt.on_assemble(lambda assembly, *rest, **more: seen.update(variadic=(rest, more)))
    assembly = prompt.assemble(context)
    assert seen.pop("both") == (context, assembly)
    assert seen == {"none": (), "context": context, "default": None, "variadic": ((), {})}


@every_way
def test_an_implementation_that_returns_something_else_is_an_error(way: str) -> None:
    """What is neither None nor an assembly fails, naming the implementation and the type."""
    prompt = SystemPrompt()
    prompt.on_assemble(lambda assembly: render_prompt(assembly))  # noqa: PLW0108 - its name
    with pytest.raises(ProviderError, match=r"<lambda> of the host returned str instead of a "):
        assembled(prompt, way)


@every_way
def test_an_implementation_that_raises_is_named(way: str) -> None:
    """What an implementation raises becomes a ProviderError, with its plugin and cause."""

    class Plugin:
        @hookimpl
        def system_prompt_assemble(self) -> None:
            raise LookupError("no such thing")

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="broken")
    with pytest.raises(ProviderError, match='plugin "broken" raised LookupError: no su') as caught:
        assembled(prompt, way)
    assert (caught.value.kind, caught.value.plugin) == ("listener", "broken")
    assert isinstance(caught.value.__cause__, LookupError)


def test_an_implementation_whose_own_nested_assembly_is_async_is_named() -> None:
    """Whatever an implementation raises itself is reported as its own failure."""
    inner, prompt = SystemPrompt(), SystemPrompt()

    async def text() -> str:
        return "text"

    inner.section(name="async", order=1, text=text)

    def listener(assembly: PromptAssembly) -> None:
        inner.assemble()

    prompt.on_assemble(listener)
    with pytest.raises(ProviderError, match=r"listener"):
        prompt.assemble()


# Around-middleware


@every_way
def test_middleware_runs_the_rest_and_returns_its_result(way: str) -> None:
    """``call_next()`` gives what the rest of the chain made, to be changed or returned."""
    prompt = SystemPrompt()

    def middleware(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        mark(assembly, "(")
        result = call_next()
        mark(result, ")")
        return result

    prompt.on_assemble(middleware)
    prompt.on_assemble(marker("a"))
    assert trail(assembled(prompt, way)) == "(a)"


@every_backend
def test_async_middleware_awaits_the_rest(backend: str) -> None:
    """In an ``async def`` call_next is awaited, and the rest may be async too."""
    prompt = SystemPrompt()

    async def middleware(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        mark(assembly, "(")
        result = await call_next()
        mark(result, ")")
        return result

    async def inside(assembly: PromptAssembly) -> None:
        mark(assembly, "a")

    prompt.on_assemble(middleware)
    prompt.on_assemble(inside)
    assert trail(assembled(prompt, backend)) == "(a)"


@every_way
def test_middleware_may_give_the_rest_another_assembly(way: str) -> None:
    """``call_next(other)`` runs the rest on *other*, and gives that back."""
    prompt = SystemPrompt()
    other = PromptAssembly()

    def middleware(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        result = call_next(other)
        assert result is other
        return assembly

    prompt.on_assemble(middleware)
    prompt.on_assemble(marker("a"))
    assert trail(assembled(prompt, way)) == ""
    assert trail(other) == "a"


@every_way
def test_middleware_that_does_not_call_next_skips_all_the_rest(way: str) -> None:
    """Neither plain nor async implementations after it run; that is no error."""
    prompt = SystemPrompt()

    async def never(assembly: PromptAssembly) -> None:
        mark(assembly, "never")

    prompt.on_assemble(marker("a"))
    prompt.on_assemble(lambda assembly, call_next: assembly)
    prompt.on_assemble(marker("b"))
    prompt.on_assemble(never)
    assert trail(assembled(prompt, way)) == "a"


@every_way
def test_what_middleware_returns_counts(way: str) -> None:
    """The assembly that middleware returns takes the place of the one that the rest made."""
    prompt = SystemPrompt()
    mine = PromptAssembly(variables={"mine": "yes"})

    def middleware(call_next: CallNext) -> PromptAssembly:
        call_next()
        return mine

    prompt.on_assemble(middleware)
    prompt.on_assemble(marker("a"))
    assert assembled(prompt, way) is mine
    assert mine.variables == {"mine": "yes"}


@every_way
def test_middleware_that_returns_none_is_told_what_to_return(way: str) -> None:
    """Forgetting to return is an error that names the implementation and the cure."""
    prompt = SystemPrompt()

    def forgetful(call_next: CallNext) -> None:
        call_next()

    prompt.on_assemble(forgetful)
    match = r"forgetful of the host returned None; end it with `return call_next\(\)`"
    with pytest.raises(ProviderError, match=match):
        assembled(prompt, way)


@every_backend
def test_async_middleware_that_returns_none_is_named(backend: str) -> None:
    """An ``async def`` that forgets to return is an error as well."""
    prompt = SystemPrompt()

    async def forgetful(call_next: AsyncCallNext) -> None:
        await call_next()

    prompt.on_assemble(forgetful)
    with pytest.raises(ProviderError, match=r"forgetful of the host returned None; end it with"):
        assembled(prompt, backend)


@every_backend
def test_async_middleware_that_does_not_await_is_told_to(backend: str) -> None:
    """Returning ``call_next()`` itself from an ``async def`` is an error that names the cure."""
    prompt = SystemPrompt()

    dropped: list[Any] = []

    async def hasty(call_next: AsyncCallNext) -> Any:
        dropped.append(call_next())
        return dropped[0]

    prompt.on_assemble(hasty)
    try:
        with pytest.raises(ProviderError, match=r"return await call_next\(\)"):
            assembled(prompt, backend)
    finally:
        dropped[0].close()


@every_way
def test_calling_next_twice_is_an_error(way: str) -> None:
    """The rest runs once; a second call raises inside the middleware and fails the assembly."""
    prompt = SystemPrompt()

    def twice(call_next: CallNext) -> PromptAssembly:
        call_next()
        return call_next()

    prompt.on_assemble(twice)
    prompt.on_assemble(marker("a"))
    with pytest.raises(ProviderError, match=r"twice of the host .*call_next\(\) was called twice"):
        assembled(prompt, way)


@every_backend
def test_calling_next_twice_at_once_is_an_error(backend: str) -> None:
    """Two calls side by side are two calls."""
    prompt = SystemPrompt()

    async def twice(call_next: AsyncCallNext) -> PromptAssembly:
        first, second = call_next(), call_next()
        await first
        return await second

    prompt.on_assemble(twice)
    with pytest.raises(ProviderError, match=r"call_next\(\) was called twice"):
        assembled(prompt, backend)


def test_call_next_takes_assemblies_only() -> None:
    """Giving the rest something else is an error of the middleware."""
    prompt = SystemPrompt()
    prompt.on_assemble(lambda call_next: call_next("text"))
    with pytest.raises(ProviderError, match="takes a PromptAssembly, not 'text'"):
        prompt.assemble()


@every_way
def test_middleware_may_catch_what_the_rest_raises(way: str) -> None:
    """An error of the rest comes out of call_next, where it may be dealt with."""
    prompt = SystemPrompt()

    def careful(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        try:
            return call_next()
        except ProviderError as error:
            assembly.variables["trail"] = str(error.plugin)
            return assembly

    class Broken:
        @hookimpl
        def system_prompt_assemble(self) -> None:
            raise ValueError("broken")

    prompt.on_assemble(careful)
    prompt.load(Broken(), name="broken")
    assert trail(assembled(prompt, way)) == "broken"


@every_way
def test_an_error_of_the_rest_is_not_blamed_on_middleware(way: str) -> None:
    """What passes through middleware still names the implementation that raised it."""
    prompt = SystemPrompt()

    class Broken:
        @hookimpl
        def system_prompt_assemble(self) -> None:
            raise ValueError("broken")

    prompt.on_assemble(lambda call_next: call_next())
    prompt.load(Broken(), name="broken")
    with pytest.raises(ProviderError, match=r'of plugin "broken" raised ValueError: b') as caught:
        assembled(prompt, way)
    assert caught.value.plugin == "broken"


def test_an_error_that_middleware_makes_of_another_is_its_own() -> None:
    """Middleware that raises something else is the one that is named."""
    prompt = SystemPrompt()

    class Translator:
        @hookimpl
        def system_prompt_assemble(self, call_next: CallNext) -> PromptAssembly:
            try:
                return call_next()
            except ProviderError as error:
                raise KeyError("translated") from error

    prompt.load(Translator(), name="translator")
    prompt.on_assemble(lambda: 1 / 0)
    with pytest.raises(ProviderError, match="translated") as caught:
        prompt.assemble()
    assert caught.value.plugin == "translator"


@every_way
def test_a_def_whose_rest_is_async_is_an_error_that_names_both(way: str) -> None:
    """Synchronous middleware cannot wait for an async implementation, whichever way it runs."""
    prompt = SystemPrompt()

    class Inner:
        @hookimpl
        async def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            mark(assembly, "never")

    class Outer:
        @hookimpl
        def system_prompt_assemble(self, call_next: CallNext) -> PromptAssembly:
            return call_next()

    prompt.load(Outer(), name="outer")
    prompt.load(Inner(), name="inner")
    with pytest.raises(AsyncProviderError, match=r'plugin "inner" is async, .*plugin "outer" wai'):
        assembled(prompt, way)


@every_way
def test_a_def_whose_rest_returns_an_awaitable_names_both(way: str) -> None:
    """A ``def`` that hands on a coroutine is no different, and the coroutine is closed."""
    prompt = SystemPrompt()

    async def edits(assembly: PromptAssembly) -> None:
        mark(assembly, "never")

    def inner(assembly: PromptAssembly) -> Awaitable[None]:
        return edits(assembly)

    def outer(call_next: CallNext) -> PromptAssembly:
        return call_next()

    prompt.on_assemble(outer)
    prompt.on_assemble(inner)
    with all_awaited(), pytest.raises(AsyncProviderError, match=r"inner of .* is async, .*outer"):
        assembled(prompt, way)


@every_backend
def test_a_def_that_hands_on_async_middleware_counts_as_async(backend: str) -> None:
    """Async middleware behind a decorator, a plain function now, still awaits call_next."""
    prompt = SystemPrompt()

    async def middleware(assembly: PromptAssembly, call_next: AsyncCallNext) -> PromptAssembly:
        return await call_next()

    def decorated(assembly: PromptAssembly, call_next: AsyncCallNext) -> Any:
        return middleware(assembly, call_next)

    prompt.on_assemble(decorated)
    prompt.on_assemble(marker("a"))
    assert trail(assembled(prompt, backend)) == "a"


# Denials


@every_way
def test_denials_carry_over_to_a_returned_assembly(way: str) -> None:
    """Replacing the assembly does not lift what was denied before."""
    prompt = SystemPrompt()
    prompt.on_assemble(lambda assembly: assembly.deny("write", "read-only"))
    prompt.on_assemble(lambda: PromptAssembly())  # noqa: PLW0108 - a class takes other arguments
    assert assembled(prompt, way).denied == {"write": "read-only"}


@every_way
def test_denials_carry_over_around_middleware(way: str) -> None:
    """Those made before it and by the rest are in whatever middleware passes on or returns."""
    prompt = SystemPrompt()
    inside: list[dict[str, str]] = []

    def middleware(call_next: CallNext) -> PromptAssembly:
        call_next(PromptAssembly())
        return PromptAssembly()

    def rest(assembly: PromptAssembly) -> None:
        inside.append(dict(assembly.denied))
        assembly.deny("two", "after")

    prompt.on_assemble(lambda assembly: assembly.deny("one", "before"))
    prompt.on_assemble(middleware)
    prompt.on_assemble(rest)
    assert assembled(prompt, way).denied == {"one": "before", "two": "after"}
    assert inside == [{"one": "before"}]


def test_a_later_denial_gives_the_reason() -> None:
    """Of two denials of one tool, the one in the new assembly counts."""
    prompt = SystemPrompt()

    def replaces() -> PromptAssembly:
        other = PromptAssembly()
        other.deny("write", "later")
        return other

    prompt.on_assemble(lambda assembly: assembly.deny("write", "earlier"))
    prompt.on_assemble(replaces)
    assert prompt.assemble().denied == {"write": "later"}


# Wrapper generators


@every_way
def test_a_wrapper_gets_the_result_and_returns_one(way: str) -> None:
    """``result = yield`` gives the assembly that the others made; the returned one counts."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self, assembly: PromptAssembly) -> Wrapping:
            mark(assembly, "(")
            result = yield
            return PromptAssembly(variables={"trail": trail(result) + ")"})

    prompt = SystemPrompt()
    prompt.load(Wrapper())
    prompt.on_assemble(marker("a"))
    assert assembled(prompt, way).variables == {"trail": "(a)"}


@every_backend
def test_a_wrapper_may_stand_around_async_implementations(backend: str) -> None:
    """The generator need not be async for that."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Wrapping:
            result = yield
            mark(result, ")")
            return result

    async def inside(assembly: PromptAssembly) -> None:
        await anyio.lowlevel.checkpoint()
        mark(assembly, "a")

    prompt = SystemPrompt()
    prompt.load(Wrapper())
    prompt.on_assemble(inside)
    assert trail(assembled(prompt, backend)) == "a)"


@every_way
def test_a_wrapper_that_returns_none_is_an_error(way: str) -> None:
    """Forgetting to return is an error that names the plugin and the cure."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Wrapping:
            yield

    prompt = SystemPrompt()
    prompt.load(Wrapper(), name="forgetful")
    match = '"forgetful" returned None; end it with `return result`'
    with pytest.raises(ProviderError, match=match):
        assembled(prompt, way)


@every_way
def test_a_wrapper_may_catch_what_the_others_raise(way: str) -> None:
    """The error comes out of the ``yield``; what the wrapper returns then counts."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self, assembly: PromptAssembly) -> Wrapping:
            try:
                return (yield)
            except ProviderError:
                mark(assembly, "caught")
                return assembly

    prompt = SystemPrompt()
    prompt.load(Wrapper())
    prompt.on_assemble(lambda: 1 / 0)
    assert trail(assembled(prompt, way)) == "caught"


@every_way
def test_an_error_that_passes_a_wrapper_names_who_raised_it(way: str) -> None:
    """A wrapper that cleans up, and lets the error go on, is not blamed."""
    cleaned: list[bool] = []

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Wrapping:
            try:
                return (yield)
            finally:
                cleaned.append(True)

    prompt = SystemPrompt()
    prompt.load(Wrapper(), name="wrapper")
    prompt.on_assemble(lambda: 1 / 0)
    with pytest.raises(ProviderError, match="of the host raised ZeroDivisionError"):
        assembled(prompt, way)
    assert cleaned == [True]


def test_an_error_of_a_wrapper_is_its_own() -> None:
    """What a wrapper raises itself names the wrapper."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Wrapping:
            yield
            raise KeyError("after")

    prompt = SystemPrompt()
    prompt.load(Wrapper(), name="wrapper")
    with pytest.raises(ProviderError, match=r"\"wrapper\" raised KeyError: 'after'"):
        prompt.assemble()


def test_a_wrapper_that_yields_twice_is_an_error() -> None:
    """A wrapper yields once."""
    ended: list[bool] = []

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self) -> Wrapping:
            try:
                yield
                yield
            finally:
                ended.append(True)

    prompt = SystemPrompt()
    prompt.load(Wrapper(), name="wrapper")
    with pytest.raises(ProviderError, match='"wrapper" yielded twice; a wrapper yields once'):
        prompt.assemble()
    assert ended == [True]


def test_a_wrapper_that_does_not_yield_is_an_error() -> None:
    """As in pluggy, a wrapper that ends before its ``yield`` fails; it cannot skip the others."""

    class Wrapper:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self, assembly: PromptAssembly) -> Wrapping:
            if assembly.sections:
                return assembly
            return (yield)

    prompt = SystemPrompt()
    prompt.load(Wrapper(), name="wrapper")
    prompt.on_assemble(marker("a"))
    with pytest.raises(ProviderError, match='"wrapper" did not yield'):
        prompt.assemble()


def test_wrappers_stand_outside_the_last_registered_outermost() -> None:
    """All wrappers enclose all others, those that want to come first included."""

    def wrapping(letter: str, **options: Any) -> object:
        class Wrapper:
            @hookimpl(wrapper=True, **options)
            def system_prompt_assemble(self, assembly: PromptAssembly) -> Wrapping:
                mark(assembly, letter)
                return (yield)

        return Wrapper()

    prompt = SystemPrompt()
    prompt.on_assemble(marker("-"), prepend=True)
    for letter in "ab":
        prompt.load(wrapping(letter), name=letter)
        prompt.load(wrapping(letter.upper(), tryfirst=True), name=letter.upper())
        prompt.load(wrapping(str("ab".index(letter)), trylast=True), name=letter * 2)
    prompt.load(marking("+", tryfirst=True))
    assert trail(prompt.assemble()) == "BAba10+-"


# What is refused


def test_an_async_generator_is_refused_at_load() -> None:
    """It would be a wrapper, and wrappers are plain generators."""

    class Plugin:
        @hookimpl
        async def system_prompt_assemble(self) -> Any:
            yield

    prompt = SystemPrompt()
    with pytest.raises(PluginLoadError, match="is an async generator; make it async def with ca"):
        prompt.load(Plugin())
    assert prompt.plugins == []


def test_an_async_wrapper_is_refused_at_load() -> None:
    """An async generator cannot be marked as a wrapper either."""

    class Plugin:
        @hookimpl(wrapper=True)
        async def system_prompt_assemble(self) -> Any:
            yield

    with pytest.raises(PluginLoadError, match=r"not a generator function"):
        SystemPrompt().load(Plugin())


def test_an_old_style_wrapper_is_refused_at_load() -> None:
    """Pluggy's ``hookwrapper`` is not for new hooks."""

    class Plugin:
        @hookimpl(hookwrapper=True)  # type: ignore[call-overload, untyped-decorator]
        def system_prompt_assemble(self) -> Any:
            yield

    with pytest.raises(PluginLoadError, match="is an old-style hookwrapper; use wrapper=True"):
        SystemPrompt().load(Plugin())


def test_a_wrapper_with_call_next_is_refused_at_load() -> None:
    """A generator gets the rest's result from its ``yield``, not from call_next."""

    class Plugin:
        @hookimpl(wrapper=True)
        def system_prompt_assemble(self, call_next: CallNext) -> Wrapping:
            return (yield)

    with pytest.raises(PluginLoadError, match="takes call_next and is a wrapper; it can be one"):
        SystemPrompt().load(Plugin())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_on_assemble_refuses_generators(*, asynchronous: bool) -> None:
    """Wrappers need a plugin, whose mark says that they are wrappers."""

    def wrapper(assembly: PromptAssembly) -> Wrapping:
        return (yield)

    async def async_wrapper(assembly: PromptAssembly) -> Any:
        yield

    with pytest.raises(InvalidContributionError, match="takes a function, not <function"):
        SystemPrompt().on_assemble(async_wrapper if asynchronous else wrapper)


def test_on_assemble_refuses_other_required_arguments() -> None:
    """A required argument that the hook does not have is named, with the nearest it has."""
    prompt = SystemPrompt()
    with pytest.raises(InvalidContributionError, match='"asembly"; did you mean "assembly"'):
        prompt.on_assemble(lambda asembly: None)
    with pytest.raises(InvalidContributionError, match='requires "something"'):
        prompt.on_assemble(lambda assembly, something: None)
    assert trail(prompt.assemble()) == ""


def test_on_assemble_refuses_what_is_no_function() -> None:
    """Something that cannot be called is refused at once."""
    listener: Any = "listener"
    with pytest.raises(InvalidContributionError, match="takes a function, not 'listener'"):
        SystemPrompt().on_assemble(listener)


def test_on_assemble_refuses_what_has_no_signature() -> None:
    """There is no way to know what it takes."""
    with pytest.raises(InvalidContributionError, match="'str'> has no signature to read"):
        SystemPrompt().on_assemble(str)


def test_a_keyword_only_argument_is_refused_with_a_reason() -> None:
    """Arguments are positional; one that cannot be is refused, and the message says why."""

    def listener(*, assembly: PromptAssembly) -> None:
        """Do nothing."""

    with pytest.raises(InvalidContributionError, match="positional"):
        SystemPrompt().on_assemble(listener)


@pytest.mark.parametrize("option", ["before", "after"])
def test_before_and_after_take_lists(option: str) -> None:
    """A lone name would be taken for its letters, so it is refused."""
    names: Any = {option: "audit"}
    with pytest.raises(InvalidContributionError, match=f"{option} takes a list of plugin names"):
        SystemPrompt().on_assemble(marker("a"), **names)
    with pytest.raises(InvalidContributionError, match=f"{option} takes a list of plugin names"):
        hookimpl(**names)


def test_hookimpl_returns_the_function_itself() -> None:
    """The mark changes neither the function nor its type."""

    def system_prompt_assemble(assembly: PromptAssembly) -> None:
        mark(assembly, "a")

    assert hookimpl(system_prompt_assemble) is system_prompt_assemble
    assert hookimpl(trylast=True, before=["x"])(system_prompt_assemble) is system_prompt_assemble


# Order


def test_listeners_stand_in_registration_order_across_layers() -> None:
    """Who registers first comes first, whichever layer it registers into."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    child.on_assemble(marker("a"))
    prompt.on_assemble(marker("b"))
    prompt.load(marking("c"), name="c", scope=parent)
    child.on_assemble(marker("d"))
    prompt.load(marking("e"), name="e")
    assert trail(prompt.assemble(scope=child)) == "abcde"


def test_tryfirst_and_prepend_come_before_the_latest_first() -> None:
    """Of those that want to come first, the one registered last does."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.on_assemble(marker("a"))
    prompt.on_assemble(marker("b"), prepend=True)
    prompt.load(marking("c", tryfirst=True), scope=scope)
    prompt.on_assemble(marker("d"), True)
    assert trail(prompt.assemble(scope=scope)) == "dcba"


def test_trylast_comes_after_in_registration_order() -> None:
    """Those that want to come last do, and keep the order among themselves."""
    options: dict[str, Any] = {"a": {"trylast": True}, "b": {}, "c": {"trylast": True}, "d": {}}
    assert order_of(options) == "bdac"


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ({"a": {}, "b": {}, "c": {"before": ["a"]}}, "cab"),
        ({"a": {}, "b": {}, "c": {"before": ["b"]}}, "acb"),
        ({"a": {"after": ["b"]}, "b": {}, "c": {}}, "bac"),
        ({"a": {"after": ["c"]}, "b": {}, "c": {}, "d": {}}, "bcad"),
        ({"a": {"after": ["b", "d"]}, "b": {}, "c": {}, "d": {}, "e": {}}, "bcdae"),
        ({"a": {}, "b": {}, "c": {}, "d": {"before": ["c", "b"]}}, "adbc"),
        ({"a": {}, "b": {}, "c": {}, "d": {"after": ["a"], "before": ["c"]}}, "abdc"),
        ({"a": {}, "b": {"before": ["a"]}, "c": {"before": ["b"]}, "d": {}}, "cbad"),
        ({"a": {"before": ["b"]}, "b": {"after": ["a"]}, "c": {}}, "abc"),
    ],
)
def test_before_and_after_move_a_listener_only_as_far_as_needed(
    plugins: dict[str, dict[str, Any]], expected: str
) -> None:
    """Who says before or after is moved; all others keep the order they had."""
    assert order_of(plugins) == expected


@pytest.mark.parametrize("size", [3, 4])
def test_before_and_after_never_reorder_the_others(size: int) -> None:
    """Wherever the moved one stands, those that say nothing stay as registered."""
    for place, other in itertools.permutations(range(size), 2):
        for option in ("before", "after"):
            letters = "abcd"[:size]
            plugins: dict[str, dict[str, Any]] = {letter: {} for letter in letters}
            plugins[letters[place]] = {option: [letters[other]]}
            order = order_of(plugins)
            assert order.replace(letters[place], "") == letters.replace(letters[place], "")
            is_before = order.index(letters[place]) < order.index(letters[other])
            assert is_before == (option == "before")


def test_an_after_of_an_after_moves_no_farther_than_needed() -> None:
    """Once b stands behind c, a follows at once, and stays before d as registered."""
    assert order_of({"a": {"after": ["b"]}, "b": {"after": ["c"]}, "c": {}, "d": {}}) == "cbad"


def test_an_after_that_holds_already_moves_nobody() -> None:
    """Where a waits for c, b after a waits too; c is not pulled before d, which says nothing."""
    assert order_of({"a": {"after": ["c"]}, "b": {"after": ["a"]}, "d": {}, "c": {}}) == "dcab"


def test_a_before_that_waits_for_another_pulls_nobody_forward() -> None:
    """Where an order exists in which those who say nothing keep theirs, it is the one taken."""
    plugins: dict[str, dict[str, Any]] = {"a": {"after": ["b"]}, "b": {}, "c": {}, "d": {}}
    plugins["e"] = {"before": ["a"], "after": ["d"]}
    assert order_of(plugins) == "bcdea"


def test_before_and_after_ignore_names_that_are_not_loaded() -> None:
    """A name that nobody has moves nothing, until somebody has it."""
    prompt = SystemPrompt()
    prompt.load(marking("a", after=["b", "nobody"]), name="a")
    prompt.load(marking("c", before=["nobody"]), name="c")
    assert trail(prompt.assemble()) == "ac"
    prompt.load(marking("b"), name="b")
    assert trail(prompt.assemble()) == "cba"
    prompt.unload("b")
    assert trail(prompt.assemble()) == "ac"


def test_before_and_after_move_within_the_rules_of_first_and_last() -> None:
    """They do not lift what tryfirst, trylast and wrappers say."""
    options: dict[str, Any] = {
        "a": {},
        "b": {"tryfirst": True, "after": ["a"]},
        "c": {"trylast": True, "before": ["a"]},
        "d": {"tryfirst": True, "after": ["b"]},
    }
    assert order_of(options) == "bdac"


def test_on_assemble_takes_before_and_after() -> None:
    """A listener without a plugin stands around plugins as theirs do."""
    prompt = SystemPrompt()
    prompt.load(marking("a"), name="a")
    prompt.on_assemble(marker("b"), before=["a"])
    prompt.on_assemble(marker("c"), after=("a",))
    assert trail(prompt.assemble()) == "bac"


def test_before_and_after_work_across_layers() -> None:
    """A plugin of a scope may stand before a global one, in assemblies of that scope alone."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(marking("a"), name="a")
    prompt.load(marking("b", before=["a"]), name="b", scope=scope)
    assert trail(prompt.assemble(scope=scope)) == "ba"
    assert trail(prompt.assemble()) == "a"


def test_a_cycle_raises_at_load() -> None:
    """Plugins that want to stand before each other are refused when the second is loaded."""
    prompt = SystemPrompt()
    prompt.load(marking("a", before=["b"]), name="a")
    with pytest.raises(PluginConflictError):
        prompt.load(marking("b", before=["a"]), name="b")


@pytest.mark.parametrize("scoped", [False, True])
def test_a_cycle_is_named_and_leaves_nothing_behind(*, scoped: bool) -> None:
    """The refused load names the plugins of the cycle; the first one works on."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent") if scoped else None
    prompt.load(marking("a", before=["b"]), name="a")
    with pytest.raises((PluginConflictError, PluginLoadError), match=r"cycle: (a -> b|b -> a)"):
        prompt.load(marking("b", before=["a"]), name="b", scope=scope)
    assert [plugin.name for plugin in prompt.plugins] == ["a"]
    assert trail(prompt.assemble(scope=scope)) == "a"


def test_a_cycle_through_on_assemble_is_refused() -> None:
    """A listener without a plugin cannot close a cycle either."""
    prompt = SystemPrompt()
    prompt.load(marking("a"), name="a")
    with pytest.raises(PluginConflictError, match="form a cycle"):
        prompt.on_assemble(marker("b"), before=["a"], after=["a"])
    assert trail(prompt.assemble()) == "a"


def test_a_cycle_that_a_plugin_of_a_scope_closes_raises_at_load() -> None:
    """Also where the plugin that closes it says neither before nor after itself."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(marking("a", before=["c"], after=["b"]), name="a")
    prompt.load(marking("b", after=["c"]), name="b")
    with pytest.raises((PluginConflictError, PluginLoadError), match="form a cycle"):
        prompt.load(marking("c"), name="c", scope=scope)


def install(folder: Path, name: str) -> None:
    """Install a distribution with one entry point, whose listener writes the name's letter."""
    module = f"installed_{name}_for_the_waterfall"
    (folder / f"{module}.py").write_text(
        "from dsh_prompt import hookimpl\n\n@hookimpl\ndef system_prompt_assemble(assembly):\n"
        f"    assembly.variables['trail'] = (assembly.variables.get('trail') or '') + {name!r}\n"
    )
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[dsh_prompt]\n{name} = {module}\n")


def test_entry_point_plugins_form_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand by name where the first was loaded, whenever the others are."""
    for name in "xyz":
        install(tmp_path, name)
    monkeypatch.syspath_prepend(tmp_path)
    prompt = SystemPrompt()
    prompt.on_assemble(marker("a"))
    prompt.load_entry_points(only=["z"])
    prompt.load(marking("b"), name="b")
    prompt.load_entry_points(only=["x"])
    prompt.load("y")
    assert trail(prompt.assemble()) == "axyzb"
    for name in "zxy":
        prompt.unload(name, purge=True)
    prompt.load("z")
    assert trail(prompt.assemble()) == "abz"
    prompt.unload("z", purge=True)


def test_what_a_listener_adds_is_not_sorted_again() -> None:
    """Sections and tools stay where a listener puts them."""
    prompt = SystemPrompt()

    def listener(assembly: PromptAssembly) -> None:
        assembly.sections.insert(1, AssembledSection("late", "Late.", order=10_000))
        assembly.tools.insert(0, ToolSchema("z", "", {}))

    prompt.tool({"name": "a"})
    prompt.on_assemble(listener)
    assembly = prompt.assemble()
    assert assembly.sections[1].name == "late"
    assert [tool.name for tool in assembly.tools] == ["z", "a"]


# Who takes part


def test_a_listener_of_a_scope_takes_part_there_and_below() -> None:
    """It acts in its scope's assemblies and its descendants', no others'."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    sibling = prompt.create_scope("sibling", parent=parent)
    prompt.on_assemble(marker("g"))
    parent.on_assemble(marker("p"))
    prompt.load(marking("c"), scope=child)
    scopes = [None, parent, child, sibling]
    assert [trail(prompt.assemble(scope=scope)) for scope in scopes] == ["g", "gp", "gpc", "gp"]


def test_one_plugin_may_act_in_several_scopes() -> None:
    """Loaded into two scopes, it acts once in each, and not elsewhere."""
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    plugin = marking("a")
    prompt.load(plugin, scope=parent)
    prompt.load(plugin, scope=child)
    scopes = [None, parent, child]
    assert [trail(prompt.assemble(scope=scope)) for scope in scopes] == ["", "a", "aa"]


@every_way
def test_who_takes_part_is_settled_before_the_first_listener_runs(way: str) -> None:
    """What a listener registers waits for the next assembly; what it disposes still runs."""
    prompt = SystemPrompt()

    def first(assembly: PromptAssembly) -> None:
        mark(assembly, "a")
        if not trail(assembly).strip("a"):
            doomed.dispose()
            late.append(prompt.on_assemble(marker("c")))

    late: list[Any] = []
    prompt.on_assemble(first)
    doomed = prompt.on_assemble(marker("b"))
    assert trail(assembled(prompt, way)) == "ab"
    assert trail(assembled(prompt, way)) == "ac"


def test_an_assembly_costs_nothing_for_those_who_take_no_part() -> None:
    """Other scopes, their layers and listeners, are not even looked at."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    scope.on_assemble(marker("a"))

    def cost() -> int:
        calls = 0

        def count(*event: object) -> None:
            nonlocal calls
            calls += 1

        prompt.assemble(scope=scope)
        outer = sys.getprofile()
        sys.setprofile(count)
        try:
            prompt.assemble(scope=scope)
        finally:
            sys.setprofile(outer)
        return calls

    before = cost()
    for number in range(50):
        other = prompt.create_scope(f"other-{number}")
        other.on_assemble(marker("never"))
        other.section(name="other", order=number, text=lambda: "never")
        prompt.load(marking("never"), scope=other)
    # A finaliser may happen to run meanwhile, but nothing fifty times.
    assert cost() < before + 50


# Without an event loop


@pytest.mark.parametrize("kind", ["plain", "around"])
def test_an_async_implementation_is_refused_when_it_is_reached(kind: str) -> None:
    """assemble() names the async implementation; what stands before it has run."""
    prompt, seen = SystemPrompt(), list[str]()

    async def plain(assembly: PromptAssembly) -> None:
        seen.append("never")

    async def around(call_next: AsyncCallNext) -> PromptAssembly:
        return await call_next()

    class Plugin:
        system_prompt_assemble = staticmethod(hookimpl(plain if kind == "plain" else around))

    prompt.on_assemble(lambda: seen.append("before"))
    prompt.load(Plugin(), name="async")
    with pytest.raises(AsyncProviderError, match='plugin "async" is async; use assemble_async'):
        prompt.assemble()
    assert seen == ["before"]


def test_a_def_that_returns_an_awaitable_is_refused_and_closed() -> None:
    """assemble() counts it as async, and leaves no coroutine that nobody awaits."""
    prompt = SystemPrompt()

    async def edits() -> None:
        """Do nothing."""

    prompt.on_assemble(lambda assembly: edits())
    with all_awaited(), pytest.raises(AsyncProviderError, match="is async; use assemble_async"):
        prompt.assemble()


def test_call_next_ends_with_its_middleware() -> None:
    """Who keeps it cannot run the rest on an assembly that was given out."""
    prompt = SystemPrompt()
    kept: list[CallNext] = []

    def middleware(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        kept.append(call_next)
        return assembly

    prompt.on_assemble(middleware)
    prompt.on_assemble(marker("a"))
    prompt.assemble()
    with pytest.raises(RuntimeError, match="after its middleware had ended"):
        kept[0]()


@every_backend
def test_a_hook_that_swallows_its_timeout_has_timed_out(backend: str) -> None:
    """Returning something after the deadline does not make up for it."""

    async def stubborn(assembly: PromptAssembly) -> None:
        try:
            await anyio.sleep_forever()
        except BaseException:  # noqa: BLE001 - that is what is wrong with it
            return

    prompt = SystemPrompt(Config(hook_timeout=0.01))
    prompt.on_assemble(stubborn)
    with pytest.raises(ProviderError, match="took longer than hook_timeout"):
        assembled(prompt, backend)


def test_a_cycle_that_only_a_scope_closes_raises_at_load() -> None:
    """Also where the plugin in the scope says neither, and was there first."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(marking("m"), name="m", scope=scope)
    prompt.load(marking("x", before=["m"]), name="x")
    with pytest.raises(PluginConflictError, match="form a cycle"):
        prompt.load(marking("z", after=["m"], before=["x"]), name="z")
    assert trail(prompt.assemble(scope=scope)) == "xm"


def test_denials_survive_an_error_that_middleware_recovers_from() -> None:
    """Also those made on an assembly that went with the error."""
    prompt = SystemPrompt()

    def recovering(assembly: PromptAssembly, call_next: CallNext) -> PromptAssembly:
        try:
            return call_next()
        except ProviderError:
            return assembly

    def denying(assembly: PromptAssembly) -> PromptAssembly:
        other = PromptAssembly()
        other.deny("write", "not now")
        return other

    def failing(assembly: PromptAssembly) -> None:
        raise ValueError("no")

    for listener in (recovering, denying, failing):
        prompt.on_assemble(listener)
    assert prompt.assemble().authorize("write") == "not now"
