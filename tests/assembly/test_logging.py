"""Logging: what an assembly was made of, for whoever asks, and never what it says."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledSection,
    Config,
    DisposableContext,
    PluginLoadError,
    PromptContext,
    PromptSection,
    SystemPrompt,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt import PromptAssembly


class Keeping(logging.Handler):
    """Keeps the records that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def records() -> Iterator[list[logging.LogRecord]]:
    """Give the list of what the library logs in a test, at every level."""
    handler, logger = Keeping(), logging.getLogger("dsh_prompt")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler.records
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


def full() -> SystemPrompt:
    """Give a host with one of everything, all of it secret but the names."""
    prompt = SystemPrompt(Config(include_harness_identity=False))
    prompt.section(name="rules", order=1, text="SECRET {{v}}")
    prompt.context(name="git", order=1, text=lambda: "SECRET")
    prompt.tool({"name": "read", "description": "SECRET"})
    prompt.variable("v", "SECRET")
    return prompt


def test_an_assembly_writes_one_line_at_debug(records: list[logging.LogRecord]) -> None:
    """Each assembly, and nothing else does at a quiet time."""
    prompt = full()
    for count in (1, 2):
        prompt.assemble()
        assert len(records) == count
        assert records[-1].levelno == logging.DEBUG
        assert "\n" not in records[-1].getMessage()


@pytest.mark.anyio
async def test_an_asynchronous_assembly_writes_the_same_line(
    records: list[logging.LogRecord],
) -> None:
    """There is one pipeline."""
    prompt = full()
    prompt.assemble()
    await prompt.assemble_async()
    assert records[0].getMessage() == records[1].getMessage()


def test_the_line_names_what_took_part_with_sizes_fingerprint_and_generation(
    records: list[logging.LogRecord],
) -> None:
    """Sizes are those of the rendered texts."""
    assembly = full().assemble()
    line = records[0].getMessage()
    assert f"rules={len('SECRET SECRET')}" in line
    assert f"git={len('SECRET')}" in line
    assert "read" in line
    assert assembly.fingerprint().all in line
    assert f"generation {assembly.generation}" in line


def test_the_line_leaves_nothing_out(records: list[logging.LogRecord]) -> None:
    """An empty section or context took part too, and tools have sizes as well."""
    prompt = full()
    prompt.section(name="empty_section", order=2, text="")
    prompt.context(name="empty_context", order=2, text="")
    prompt.assemble()
    line = records[0].getMessage()
    assert "empty_section=0" in line
    assert "empty_context=0" in line
    assert "read=" in line


def test_the_line_shows_what_the_waterfall_left(records: list[logging.LogRecord]) -> None:
    """It is written at the end, of what counts."""
    prompt = full()

    def edit(assembly: PromptAssembly) -> None:
        assembly.sections.append(AssembledSection("added", "12345"))
        assembly.tools = []

    prompt.on_assemble(edit)
    prompt.assemble()
    line = records[0].getMessage()
    assert "added=5" in line
    assert "read" not in line


def test_the_line_contains_no_text(records: list[logging.LogRecord]) -> None:
    """Nor a value of a variable, nor a description of a tool."""
    full().assemble()
    assert "SECRET" not in records[0].getMessage()


def test_an_assembly_that_cannot_be_rendered_writes_its_line_too(
    records: list[logging.LogRecord],
) -> None:
    """The assembly itself succeeded; its error belongs to whoever renders it."""
    prompt = full()
    prompt.section(name="bad", order=2, text="SECRET {{unknown}}")
    assembly = prompt.assemble()
    (record,) = records
    assert f"generation {assembly.generation}" in record.getMessage()
    assert "SECRET" not in record.getMessage()
    assert record.levelno == logging.DEBUG


def test_an_assembly_that_fails_writes_no_line(records: list[logging.LogRecord]) -> None:
    """Its error goes to the caller, who knows what to do with it."""
    prompt = full()
    prompt.variable("w", lambda: 1 / 0)
    with pytest.raises(Exception, match="division"):
        prompt.assemble()
    assert records == []


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_nothing_is_written_above_debug(caplog: pytest.LogCaptureFixture, level: int) -> None:
    """An agent that logs at INFO sees nothing of every turn."""
    with caplog.at_level(level, "dsh_prompt"):
        prompt = full()
        prompt.load(SimpleNamespace(activate=hookimpl(lambda: None)), name="p")
        prompt.assemble()
        prompt.unload("p")
    assert caplog.records == []


def test_logging_changes_nothing(records: list[logging.LogRecord]) -> None:
    """The assembly is the same with and without."""
    logging.getLogger("dsh_prompt").setLevel(logging.WARNING)
    without = full().assemble()
    logging.getLogger("dsh_prompt").setLevel(logging.DEBUG)
    assembly = full().assemble()
    assert (len(records), assembly) == (1, without)
    assert assembly.fingerprint() == without.fingerprint()
    assert render_prompt(assembly) == render_prompt(without)


def test_a_library_configures_no_logging() -> None:
    """Handlers and levels are for the application; no logger of ours has one."""
    full().assemble()
    loggers = logging.Logger.manager.loggerDict
    ours = [logger for name, logger in loggers.items() if name.split(".")[0] == "dsh_prompt"]
    assert len(ours) > 1
    for logger in ours:
        if isinstance(logger, logging.Logger):
            assert all(isinstance(h, logging.NullHandler) for h in logger.handlers)
            assert logger.propagate


def contributing(what: str) -> SimpleNamespace:
    """Make a plugin that gives prompt text in a way that fails."""
    wrong: dict[str, Any] = {
        "a lone section": ("contribute_sections", PromptSection("s", 1, "SECRET")),
        "a context": ("contribute_sections", [PromptContext("c", 1, "SECRET")]),
        "a str": ("contribute_sections", "SECRET"),
        "a value": ("contribute_variables", {"v": ["SECRET"]}),
        "a mapping": ("contribute_variables", ["SECRET"]),
    }
    hook, result = wrong[what]
    return SimpleNamespace(**{hook: hookimpl(lambda: result)})


@pytest.mark.parametrize("what", ["a lone section", "a context", "a str", "a value", "a mapping"])
def test_the_error_of_a_load_shows_no_prompt_text(what: str) -> None:
    """It is logged at ERROR where installed plugins are loaded."""
    with pytest.raises(PluginLoadError) as caught:
        SystemPrompt().load(contributing(what), name="p")
    assert "SECRET" not in str(caught.value)


def test_a_cleanup_that_fails_after_a_failed_load_is_logged_with_its_traceback(
    records: list[logging.LogRecord],
) -> None:
    """There is nobody else to tell it to."""

    def fail() -> None:
        raise ValueError("cleanup")

    class Failing:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.callback(fail)

        @hookimpl
        def contribute_sections(self) -> list[PromptSection]:
            raise TypeError("load")

    with pytest.raises(PluginLoadError, match="load"):
        SystemPrompt().load(Failing())
    (record,) = records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)
    assert "Failing" in record.getMessage()
