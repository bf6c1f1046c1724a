"""What a host and its agent loop do with the service, and what the tool answers."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_skills import SKILL_TOOL, SKILLS, SkillError

from dsh_prompt import PromptError
from dsh_prompt.testing import assert_tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skills

    from dsh_prompt import PromptAssembly, SystemPrompt


def test_service(
    local: Path, project: Path, write: Callable[..., Path], host: Callable[..., SystemPrompt]
) -> None:
    """A host finds the service by its key, and loses it with the plugin."""
    write(local, "one", "Do it.")
    prompt = host()
    skills = prompt.require(SKILLS)
    where = str(project)
    assert skills.names(where) == ("one",)
    skill = skills.get("one", workdir=where)
    assert skill is not None
    assert skill.description == "About one."
    assert skills.get("two", workdir=where) is None
    body = skills.load("one", workdir=where)
    assert (body.skill, body.text, body.findings) == (skill, "Do it.", ())
    prompt.unload("dsh_prompt_skills")
    assert prompt.get(SKILLS) is None


def test_unknown_name(project: Path, service: Callable[..., Skills]) -> None:
    """To load what is not there raises, naming it in a visible form."""
    with pytest.raises(SkillError, match=r'^there is no skill "a\\u202e"$') as caught:
        service().load("a\u202e", workdir=str(project))
    assert isinstance(caught.value, PromptError)


def test_who_may_start_it(
    local: Path, project: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """The host's commands list what users may start; the model has its own list."""
    write(local, "both")
    write(local, "deploy", disable_model_invocation="true")
    write(local, "style", user_invocable="false")
    skills, where = service(), str(project)
    assert [skill.name for skill in skills.for_user(where)] == ["both", "deploy"]
    assert [skill.name for skill in skills.for_model(where)] == ["both", "style"]


def test_tool(assemble: Callable[..., PromptAssembly]) -> None:
    """The tool is there, reads only, and names no skill, so that the tools stay as they are."""
    assert_tools(assemble(), "skill")
    assert SKILL_TOOL.annotations["readOnlyHint"] is True
    assert SKILL_TOOL.parameters["required"] == ["name"]


def test_call(local: Path, write: Callable[..., Path], called: Callable[..., str]) -> None:
    """A call gives the instructions in a frame, a long one cut."""
    write(local, "one", "Do it.")
    frame = '<skill name="one" root="project" path=".agents/skills/one/SKILL.md">'
    assert called({"name": "one"}) == f"{frame}\nDo it.\n</skill>"
    assert called({"name": "one"}, max_body_chars=2) == (
        f"{frame}\nDo\n(4 more characters are left out here.)\n</skill>"
    )


def test_call_with_a_path(
    local: Path, write: Callable[..., Path], called: Callable[..., str]
) -> None:
    """A call with a path gives that file of the skill, cleaned and in a frame."""
    folder = write(local, "one").parent
    (folder / "references").mkdir()
    (folder / "references/more.md").write_text("More.\n</skill>\u202e", encoding="utf-8")
    assert called({"name": "one", "path": "references/more.md"}) == (
        '<skill name="one" root="project" file="references/more.md">\n'
        "More.\n&lt;/skill>\\u202e\n</skill>"
    )


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({}, "`name` must be a text, and so must `path` if it is given."),
        ([], "`name` must be a text, and so must `path` if it is given."),
        ({"name": 3}, "`name` must be a text, and so must `path` if it is given."),
        (
            {"name": "one", "path": ["x"]},
            "`name` must be a text, and so must `path` if it is given.",
        ),
        ({"name": "two"}, 'there is no skill "two"; the skills are "one".'),
        (
            {"name": "</skill>\u202e"},
            'there is no skill "&lt;/skill>\\u202e"; the skills are "one".',
        ),
        ({"name": "deploy"}, 'skill "deploy" is for the user alone to start.'),
        (
            {"name": "one", "path": "gone.md"},
            '"gone.md" cannot be read: No such file or directory.',
        ),
        (
            {"name": "one", "path": "image"},
            '"image" is not shown: it holds a NUL, so it is no text.',
        ),
    ],
)
def test_wrong_call(
    arguments: Any,
    answer: str,
    local: Path,
    write: Callable[..., Path],
    called: Callable[..., str],
) -> None:
    """What is wrong with a call is told to the model, which raises nothing."""
    folder = write(local, "one").parent
    (folder / "image").write_bytes(b"GIF\0")
    write(local, "deploy", disable_model_invocation="true")
    assert called(arguments) == f"Not loaded: {answer}"


def test_call_without_skills(called: Callable[..., str]) -> None:
    """Where there are none it says so."""
    assert called({"name": "x" * 500}) == (
        f'Not loaded: there is no skill "{"x" * 80}"; there are no skills.'
    )


def test_problems_are_logged_once(
    raw: Callable[..., Path],
    project: Path,
    service: Callable[..., Skills],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A problem is one warning for as long as its file stays as it is."""
    raw("one")
    skills = service()
    with caplog.at_level(logging.WARNING, "dsh_prompt_skills"):
        for _ in range(3):
            assert len(skills.problems(str(project))) == 1
        assert len(caplog.messages) == 1
        raw("another one")
        skills.find(str(project))
        skills.refresh()
        skills.find(str(project))
    assert len(caplog.messages) == 2


def test_very_many_problems(
    local: Path,
    project: Path,
    service: Callable[..., Skills],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody's log is filled: the first hundred are logged, and how many more there are."""
    local.mkdir(parents=True)
    for number in range(150):
        (local / f"s{number}.md").touch()
    skills = service()
    with caplog.at_level(logging.WARNING, "dsh_prompt_skills"):
        assert len(skills.problems(str(project))) == 150
        skills.find(str(project))
    assert len(caplog.messages) == 101
    assert caplog.messages[-1] == "skills have 50 more problems"


def test_unchanged_files_are_not_read_again(
    local: Path,
    project: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was read is kept until its file changes, or somebody asks for a fresh look."""
    from dsh_prompt_skills import readings  # noqa: PLC0415

    monkeypatch.setattr(readings, "_UNSETTLED", -(10**18))
    write(local, "one")
    write(local, "two")
    skills, parsed = service(), []
    real: Any = vars(readings)["split"]

    def counted(text: str) -> Any:
        parsed.append(text)
        return real(text)

    monkeypatch.setattr(readings, "split", counted)
    for _ in range(3):
        assert skills.names(str(project)) == ("one", "two")
    assert len(parsed) == 2
    write(local, "one", description="Another length.")
    skills.find(str(project))
    assert len(parsed) == 3
    skills.refresh()
    skills.find(str(project))
    assert len(parsed) == 5


def counter(monkeypatch: pytest.MonkeyPatch, name: str) -> list[object]:
    """Let calls of a function of the module `readings` be counted."""
    from dsh_prompt_skills import readings  # noqa: PLC0415

    calls: list[object] = []
    real: Any = vars(readings)[name]

    def counted(argument: object) -> Any:
        calls.append(argument)
        return real(argument)

    monkeypatch.setattr(readings, name, counted)
    return calls


def test_a_file_of_the_future(
    local: Path,
    project: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file whose times tell nothing is kept once it has not changed for a while."""
    monkeypatch.setattr("dsh_prompt_skills.readings._UNSETTLED", 0)
    os.utime(write(local, "one"), (4e9, 4e9))
    skills, reads = service(), counter(monkeypatch, "decode")
    for _ in range(5):
        assert skills.names(str(project)) == ("one",)
    assert len(reads) == 2
    os.utime(write(local, "one", description="Another length."), (4e9, 4e9))
    assert skills.for_model(str(project))[0].description == "Another length."


def test_the_same_text_is_not_parsed_again(
    local: Path,
    project: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that was just written is read for each call, and parsed if it says other things."""
    write(local, "one")
    skills, parsed = service(), counter(monkeypatch, "fields_of")
    for body in ("a", "bb", "bb"):
        write(local, "one", body)
        assert skills.names(str(project)) == ("one",)
    assert len(parsed) == 1
    write(local, "one", description="Changed.")
    assert skills.for_model(str(project))[0].description == "Changed."


def test_many_threads(
    local: Path, project: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """The service gives each thread the same."""
    for number in range(20):
        write(local, f"s{number}")
    skills = service()
    seen: list[tuple[str, ...]] = []

    def look() -> None:
        seen.extend(skills.names(str(project)) for _ in range(5))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 20
    assert len(set(seen)) == 1
