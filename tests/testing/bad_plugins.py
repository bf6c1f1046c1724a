"""Plugins that are bad on purpose, each in one way, and good ones that look like them."""

from __future__ import annotations

import asyncio
import gc
import locale
import os
import random
import sys
import threading
import time
import typing
import weakref
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any

import anyio
import attrs

from dsh_prompt import AssembledSection, Key, PromptContext, PromptSection, ToolSchema, hookimpl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dsh_prompt import AssembleContext, ChangeEvent, DisposableContext, PromptAssembly

STOP = threading.Event()
FILES: list[IO[str]] = []
KEPT: list[Any] = []
WEAK: list[weakref.ref[Any]] = []
KEY = Key[object]("sample.service")


def clean_up() -> None:
    """Undo what the plugins here leave behind."""
    STOP.set()
    for file in FILES:
        file.close()
    FILES.clear()
    KEPT.clear()
    WEAK.clear()
    os.environ.pop("DSH_PROMPT_SAMPLE", None)
    for thread in threading.enumerate():
        if thread.name == "left":
            thread.join()
    STOP.clear()
    gc.collect()


def rules(text: Any = "Be precise.", **fields: Any) -> list[PromptSection]:
    """Give one section."""
    return [PromptSection(name="rules", order=10, text=text, **fields)]


# What leaks


class ThreadLeft:
    @hookimpl
    def activate(self) -> None:
        threading.Thread(target=wait_for_stop, name="left", daemon=True).start()


def wait_for_stop() -> None:
    STOP.wait()


class TaskLeft:
    @hookimpl
    async def activate(self) -> None:
        KEPT.append(asyncio.create_task(sleep_for_ever()))


async def sleep_for_ever() -> None:
    await anyio.sleep_forever()


class FileLeft:
    @hookimpl
    def activate(self) -> None:
        FILES.append(Path(__file__).open(encoding="utf-8"))  # noqa: SIM115 - that is the leak


class HostListenerLeft:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.host.on_change(note)


def note(event: ChangeEvent) -> None:
    pass


class HostHookLeft:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.host.on_assemble(do_nothing)


def do_nothing(assembly: PromptAssembly) -> None:
    pass


class HostSectionLeft:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.host.section(*rules())


class HostScopeLeft:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.host.create_scope("left")


class HostCallbackLeft:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.host.callback(STOP.is_set)


class ProvidersKept:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        def text() -> str:
            return "Be precise."

        KEPT.append({"text": text})
        return rules(text)


class InstanceKept:
    @hookimpl
    def activate(self) -> None:
        KEPT[:] = [self]


class ContextKept:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        KEPT.append(lambda: ctx)


@attrs.define(slots=False)
class Settings:
    tone: str = "calm"


class ConfigKept:
    Config = Settings

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        KEPT.append(ctx.config)


class ServiceKept:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        KEPT.append(Settings())
        ctx.provide(KEY, KEPT[-1])


class CallbackRaises:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.callback(self.fail)

    def fail(self) -> None:
        raise OSError("the server does not answer")


class AsyncDeactivateRaises:
    @hookimpl
    async def deactivate(self) -> None:
        await anyio.lowlevel.checkpoint()
        raise OSError("the server does not answer")


class EnvironmentLeft:
    @hookimpl
    def activate(self) -> None:
        os.environ["DSH_PROMPT_SAMPLE"] = "1"


#: Each with a part of what must be said of it.
LEAKS: dict[type, str] = {
    ThreadLeft: 'thread "left" still runs (',
    TaskLeft: "task sleep_for_ever still runs (",
    FileLeft: "bad_plugins.py is still open, ",
    HostListenerLeft: 'change listener "note" of the host is still registered (',
    HostHookLeft: 'listener "do_nothing" of the host is still registered (',
    HostSectionLeft: 'section "rules" of the host is still registered',
    HostScopeLeft: 'the scope "left" still exists',
    HostCallbackLeft: "callback Event.is_set is still to come (",
    ProvidersKept: "ProvidersKept.contribute_sections.<locals>.text, given for section",
    InstanceKept: "the plugin object is still alive: it is held by tests.testing.bad_plugins.KEPT",
    ContextKept: "its ctx is still alive: it is held by tests.testing.bad_plugins.KEPT",
    ConfigKept: "its configuration is still alive: it is held by tests.testing.bad_plugins.KEPT",
    ServiceKept: 'given for service "sample.service", is still alive',
    CallbackRaises: "its unload raised OSError: the server does not answer",
    AsyncDeactivateRaises: "its unload raised OSError: the server does not answer",
    EnvironmentLeft: "os.environ is not what it was",
}


# What is another thing each time


def of_a_set() -> str:
    return ", ".join({"read", "write", "run", "search", "ask", "plan", "test"})


def of_a_hash() -> str:
    return f"Session {hash('session')}."


def of_the_locale() -> str:
    return f"Answer in {os.environ.get('LC_ALL') or locale.getlocale()}."


def of_the_encoding() -> str:
    return f"The encoding is {locale.getencoding()}."


def of_the_zone() -> str:
    return time.strftime("It is %H:%M.")


def of_the_local_date() -> str:
    return datetime.now().strftime("Today is %Y-%m-%d.")  # noqa: DTZ005 - that is what is bad


def of_the_directory() -> str:
    return f"You work in {Path.cwd().name}."


def of_chance() -> str:
    return f"Session {random.random()}."


def of_an_id() -> str:
    return f"Session {id(object())}."


def of_the_process() -> str:
    return f"Process {os.getpid()}."


def of_the_environment() -> str:
    return ", ".join(os.environ)


def of_the_user() -> str:
    return f"You help {os.environ.get('USER')}."


def of_a_listing(context: AssembleContext) -> str:
    return "" if context.state is None else ", ".join(os.listdir(context.state.workdir))  # noqa: PTH208


def of_a_scan(context: AssembleContext) -> str:
    return "" if context.state is None else ", ".join(map(str, scanned(context.state.workdir)))


def scanned(folder: str | None) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


class Chances:
    """Contributes what functions say, in contexts: they need not be stable, but the same."""

    def __init__(self, *texts: Callable[..., str]) -> None:
        self.texts = texts

    @hookimpl
    def contribute_contexts(self) -> list[PromptContext]:
        return [PromptContext(name=text.__name__, order=10, text=text) for text in self.texts]


# A function each, since a fresh process has to find them.


def plugin_of_hashes() -> Chances:
    return Chances(of_a_set, of_a_hash)


def plugin_of_the_locale() -> Chances:
    return Chances(of_the_locale, of_the_encoding)


def plugin_of_the_zone() -> Chances:
    return Chances(of_the_zone, of_the_local_date)


def plugin_of_the_directory() -> Chances:
    return Chances(of_the_directory)


def plugin_of_the_user() -> Chances:
    return Chances(of_the_user)


def plugin_of_orders() -> Chances:
    return Chances(of_the_environment, of_a_listing, of_a_scan)


def plugin_of_chance() -> Chances:
    return Chances(of_chance, of_an_id, of_the_process)


#: Each with a part of what must be said of it.
CHANCES: dict[Callable[[], Chances], str] = {
    plugin_of_hashes: "it depends on the hash seed",
    plugin_of_the_locale: "it depends on the locale",
    plugin_of_the_zone: "it depends on the time zone",
    plugin_of_the_directory: "it depends on the working directory",
    plugin_of_the_user: "it depends on the user's name",
    plugin_of_orders: "it depends on the order of the environment, or of what lists a folder",
    plugin_of_chance: "it differs from run to run",
}


def plugin_that_fails_elsewhere() -> Chances:
    if os.environ.get("USER") in {"grace", "alan", "edsger"}:  # in all surroundings but the first
        raise OSError("nobody of that name")
    return Chances()


class OrderOfDenials:
    """Denies what a set holds: the order of denials is nobody's business, so this is good."""

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        for name in {"sample_run", "sample_write"}:  # noqa: PLC0208 - the order is the point
            assembly.deny(name, "not now")


# What has a moving part in the stable prefix


class ClockInPrefix:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules(lambda: datetime.now().strftime("It is %H:%M."), cacheable=True)  # noqa: DTZ005


class DateInPrefix:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules(lambda: time.strftime("Today is %x."), cacheable=True)


class YearInPrefix:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules(lambda: time.strftime("It is the year %Y."), cacheable=True)


class StateInPrefix:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules(
            lambda context: context.state.task if context.state else "",
            cacheable=True,
        )


class CounterInTools:
    def __init__(self) -> None:
        self.calls = count()

    @hookimpl
    def contribute_tools(self) -> Any:
        return lambda: [ToolSchema("count", f"Call {next(self.calls)}.", {})]


class InsertsBeforePrefix:
    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly, context: AssembleContext) -> None:
        if context.state is not None:
            task = AssembledSection("task", context.state.task or "", cacheable=True)
            assembly.sections.insert(0, task)


# What is wrong in other ways


class WrongArgument:
    @hookimpl
    def contribute_sections(self, context: object) -> list[PromptSection]:
        return rules()


class UnknownHook:
    @hookimpl
    def contribute_section(self) -> list[PromptSection]:
        return rules()


class AsyncContribution:
    @hookimpl  # type: ignore[type-var]
    async def contribute_sections(self) -> list[PromptSection]:
        return rules()


class NoHooks:
    def contribute_sections(self) -> list[PromptSection]:
        return rules()


class FailsToLoad:
    @hookimpl
    def activate(self) -> None:
        raise OSError("no network")


class EndsTheProgram:
    @hookimpl
    def activate(self) -> None:
        sys.exit(3)


class MissingVariable:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules("You help {{user}}.")


class BreaksTheGuard:
    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        assembly.sections.append(AssembledSection("", "No name."))


class NeedsState:
    @hookimpl
    def contribute_contexts(self) -> list[PromptContext]:
        return [PromptContext(name="task", order=1, text=lambda context: context.state.task)]


class CrashesInAssembly:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules(lambda: os._exit(4))


class HiddenText:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules("Be precise.\u202e\U000e0041")


class HiddenInTools:
    @hookimpl
    def contribute_tools(self) -> list[ToolSchema]:
        name = {"type": "string", "description": "A name.\x1b[8m"}
        return [ToolSchema("look", "Looks.", {"type": "object", "properties": {"name": name}})]


class SpelledInSelectors:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return rules("Be precise.\ufe08\ufe0e\u200d\u200c\U000e0100\U000e0110")


class ReachesOutOfItsScope:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        with suppress(Exception):
            ctx.host.section(*rules())


class OtherAfterReload:
    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        mark = Path(gettempdir(), f"dsh-prompt-{os.getpid()}.txt")
        if mark.exists():
            mark.unlink()
            return rules("Be brief.")
        mark.touch()
        return rules()


#: The check that has to catch each, and a part of what must be said of it.
WRONG: dict[type, tuple[str, str]] = {
    WrongArgument: ("hooks", "contribute_sections"),
    UnknownHook: ("hooks", 'did you mean "contribute_sections"?'),
    AsyncContribution: ("hooks", 'hook "contribute_sections" is async'),
    NoHooks: ("hooks", "is @hookimpl missing?"),
    FailsToLoad: ("loads", "OSError: no network"),
    EndsTheProgram: ("loads", "it tried to end the program (SystemExit)"),
    MissingVariable: ("assembles", 'plugin "MissingVariable"'),
    BreaksTheGuard: ("assembles", 'plugin "BreaksTheGuard"'),
    NeedsState: ("assembles", 'with no state: context "task" of plugin "NeedsState"'),
    CrashesInAssembly: ("assembles", "ended without a result, with exit code 4"),
    ClockInPrefix: ("stable prefix", 'section "rules" of plugin "ClockInPrefix" has changed'),
    DateInPrefix: ("stable prefix", 'section "rules" of plugin "DateInPrefix" has changed'),
    StateInPrefix: ("stable prefix", 'section "rules" of plugin "StateInPrefix" has changed'),
    CounterInTools: ("stable prefix", 'tool "count" of plugin "CounterInTools" has changed'),
    InsertsBeforePrefix: ("stable prefix", 'section "task" of plugin "InsertsBeforePrefix"'),
    YearInPrefix: ("stable prefix", 'section "rules" of plugin "YearInPrefix" has changed'),
    HiddenText: ("visible text", "U+202E RIGHT-TO-LEFT OVERRIDE (1 times)"),
    HiddenInTools: ("visible text", 'tool "look" of plugin "HiddenInTools" holds U+001B'),
    SpelledInSelectors: ("visible text", "U+E0110 VARIATION SELECTOR-33 (1 times)"),
    ReachesOutOfItsScope: ("scope", "seen outside of its scope"),
    OtherAfterReload: ("reload", "after a reload section"),
}


# What is good


class Good:
    """Contributes everything there is, and takes all of it back."""

    Config = Settings

    @hookimpl
    async def activate(self, ctx: DisposableContext) -> None:
        WEAK.append(weakref.ref(self))
        ctx.provide(KEY, Settings())
        ctx.start_task(sleep_for_ever)
        ctx.on_change(lambda event: event.kind)
        ctx.callback(STOP.is_set)
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        ctx.callback(thread.join)
        ctx.callback(stop.set)
        ctx.enter_context(opened())
        await ctx.enter_async_context(held())
        ctx.create_scope("own").tool({"name": "scoped"})

    @hookimpl
    def contribute_sections(self, ctx: DisposableContext) -> list[PromptSection]:
        return rules("Be {{tone}}.")

    @hookimpl
    def contribute_variables(self, ctx: DisposableContext) -> dict[str, Any]:
        return {"tone": ctx.config.tone}

    @hookimpl
    def contribute_contexts(self) -> list[PromptContext]:
        return [PromptContext(name="words", order=10, text=self.words)]

    @hookimpl
    def contribute_tools(self) -> Any:
        return lambda: [ToolSchema("look", "Looks.", {})]

    async def words(self) -> str:
        await anyio.lowlevel.checkpoint()
        return ", ".join(sorted({"one", "two", "three"}))

    @hookimpl
    async def deactivate(self, ctx: DisposableContext) -> None:
        await anyio.lowlevel.checkpoint()


def opened() -> IO[str]:
    return Path(__file__).open(encoding="utf-8")


@asynccontextmanager
async def held() -> AsyncIterator[None]:
    yield


class UsesTypeHints:
    """Asks for generics of its own classes, which typing remembers."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        class Item:
            pass

        def text() -> str:
            return "Be precise."

        typing.Optional[typing.List[Item]]  # noqa: UP006, UP045
        Item.text = text  # type: ignore[attr-defined]
        ctx.section(*rules(text))


class SeenByAll:
    """Has flags, families and letters that need what nobody sees."""

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
        heart, family = "\u2764\ufe0f\u200d\U0001f525", "\U0001f468\u200d\U0001f469\u200d\U0001f467"
        return rules(f"{scotland} {heart} {family} \u0645\u06cc\u200c\u062e 1\ufe0f\u20e3")


class KeepsItsContext:
    """Holds its own ctx, as many plugins do."""

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.ctx = ctx
