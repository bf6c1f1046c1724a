"""Watching: what a host does when files change, with real files."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dsh_prompt import Config, SystemPrompt, render_prompt
from dsh_prompt.plugins import discovery
from tests.cli.installing import Site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from dsh_prompt.plugins.watching import Watch, WatchReport

SECTION = """
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="rules", order=10, text={text!r})]
"""
CONFIGURED = """
@hookimpl
def activate(ctx):
    ctx.section(name=ctx.plugin.name, order=10, text="Says " + ctx.config.get("word", "nothing"))
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give the only folder of distributions that a host sees."""
    everything = discovery._distributions

    def ours(name: str | None = None) -> list[Any]:
        return [d for d in everything(name) if Path(d.locate_file("")).is_relative_to(tmp_path)]

    monkeypatch.setattr(discovery, "_distributions", ours)
    monkeypatch.delenv("DSH_PROMPT_PLUGINS", raising=False)
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    yield site
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give an empty folder to watch."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def save(path: Path, text: str) -> None:
    """Write a file as editors do: in one step."""
    draft = path.parents[1] / "draft.tmp"
    draft.write_text(text, "utf-8")
    draft.replace(path)


def code(text: str) -> str:
    return f"from dsh_prompt import *\n{SECTION.format(text=text)}"


def watching(test: Callable[[], Awaitable[None]], backend: str = "asyncio") -> None:
    """Run an async test that waits for reports, but not for ever."""

    async def run() -> None:
        with anyio.fail_after(30):
            await test()

    anyio.run(run, backend=backend)


async def until(watch: Watch, condition: Callable[[WatchReport], object]) -> WatchReport:
    """Give the first report that has what is waited for."""
    async for report in watch:
        if condition(report):
            return report
    raise AssertionError("the watch ended")


async def eventually(condition: Callable[[], object]) -> None:
    """Wait for what nobody tells of."""
    while not condition():  # noqa: ASYNC110
        await anyio.sleep(0.01)


def names(report: WatchReport) -> list[str]:
    return [info.name for info in report.reloaded]


def make_package(site: Site, name: str, text: str) -> Path:
    """Install a plugin that is a package, as installers do: metadata last."""
    package = site.folder / f"{name}_package"
    package.mkdir()
    (package / "__init__.py").write_text(code(text), "utf-8")
    info = site.folder / f"dsh_prompt_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: dsh-prompt-{name}\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(f"[dsh_prompt]\n{name} = {name}_package\n")
    (info / "RECORD").write_text(f"{name}_package/__init__.py,,\n")
    return package


# Plugins' code


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_plugin_is_reloaded_when_its_code_changes(site: Site, backend: str) -> None:
    """A broken edit leaves the old code in place, and the next one is tried."""
    site.add("demo", SECTION.format(text="one"))
    site.add("other", "")
    file = site.folder / "demo_plugin.py"

    async def main() -> None:
        async with SystemPrompt() as host:
            host.load_entry_points()
            async with host.watch() as watch:
                save(file, code("two"))
                report = await anext(watch)
                assert (names(report), report.paths) == (["demo"], (file.resolve(),))
                assert (dict(report.failed), report.sync) == ({}, None)
                assert render_prompt(host.assemble()).endswith("two")
                save(file, "raise SystemExit(3)")
                report = await anext(watch)
                assert (names(report), [*report.failed]) == ([], ["demo"])
                assert render_prompt(host.assemble()).endswith("two")
                save(file, code("three"))
                assert names(await anext(watch)) == ["demo"]
                assert render_prompt(host.assemble()).endswith("three")

    watching(main, backend)


def test_all_of_a_package_is_its_plugins_code(site: Site) -> None:
    """New modules, texts that it reads; not what Python makes. It may be replaced whole."""
    package = make_package(site, "whole", "one")

    async def main() -> None:
        async with SystemPrompt() as host:
            host.load_entry_points()
            async with host.watch() as watch:
                (package / "__pycache__").mkdir(exist_ok=True)
                (package / "__pycache__" / "x.pyc").write_bytes(b"")
                save(package / "text.md", "Hello")
                report = await anext(watch)
                assert [path.name for path in report.paths] == ["text.md"]
                assert names(report) == ["whole"]
                shutil.rmtree(package)
                await until(watch, lambda report: "whole" in report.failed)
                other = package.with_name("draft")
                other.mkdir()
                save(other / "__init__.py", code("two"))
                other.rename(package)
                await until(watch, lambda report: names(report) == ["whole"])
                save(package / "__init__.py", code("three"))
                await until(watch, lambda _: render_prompt(host.assemble()).endswith("three"))

    watching(main)


def test_a_plugin_that_could_not_be_loaded_is_tried_again(site: Site) -> None:
    """Once its code changes; while it is broken it is in ``failed``."""
    site.add("late", "raise ValueError('no')")
    file = site.folder / "late_plugin.py"

    async def main() -> None:
        async with SystemPrompt() as host:
            assert [*host.load_entry_points().failed] == ["late"]
            async with host.watch() as watch:
                save(file, "raise ValueError('not yet')")
                report = await anext(watch)
                assert "not yet" in str(report.failed["late"])
                save(file, code("here"))
                report = await anext(watch)
                assert report.sync is not None
                assert [info.name for info in report.sync.installed] == ["late"]
                save(file, code("still here"))
                assert names(await anext(watch)) == ["late"]

    watching(main)


def test_a_plugin_that_is_loaded_meanwhile_is_watched(tmp_path: Path, site: Site) -> None:
    """The host need not tell; an object has no code to watch."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = elsewhere / "module_from_elsewhere.py"
    file.write_text(code("one"), "utf-8")

    async def main() -> None:
        async with (
            SystemPrompt() as host,
            host.watch() as watch,
            anyio.create_task_group() as group,
        ):
            reports: list[WatchReport] = []

            async def read() -> None:
                reports.append(await anext(watch))

            group.start_soon(read)
            await checkpoint()
            sys.path.append(str(elsewhere))
            try:
                import module_from_elsewhere  # type: ignore[import-not-found]  # noqa: PLC0415

                host.load(object(), name="object")
                host.load(module_from_elsewhere, scope=host.create_scope("agent"))
                await eventually(lambda: str(elsewhere.resolve()) in watched(watch))
                save(file, code("two"))
                await eventually(lambda: reports)
            finally:
                sys.path.remove(str(elsewhere))
            assert names(reports[0]) == ["module_from_elsewhere"]

    watching(main)


def watched(watch: Watch) -> set[str]:
    return {folder for one in watch._changes._watchers for folder in one.folders}


# What is installed


def test_the_host_follows_what_is_installed(site: Site) -> None:
    """Also when an installer writes the metadata in several steps, and then its code."""

    async def main() -> None:
        async with SystemPrompt() as host:
            host.load_entry_points()
            async with host.watch() as watch:
                info = site.folder / "dsh_prompt_new-1.0.dist-info"
                info.mkdir()
                report = await anext(watch)
                assert report.sync is not None
                assert report.sync.installed == ()
                info.rmdir()
                package = make_package(site, "new", "one")
                await until(watch, lambda _: [info.name for info in host.plugins] == ["new"])
                save(package / "__init__.py", code("two"))
                await until(watch, lambda _: render_prompt(host.assemble()).endswith("two"))
                shutil.rmtree(info)
                await until(watch, lambda _: host.plugins == [])

    watching(main)


# Settings


def test_plugins_with_other_settings_are_reloaded(site: Site, project: Path) -> None:
    """Those alone. A file that cannot be read is a failure of its own."""
    for name in ("loud", "quiet", "given"):
        site.add(name, CONFIGURED)
    file = project / "dsh-prompt.toml"
    template = '[plugins.config.{}]\nword = "{}"\n'
    file.write_text(template.format("loud", "one") + template.format("quiet", "one"))

    async def main() -> None:
        async with SystemPrompt(Config.load(file, trusted=True)) as host:
            host.load("given", config={"word": "mine"})
            host.load_entry_points()
            async with host.watch() as watch:
                save(file, "".join(template.format(n, "two") for n in ("loud", "given")))
                report = await anext(watch)
                assert names(report) == ["loud", "quiet"]
                assert report.paths == (file.resolve(),)
                text = render_prompt(host.assemble())
                assert text.endswith("Says mine\n\nSays two\n\nSays nothing")
                save(file, "[plugins")
                report = await anext(watch)
                assert [*report.failed] == [str(file.resolve())]
                save(file, "[plugins.config.loud]\nword = 3\n")
                report = await anext(watch)
                assert [*report.failed] == ["loud"]
                save(file, template.format("loud", "four"))
                assert names(await anext(watch)) == ["loud"]
                assert "Says four" in render_prompt(host.assemble())

    watching(main)


# Other files


def test_other_files_below_the_given_folders_are_reported(project: Path) -> None:
    """Not what tools make, nor what editors leave for a moment; another branch is."""
    for folder in (".git/objects", "node_modules", "docs/__pycache__"):
        (project / folder).mkdir(parents=True)

    async def main() -> None:
        async with SystemPrompt() as host, host.watch(project) as watch:
            noise = (".git/index", "node_modules/x.js", "docs/__pycache__/x.py", "docs/a.md~")
            for name in noise:
                (project / name).write_text("x")
            save(project / "docs" / "AGENTS.md", "Be brief.")
            report = await anext(watch)
            assert report.paths == ((project / "docs" / "AGENTS.md").resolve(),)
            assert (report.reloaded, dict(report.failed), report.sync) == ((), {}, None)
            save(project / ".git" / "HEAD", "ref: refs/heads/other")
            report = await anext(watch)
            assert report.paths == ((project / ".git" / "HEAD").resolve(),)
            (project / "new").mkdir()
            assert [path.name for path in (await anext(watch)).paths] == ["new"]
            save(project / "new" / "AGENTS.md", "Be precise.")
            assert [path.name for path in (await anext(watch)).paths] == ["AGENTS.md"]

    watching(main)


def test_a_file_can_be_given(project: Path) -> None:
    """Even one that is not there yet; its neighbours do not count."""

    async def main() -> None:
        file = project / "NOTES.md"
        async with SystemPrompt() as host, host.watch(file) as watch:
            save(project / "OTHER.md", "no")
            save(file, "yes")
            assert [path.name for path in (await anext(watch)).paths] == ["NOTES.md"]

    watching(main)


# How it ends


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_it_ends_with_an_event_with_the_host_or_when_it_is_closed(
    project: Path, backend: str
) -> None:
    """The loop is left, and no thread goes on."""

    async def main() -> None:
        host = SystemPrompt()
        stop = anyio.Event()
        ends: list[Callable[[], object]] = [stop.set, host.dispose]
        for watch, end in ((host.watch(project, stop=stop), ends[0]), (host.watch(), ends[1])):
            async with anyio.create_task_group() as group:

                async def read(watch: Watch = watch) -> None:
                    async for _ in watch:
                        pass

                group.start_soon(read)
                await checkpoint()
                end()
        await eventually(lambda: not watchers())

    watching(main, backend)


def test_waiting_can_be_cancelled_at_once(project: Path) -> None:
    """And what changed meanwhile is not lost."""

    async def main() -> None:
        async with SystemPrompt() as host, host.watch(project) as watch:
            with anyio.move_on_after(0.01):
                await anext(watch)
            save(project / "AGENTS.md", "Be brief.")
            assert [path.name for path in (await anext(watch)).paths] == ["AGENTS.md"]

    watching(main)


def test_a_watch_that_nobody_holds_ends(project: Path) -> None:
    """As an iteration that was left early does."""

    async def main() -> None:
        async with SystemPrompt() as host:
            watch = host.watch(project)
            await watch.__aenter__()
            assert watchers()
            del watch
            gc.collect()
            await eventually(lambda: not watchers())

    watching(main)


def watchers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "dsh-prompt watch"]


# What cannot be watched


def test_without_watchfiles_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and nothing else of the package needs it."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'dsh-prompt\[watch\]'"):
        SystemPrompt().watch()


def test_what_cannot_be_watched_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example where the system's limit is reached; a folder that is gone is no error."""
    errors: list[Exception] = [FileNotFoundError(), OSError("limit reached")]

    def fail(*_: object, **__: object) -> object:
        raise errors.pop(0)

    monkeypatch.setattr("watchfiles.watch", fail)

    async def main() -> None:
        async with SystemPrompt() as host:
            with pytest.raises(OSError, match="limit reached"):
                await anext(host.watch(os.devnull))

    watching(main)
