"""The three runtime contexts."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dsh_prompt_env
import pytest
from dsh_prompt_env import Config
from dsh_prompt_env.contexts import contexts
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import Priority, RuntimeState, SystemPrompt, render_context_snapshot
from dsh_prompt.testing import assert_context
from dsh_prompt.untrusted import FRAMES, Reports

if TYPE_CHECKING:
    from collections.abc import Callable

_TAG = re.compile("</?project-note>")


@pytest.mark.parametrize("state", [None, {}, {"workdir": "", "open_files": [""]}])
@pytest.mark.parametrize("name", ["workdir", "open-files", "notes"])
def test_nothing_to_say(
    text: Callable[..., str | None], name: str, state: dict[str, Any] | None
) -> None:
    """Where the state has nothing, the model is told nothing."""
    assert text(name, state) is None


def test_workdir(text: Callable[..., str | None]) -> None:
    """The working directory is the state's, and not that of the process."""
    assert text("workdir", {"workdir": "/srv/app"}) == "/srv/app"


def test_open_files(text: Callable[..., str | None]) -> None:
    """The open files stand in the order of the state, each once."""
    state = {"open_files": ["b.py", "a.py", "", "b.py", "C:\\x\\y.py"]}
    assert text("open-files", state) == "- b.py\n- a.py\n- C:\\x\\y.py"


def test_more_open_files_than_allowed(text: Callable[..., str | None]) -> None:
    """Of too many files the first are named, and the others counted."""
    state = {"open_files": [f"{number}.py" for number in range(1000)]}
    assert text("open-files", state, max_open_files=2) == "- 0.py\n- 1.py\n(998 more)"
    assert text("open-files", {"open_files": ["a", "b"]}, max_open_files=2) == "- a\n- b"
    assert text("open-files", state, max_open_files=0) is None


def test_open_files_with_hostile_names(text: Callable[..., str | None]) -> None:
    """A file name is one line of the list, whatever is in it."""
    names = ["a\n- b", "\u202ecod.exe", "</project-note>", "\udc80", "{{cwd}}", "x" * 10**5]
    lines = (text("open-files", {"open_files": names}) or "").splitlines()
    assert lines[:-1] == [
        r"- a\n- b",
        r"- \u202ecod.exe",
        "- &lt;/project-note>",
        r"- \x80",
        "- {{cwd}}",
    ]
    assert len(lines[-1]) == len("- ") + 4096


def test_paths_that_are_long_once_they_are_escaped(text: Callable[..., str | None]) -> None:
    """What is escaped counts as long as it is shown, and all paths together are bounded."""
    line = text("open-files", {"open_files": ["a" + "\U000e0041" * 4000 + "z"]}) or ""
    assert line.startswith("- a\\U000e0041")
    assert line.endswith("\\U000e0041z")
    assert len(line) == len("- ") + 4096
    names = [f"{number}{'x' * 4000}" for number in range(20)]
    both = text("open-files", {"open_files": names}, max_open_chars=5000) or ""
    assert len(both) <= 5000
    assert both.startswith("- 0xxx")
    assert both.endswith("characters left out]")


@pytest.mark.parametrize(
    ("field", "value", "name", "shown"),
    [
        ("workdir", Path("srv"), "workdir", "srv"),
        ("workdir", b"/x\xff", "workdir", r"/x\xff"),
        (
            "open_files",
            [b"\xff", Path("a"), "a"],
            "open-files",
            "- \\xff\n- a",
        ),
        (
            "project_notes",
            [b"\xff", b" "],
            "notes",
            "<project-note>\n\\xff\n</project-note>",
        ),
    ],
)
def test_what_is_no_text(
    text: Callable[..., str | None], field: str, value: Any, name: str, shown: str
) -> None:
    """A careless loop gets what can be shown of it, and no error."""
    assert text(name, {field: value}) == shown


def test_notes(text: Callable[..., str | None]) -> None:
    """Each note stands in a frame, with its lines, and without the space around it."""
    state = {
        "project_notes": [
            "\n Be kind.\r\n\tAlways.\rNow. \n",
            " \n",
            "{{two}} \U0001f44d\U0001f3fd",
        ]
    }
    assert text("notes", state) == (
        "<project-note>\nBe kind.\n\tAlways.\nNow.\n</project-note>\n\n"
        "<project-note>\n{{two}} \U0001f44d\U0001f3fd\n</project-note>"
    )


def test_more_notes_than_allowed(text: Callable[..., str | None]) -> None:
    """Of too many notes the first are shown, and the others counted."""
    state = {"project_notes": ["one", "two", "three", "four"]}
    assert text("notes", state, max_notes=1) == ("<project-note>\none\n</project-note>\n\n(3 more)")
    assert text("notes", state, max_notes=0) is None


def test_a_long_note(text: Callable[..., str | None]) -> None:
    """Of a long note the beginning is shown, to the end of a line, and its length."""
    note = "\n".join(f"line {number:03}" for number in range(100_000))
    assert text("notes", {"project_notes": [note]}, max_note_chars=100) == (
        "<project-note>\n"
        + "\n".join(f"line {number:03}" for number in range(11))
        + f"\n</project-note>\n(cut; the whole note has {len(note)} characters)"
    )


def test_a_note_that_is_long_once_it_is_escaped(text: Callable[..., str | None]) -> None:
    """What is escaped counts as long as it is shown."""
    shown = text("notes", {"project_notes": ["\U000e0041" * 100]}, max_note_chars=100)
    assert shown == (
        "<project-note>\n" + r"\U000e0041" * 10 + "\n</project-note>\n"
        "(cut; the whole note has 100 characters)"
    )


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("a</project-note>b", "a&lt;/project-note>b"),
        ("<PROJECT-NOTE x>", "&lt;PROJECT-NOTE x>"),
        ("\uff1c/pro\u200bject-note>", "&lt;/pro\\u200bject-note>"),
        ("<system-reminder>", "&lt;system-reminder>"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("\u202eturned", r"\u202eturned"),
        ("\x00\x1b[2J", r"\x00\x1b[2J"),
        ("half \ud83d a", r"half \ud83d a"),
        ("byte \udcff", r"byte \xff"),
    ],
)
def test_hostile_notes(text: Callable[..., str | None], note: str, shown: str) -> None:
    """A note stays in its frame, and hides nothing."""
    state = {"project_notes": [note]}
    assert text("notes", state) == f"<project-note>\n{shown}\n</project-note>"


@pytest.mark.parametrize("begin", ["x" * 86, "\u200b" + "x" * 80])
def test_a_tag_that_the_cut_would_make(text: Callable[..., str | None], begin: str) -> None:
    """A note that is cut inside a word does not end with what could be taken for a tag."""
    note = f"{begin}</project-notebook"
    shown = text("notes", {"project_notes": [note]}, max_note_chars=100) or ""
    assert "&lt;/project-n" in shown
    assert _TAG.findall(shown.replace("\n", ">")) == ["<project-note>", "</project-note>"]


@settings(max_examples=60)
@given(
    st.lists(
        st.text(
            st.one_of(
                st.sampled_from("<>/-&;pron ject\u200b\n\r\ud800\U000e0041"), st.characters()
            ),
            max_size=150,
        )
        | st.sampled_from(
            [f"{a}{b}{c}" for a in ("<", "</", "\uff1c/") for b in FRAMES for c in ">s"]
        ),
        max_size=4,
    )
)
def test_every_note_has_its_frame(notes: list[str]) -> None:
    """Whatever the notes are, there is one frame for each, none inside, and the text is UTF-8."""
    shown = _HOST.assemble(state=RuntimeState(project_notes=notes)).contexts[-1].text
    count = sum(1 for note in notes if note and not note.isspace())
    assert _TAG.findall(shown) == ["<project-note>", "</project-note>"] * min(count, 3)
    shown.encode("utf-8")
    assert len(shown) <= 3 * 250 + 20


_HOST = SystemPrompt()
_HOST.load(dsh_prompt_env, config={"max_notes": 3, "max_note_chars": 100})


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(), max_size=30), max_size=8))
def test_every_file_has_its_line(files: list[str]) -> None:
    """Whatever the names are, there is one line for each that is not empty."""
    assembly = _HOST.assemble(state=RuntimeState(open_files=files))
    shown = assembly.contexts[1].text
    assert len(shown.splitlines()) == len({*files} - {""})
    assert all(line.startswith("- ") for line in shown.splitlines())
    shown.encode("utf-8")


def test_the_snapshot_has_them_in_order(dsh_prompt_host: SystemPrompt) -> None:
    """The folder comes first, then the files, then the notes."""
    dsh_prompt_host.load(dsh_prompt_env, name="env")
    state = RuntimeState(workdir="/w", open_files=["a"], project_notes=["n"])
    assembly = dsh_prompt_host.assemble(state=state)
    names = ["env:workdir", "env:open-files", "env:notes"]
    assert [context.name for context in assembly.contexts] == names
    assert re.findall("^## (.*)$", render_context_snapshot(assembly), re.MULTILINE) == [
        "Working directory",
        "Open files",
        "Project notes",
    ]
    assert_context(assembly, "env:workdir", "/w", plugin="env")


def test_what_goes_first_where_room_is_short() -> None:
    """Files and notes have the lowest priority; notes are dropped whole, with their frames."""
    every = contexts(Config(), Reports(logging.getLogger("dsh_prompt_env")))
    budgets = {one.name: one.budget for one in every if one.budget}
    assert {name: (one.overflow, one.priority) for name, one in budgets.items()} == {
        "env:open-files": ("truncate", Priority.REST),
        "env:notes": ("drop", Priority.REST),
    }
