"""``dsh-prompt render``: what it takes, what it gives, how it fails."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from dsh_prompt import (
    PromptAssembly,
    RuntimeState,
    SystemPrompt,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

DEMO = """
@hookimpl
def contribute_sections(ctx):
    return [
        PromptSection(name="rules", order=10, text="Be precise, {{user}}."),
        PromptSection(name="now", order=20, text=lambda: "N\\u00f6w \\u2603\\n"),
    ]

@hookimpl
def contribute_contexts(ctx):
    def place(context):
        return f"In {context.state.workdir}."
    return [PromptContext(name="place", order=10, text=place)]

@hookimpl
def contribute_variables(ctx):
    return {"user": "nobody"}

@hookimpl
def contribute_tools(ctx):
    return [{"name": "bash", "description": "Runs it.", "parameters": {"type": "object"}}]
"""


LATE = """
@hookimpl
def contribute_sections(ctx):
    return [
        PromptSection(name="one", order=30, text="Stable one."),
        PromptSection(name="two", order=40, text="Stable two."),
    ]
"""
ADDING = """
@hookimpl
def system_prompt_assemble(assembly):
    assembly.sections.append(AssembledSection("added", "Added.", cacheable=True))
"""


@pytest.fixture
def demo(site: Site) -> None:
    site.add("demo", DEMO)


def expected(state: RuntimeState) -> PromptAssembly:
    """Assemble what the command should show, through the library."""
    with SystemPrompt() as host:
        host.load_entry_points(only=["demo"])
        return host.assemble(state=state)


# The formats


@pytest.mark.usefixtures("demo")
def test_text_is_exactly_the_system_prompt(run: Run) -> None:
    """``--format text`` gives the system prompt as UTF-8, and not a byte more."""
    outcome = run("render", "--plugin", "demo", "--format", "text")
    assert outcome.out == render_prompt(expected(RuntimeState())).encode()
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.usefixtures("demo")
def test_snapshot_is_exactly_the_snapshot(run: Run, workdir: Path) -> None:
    """``--format snapshot`` gives the snapshot, for the state of the surroundings."""
    outcome = run("render", "--plugin", "demo", "--format", "snapshot")
    state = RuntimeState(workdir=str(workdir))
    assert outcome.text == render_context_snapshot(expected(state))


@pytest.mark.usefixtures("demo")
def test_json_is_the_whole_assembly(run: Run, workdir: Path) -> None:
    """``--format json`` can be read back into an equal assembly, owners included."""
    outcome = run("render", "--plugin", "demo", "--format", "json")
    assembly = PromptAssembly.from_dict(json.loads(outcome.out))
    assert assembly == expected(RuntimeState(workdir=str(workdir)))
    source = assembly.source_of("tool", "bash")
    assert source is not None
    assert source.distribution == "dsh-prompt-demo"
    assert outcome.text.startswith('{\n  "sections": [')
    assert outcome.text.endswith("}\n")


@pytest.mark.usefixtures("demo")
def test_elsewhere_the_default_is_text(run: Run) -> None:
    """Who pipes gets what a model gets."""
    assert run("render").out == run("render", "--format", "text").out


@pytest.mark.usefixtures("demo")
def test_the_table_tells_owner_order_size_and_prefix(run: Run) -> None:
    """Every section, context and tool has a row that tells whose it is and how large."""
    page = run("render", "--plugin", "demo", "--format", "table").text
    rows = [line.split() for line in page.splitlines()]
    owner = ["demo", "(dsh-prompt-demo", "1.0)"]
    assert ["harness:identity", "the", "host", "-1000", "48", "yes"] in rows
    assert ["rules", *owner, "10", "19", "yes"] in rows
    assert ["now", *owner, "20", "6", "no"] in rows
    assert rows[rows.index(["rules", *owner, "10", "19", "yes"]) - 1][0] == "deployment:persona"
    assert ["bash", *owner, "1", "29", "yes"] in rows
    assert any(row[:4] == ["place", *owner] and row[-1] == "no" for row in rows)


HOLDING = """
@hookimpl
def contribute_tools(ctx):
    return [{"name": "find"}, {"name": "merge"}, {"name": "open"}]

@hookimpl
def system_prompt_assemble(assembly):
    assembly[DEFERRED] = Deferred({"merge"}, search="find")
    assembly.deny("open", "not today")
"""


def test_the_table_marks_tools_that_are_held_back(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model does not see them in the prefix; without any there is no such column."""
    monkeypatch.setenv("COLUMNS", "200")
    assert "Held back" not in run("render", "--format", "table").text
    site.add("holding", f"from dsh_prompt.adapters import DEFERRED, Deferred\n{HOLDING}")
    page = run("render", "--format", "table").text
    rows = {line.split()[0]: line.split()[5:] for line in page.splitlines() if "1.0)" in line}
    assert "Prefix   Held back   Denied" in page
    assert rows["find"] == ["6", "yes", "no"]
    assert rows["merge"] == ["7", "no", "yes"]
    assert rows["open"] == ["6", "yes", "no", "not", "today"]


LONG = """
@hookimpl
def contribute_contexts(ctx):
    budget = Budget(max_chars=60)
    return [
        PromptContext(name="long", order=20, text="word " * 100, budget=budget),
        PromptContext(name="gone", order=30, text="x" * 70, budget=Budget(max_items=0)),
        PromptContext(name="left", order=40, text="- x", budget=Budget(max_items=0)),
    ]
"""


def test_the_table_and_json_tell_what_was_over_its_budget(run: Run, site: Site) -> None:
    """Where there is anything to tell."""
    assert "Over budget" not in run("render", "--format", "table").text
    site.add("long", LONG)
    page = run("render", "--format", "table").text
    rows = [line.split() for line in page.splitlines()]
    assert "Over budget: 2 texts" in page
    assert ["context", "long", "truncated", "500", "60"] in rows
    assert ["context", "left", "dropped", "3", "0"] in rows
    document = json.loads(run("render", "--format", "json").out)
    assert [one["name"] for one in document["trimmed"]] == ["long", "left"]


@pytest.mark.usefixtures("demo")
def test_the_table_is_followed_by_the_texts(run: Run, workdir: Path) -> None:
    """Below the tables stand system prompt, snapshot and tools themselves."""
    page = run("render", "--plugin", "demo", "--format", "table").text
    texts = page[page.index("\nSystem prompt ─") :]
    assert "  Be precise, nobody.\n" in texts
    assert "  Current runtime context." in texts
    assert '  bash: Runs it.\n  {\n    "type": "object"\n  }\n' in texts


@pytest.mark.usefixtures("demo")
def test_the_table_marks_where_the_stable_prefix_ends(
    run: Run, site: Site, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And tells what caches cannot reach, with the way out, until nothing is out of reach."""
    monkeypatch.setenv("COLUMNS", "200")
    site.add("late", LATE)
    text = run("render", "--format", "table").text
    mark = "End of the stable prefix; what follows can change"
    before, after = text.partition("System prompt \u2500")[2].split(mark)
    assert "Be precise" in before
    assert after.index("N\u00f6w") < after.index("Stable one.")
    assert (
        'section "now" (of demo (dsh-prompt-demo 1.0)) can change, and stable ones stand after it, '
        'where no cached prefix reaches: "one", "two"; layout = "cache-first" puts them before it'
    ) in " ".join(text.split())
    (workdir / "dsh-prompt.toml").write_text('layout = "cache-first"\n')
    text = run("render", "--format", "table").text
    before, after = text.partition("System prompt \u2500")[2].split(mark)
    assert "Stable two." in before
    assert "N\u00f6w" in after
    assert "no cached prefix reaches" not in text


@pytest.mark.usefixtures("demo")
def test_a_stable_section_of_a_listener_is_told_without_the_way_out(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layout does not move what a listener added."""
    monkeypatch.setenv("COLUMNS", "200")
    site.add("listener", ADDING)
    text = run("render", "--format", "table").text
    assert 'where no cached prefix reaches: "added"\n' in text


def test_a_prompt_that_is_all_stable_has_no_mark(run: Run) -> None:
    """Nothing follows that could change."""
    text = run("render", "--format", "table").text
    assert "2 sections in the stable prefix" in text
    assert "End of the stable prefix" not in text


@pytest.mark.usefixtures("demo")
def test_the_table_shows_the_fingerprint_of_what_caches_hold(run: Run) -> None:
    """It is the same for another snapshot, and another for another tool."""

    def shown(*options: str, stdin: str = "") -> str:
        page = run("render", "--format", "table", *options, stdin=stdin).text
        return page.partition("Fingerprint of tools and stable prefix:")[2].split()[0]

    tools = '[{"name": "read", "description": "Reads.", "parameters": {}}]'
    assert len(shown()) == 64
    assert shown() == shown("--state", "-", stdin='{"todos": [{"content": "a"}]}')
    assert shown() != shown("--tools", "-", stdin=tools)


def test_an_empty_model_input_has_a_page_too(run: Run, workdir: Path) -> None:
    """Without sections, contexts and tools the page says so."""
    (workdir / "dsh-prompt.toml").write_text(
        "include_harness_identity = false\nplugins.autoload = false"
    )
    page = run("render", "--format", "table").text
    assert "System prompt: 1 section, 0 characters, 1 section in the stable prefix" in page
    assert "Context snapshot: 0 contexts" in page
    assert page.count("(empty)") == 2
    assert page.endswith("  (none)\n")


def test_the_table_tells_what_the_waterfall_did(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Additions of listeners are marked, and denied tools carry the reason."""
    monkeypatch.setenv("COLUMNS", "120")
    site.add(
        "gate",
        """
@hookimpl
def contribute_tools(ctx):
    return [{"name": "rm"}]

@hookimpl
def system_prompt_assemble(assembly):
    assembly.sections.append(AssembledSection("added", "Hello."))
    assembly.deny("rm", "not today")
""",
    )
    page = run("render", "--format", "table").text
    assert "gate (dsh-prompt-gate 1.0), waterfall" in page
    assert "not today" in page


# What it takes


@pytest.mark.usefixtures("demo")
def test_the_state_comes_from_a_file(run: Run, tmp_path: Path) -> None:
    """``--state`` takes the whole state: nothing of the surroundings is mixed in."""
    (tmp_path / "state.json").write_text('{"workdir": "/elsewhere"}')
    snapshot = run("render", "--state", tmp_path / "state.json", "--format", "snapshot").text
    assert snapshot.endswith("In /elsewhere.")


@pytest.mark.usefixtures("demo")
def test_the_state_comes_from_standard_input(run: Run) -> None:
    """``--state -`` reads standard input, and what it leaves out has its default."""
    assert run("render", "--state", "-", "--format", "snapshot", stdin="{}").text.endswith(
        "In None."
    )


@pytest.mark.usefixtures("demo")
def test_tools_join_and_replace_those_of_plugins(run: Run) -> None:
    """``--tools`` adds tools that win over a plugin's tool of the same name."""
    tools = [{"name": "bash", "description": "Mine."}, {"name": "read", "annotations": {"a": 1}}]
    arguments = ("render", "--plugin", "demo", "--tools", "-", "--format", "json")
    shown = json.loads(run(*arguments, stdin=json.dumps(tools)).out)["tools"]
    assert [(tool["name"], tool["description"]) for tool in shown] == [
        ("bash", "Mine."),
        ("read", ""),
    ]
    assert shown[1]["annotations"] == {"a": 1}
    assert shown[1]["source"]["scope"] == "command-line"


@pytest.mark.usefixtures("demo")
def test_set_replaces_a_variable(run: Run) -> None:
    """``--set`` wins over a plugin's value; of two values for one name the last one counts."""
    text = run("render", "--set", "user=Bob", "--set", "user=A=a {{user}}").text
    assert "Be precise, A=a {{user}}." in text


def test_plugins_are_chosen_by_name(run: Run, site: Site) -> None:
    """``--plugin`` loads only what it names, ``--no-plugin`` all others."""
    for name in ("one", "two"):
        site.add(
            name,
            f"""
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="{name}", order=10, text="<{name}>")]
""",
        )
    assert run("render", "--plugin", "one", "--plugin", "two").text.count("<") == 2
    assert "<two>" not in run("render", "--plugin", "one").text
    only_two = run("render", "--no-plugin", "one").text
    assert "<two>" in only_two
    assert "<one>" not in only_two


@pytest.mark.usefixtures("demo")
def test_a_plugin_that_is_asked_for_and_switched_off_is_told(
    run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--plugin`` does not override a switch, and says which one it was."""
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "others")
    assert run("render", "--plugin", "demo").err == (
        'Warning: plugin "demo" is not loaded: DSH_PROMPT_PLUGINS does not name it\n'
    )
    (workdir / "dsh-prompt.toml").write_text('plugins.disable = ["demo"]')
    outcome = run("render", "--plugin", "demo")
    assert "plugins.disable in " in outcome.err
    assert outcome.code == 0
    assert run("render", "--plugin", "demo", "--no-plugin", "demo").err == ""


def test_the_configuration_is_found_or_given(run: Run, workdir: Path, tmp_path: Path) -> None:
    """It is looked for upwards, and ``--config`` takes its place."""
    (workdir / "dsh-prompt.toml").write_text('persona = "Found."')
    (tmp_path / "given.toml").write_text('persona = "Given."')
    assert run("render", "--no-plugin", "x").code == 2
    assert run("render").text.endswith("Found.")
    assert run("render", "--config", tmp_path / "given.toml").text.endswith("Given.")


def test_async_plugins_take_part(run: Run, site: Site) -> None:
    """Async activation, providers and clean-ups run, in one event loop."""
    site.add(
        "loop",
        """
import asyncio, sys

@hookimpl
async def activate(ctx):
    loop = asyncio.get_running_loop()
    async def text():
        return f"same loop: {asyncio.get_running_loop() is loop}"
    ctx.section(name="loop", order=10, text=text)

@hookimpl
async def deactivate(ctx):
    await asyncio.sleep(0)
    print("wound down", file=sys.stderr)
""",
    )
    outcome = run("render")
    assert outcome.text.endswith("same loop: True")
    assert outcome.err == "wound down\n"


# What goes wrong without stopping it


def test_a_plugin_that_fails_is_reported_and_the_others_work(run: Run, site: Site) -> None:
    """It takes one line on standard error: plugin, distribution, reason and place."""
    site.add("good", DEMO)
    site.add("bad", 'raise ImportError("no such\\nthing \\x1b[31m")')
    outcome = run("render")
    assert outcome.code == 0
    assert "Be precise" in outcome.text
    assert outcome.err == (
        'Warning: plugin "bad" (dsh-prompt-bad 1.0) cannot be loaded: '
        "ImportError: no such; thing \\x1b[31m "
        f"({site.folder / 'bad_plugin.py'}, line 3)\n"
    )
    assert 'raise ImportError("no such' in run("render", "--traceback").err


def test_an_enabled_plugin_that_is_not_installed_is_reported(run: Run, workdir: Path) -> None:
    """A name in the configuration that nothing offers is told, not ignored."""
    (workdir / "dsh-prompt.toml").write_text('plugins.enable = ["nowhere"]')
    assert run("render").err == 'Warning: no plugin "nowhere" is installed\n'


@pytest.mark.usefixtures("demo")
def test_problems_with_installed_packages_are_told_once(run: Run, site: Site) -> None:
    """However often they are looked at, the line is the same."""
    (site.folder / "dsh_prompt_demo-1.0.dist-info").rename(
        site.folder / "dsh_prompt_demo-0.9.dist-info"
    )
    site.add("demo", DEMO)
    (info,) = site.folder.glob("*-0.9*")
    metadata = info / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "0.9"))
    outcome = run("render", "--plugin", "demo")
    assert outcome.err.count("\n") == 1
    assert "0.9" in outcome.err


def test_what_plugins_print_and_log_stays_out_of_the_result(run: Run, site: Site) -> None:
    """Prints and warnings of plugins go to standard error, logged ones escaped."""
    site.add("chatty", 'import logging\nprint("hi")\nlogging.getLogger("x").warning("oh \\x1b[1m")')
    outcome = run("render")
    assert "hi" not in outcome.text
    assert outcome.err.startswith("hi\nWarning: oh \\x1b[1m\n")


def test_a_clean_up_that_fails_is_told_and_the_result_stays(run: Run, site: Site) -> None:
    """The result was good; that a plugin did not clean up is worth a warning."""
    site.add("messy", '@hookimpl\ndef deactivate(ctx): raise OSError("still \\x9b busy")')
    outcome = run("render")
    assert (outcome.code, outcome.err) == (
        0,
        (
            "Warning: clean-up failed: OSError: still \\x9b busy (raised while what plugin "
            '"messy" (dsh-prompt-messy 1.0) registered was cleaned up)\n'
        ),
    )
    assert outcome.text


# Exit code 1: the assembly failed


@pytest.fixture
def failing(site: Site) -> None:
    site.add(
        "failing",
        """
def boom():
    raise ValueError("boom \\x1b[31m")

@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="bomb", order=10, text=boom)]
""",
    )


@pytest.mark.usefixtures("failing")
def test_a_failed_assembly_names_plugin_and_way_out(run: Run) -> None:
    """The error names section, plugin and distribution, and tells how to go on."""
    outcome = run("render")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.err == (
        'Error: section "bomb" of plugin "failing" (dsh-prompt-failing 1.0) raised '
        "ValueError: boom \\x1b[31m\n"
        "Hint: --no-plugin failing leaves the plugin out, --traceback shows where it failed\n"
    )


@pytest.mark.usefixtures("failing")
def test_a_traceback_is_shown_on_request_and_escaped(run: Run) -> None:
    """``--traceback`` shows where contributed code raised, and then the error."""
    outcome = run("render", "--traceback")
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert 'raise ValueError("boom' in outcome.err
    assert "\x1b" not in outcome.err
    assert '\nError: section "bomb"' in outcome.err


@pytest.mark.usefixtures("failing")
def test_a_failed_assembly_leaves_the_file_alone(run: Run, workdir: Path) -> None:
    """``--out`` writes nothing, and keeps what there was, when there is no result."""
    (workdir / "prompt.txt").write_text("old")
    assert run("render", "--out", "prompt.txt").code == 1
    assert [(file.name, file.read_text()) for file in workdir.iterdir()] == [("prompt.txt", "old")]


@pytest.mark.parametrize("format_", ["table", "text"])
def test_a_reference_without_value_hints_at_set(run: Run, workdir: Path, format_: str) -> None:
    """Rendering is part of the assembly: a bad reference fails it, whatever the format."""
    (workdir / "dsh-prompt.toml").write_text('persona = "Hello {{user}}."')
    outcome = run("render", "--format", format_)
    assert (outcome.code, outcome.out) == (1, b"")
    assert 'unknown prompt variable "{{user}}" in section "deployment:persona"' in outcome.err
    assert outcome.err.endswith("Hint: --set NAME=VALUE gives a variable its value\n")


def test_a_plugin_cannot_end_the_program_quietly(run: Run, site: Site) -> None:
    """A provider that calls ``sys.exit(0)`` fails the assembly like any other."""
    site.add(
        "quitter",
        """
import sys
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="bye", order=10, text=lambda: sys.exit(0))]
""",
    )
    outcome = run("render")
    assert (outcome.code, outcome.out) == (1, b"")
    assert "tried to end the program" in outcome.err


def test_several_errors_of_listeners_are_all_told(run: Run, site: Site) -> None:
    """What contributed code raises outside of an assembly is an error with a type."""
    site.add(
        "watchers",
        """
@hookimpl
def activate(ctx):
    ctx.on_change(fail)
def fail(event):
    raise KeyError(event.kind)
""",
    )
    outcome = run("render")
    assert outcome.code == 1
    assert outcome.err.startswith(
        "Error: change listeners raised: KeyError: 'loaded'; KeyError: 'withdrawn'\nHint: "
    )


# Exit code 2: usage, configuration, state, tools


@pytest.mark.parametrize("option", ["--plugin", "--no-plugin"])
@pytest.mark.usefixtures("demo")
def test_an_unknown_plugin_is_a_usage_error(run: Run, option: str) -> None:
    """A name that is not installed is refused, with the nearest that is."""
    outcome = run("render", option, "dmeo")
    assert (outcome.code, outcome.out) == (2, b"")
    assert f"{option}: " in outcome.err
    assert outcome.err.endswith('no plugin "dmeo" is installed; did you mean "demo"?\n')
    assert '; installed: "demo"' in run("render", option, "\x1b[31m").err


@pytest.mark.parametrize(
    ("assignment", "problem"),
    [("user", '"user" is not key=value'), ("\x1b[1mU=x", '"\\x1b[1mU" is no variable name')],
)
def test_a_malformed_assignment_is_a_usage_error(run: Run, assignment: str, problem: str) -> None:
    """``--set`` takes ``key=value`` with a valid name, and shows others escaped."""
    outcome = run("render", "--set", assignment)
    assert outcome.code == 2
    assert problem in outcome.err


def test_standard_input_can_be_read_once(run: Run) -> None:
    """State and tools cannot both come from standard input."""
    outcome = run("render", "--state", "-", "--tools", "-")
    assert outcome.code == 2
    assert "cannot both be standard input" in outcome.err


def test_a_broken_configuration_names_file_key_and_nearest(run: Run, workdir: Path) -> None:
    """An unknown key is an error that tells where it stands and what was meant."""
    (workdir / "dsh-prompt.toml").write_text("[plugins]\nautolaod = true")
    outcome = run("render")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err == (
        f"Error: {workdir / 'dsh-prompt.toml'}:2: plugins.autolaod: unknown key; "
        'did you mean "autoload"?\n'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "standard input: is no valid JSON: "),
        ('{"extra": NaN}', "standard input: is no valid JSON: NaN is not JSON"),
        ("[" * 100_000, "standard input: is no valid JSON: "),
        ("[]", "standard input: expected a table, got []"),
        ('{"workdri": "/"}', 'standard input: workdri: unknown key; did you mean "workdir"?'),
        ('{"todos": [{"content": 1}]}', "standard input: todos[0].content: "),
    ],
)
def test_a_broken_state_is_refused(run: Run, text: str, problem: str) -> None:
    """What is no state is an error with the place in the document."""
    outcome = run("render", "--state", "-", stdin=text)
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err.startswith(f"Error: {problem}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "standard input: expected a list of tools, got {}"),
        ("[1]", "standard input: [0]: a tool must be "),
        ('[{"name": "a"}, {"nmae": "b"}]', "standard input: [1]: tool "),
        ('[{"name": "a"}, {"name": "a"}]', 'standard input: [1]: a second tool "a"'),
    ],
)
def test_broken_tools_are_refused(run: Run, text: str, problem: str) -> None:
    """What is no list of tools is an error with the index of the bad one."""
    outcome = run("render", "--tools", "-", stdin=text)
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err.startswith(f"Error: {problem}")


@pytest.mark.parametrize("option", ["--config", "--state", "--tools"])
def test_a_file_that_cannot_be_read_is_named(run: Run, option: str) -> None:
    """A missing file is an error that names it, escaped."""
    outcome = run("render", option, "gone\x1b.json")
    assert outcome.code == 2
    assert outcome.err.startswith("Error: gone\\x1b.json: cannot be read: ")


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed")
def test_a_folder_that_has_gone_is_told(run: Run, workdir: Path, tmp_path: Path) -> None:
    """Neither configuration nor state can be found from a folder that does not exist."""
    (tmp_path / "given.toml").touch()
    workdir.rmdir()
    assert "Error: the configuration cannot be looked for: " in run("render").err
    outcome = run("render", "--config", tmp_path / "given.toml")
    assert (outcome.code, outcome.out) == (2, b"")
    assert "Error: there is no working directory: " in outcome.err


# Hostile text

HOSTILE = (
    "\x1b]0;title\x07 \x9b31m \x7f \u202e \u2066 \ud800 \U000e0041 [bold]x[/bold] :smile: \r\b"
)


@pytest.fixture
def hostile(site: Site) -> None:
    site.add(
        "hostile",
        f"""
TEXT = {HOSTILE!a}
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="s" + TEXT, order=10, text=TEXT)]
@hookimpl
def contribute_contexts(ctx):
    return [PromptContext(name="c" + TEXT + "\\n", order=10, text=TEXT)]
@hookimpl
def contribute_tools(ctx):
    return [{{"name": "t" + TEXT, "description": TEXT, "parameters": {{TEXT: TEXT}}}}]
""",
    )


@pytest.mark.usefixtures("hostile")
def test_hostile_text_is_exact_for_programs(run: Run) -> None:
    """A pipe gets the very characters; only a lone surrogate has no bytes and is escaped."""
    assert run("render").text.endswith(HOSTILE.replace("\ud800", "\\ud800"))
    data = json.loads(run("render", "--format", "json").out)
    assert data["contexts"][0]["text"] == HOSTILE


@pytest.mark.usefixtures("hostile")
def test_hostile_text_is_escaped_in_tables(run: Run) -> None:
    """Tables show control characters and markup, and obey neither."""
    page = run("render", "--format", "table").text
    assert not {"\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\r", "\b"} & {*page}
    assert "\\x1b]0;title\\x07 \\x9b31m \\x7f \\u202e \\u2066 \\ud800 \\U000e0041" in page
    assert "[bold]x[/bold]" in page
    assert ":smile:" in page
