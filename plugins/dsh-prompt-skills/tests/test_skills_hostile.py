"""A folder of skills that wants to do harm does none, and is found out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_skills import listing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skills

SECRET = "---\nname: key\ndescription: the user's private key\n---\n"


@pytest.mark.posix
@pytest.mark.parametrize("linked", [".agents", "skills", "one", "SKILL.md", "one.md"])
def test_links_out_of_the_project(
    linked: str,
    tmp_path: Path,
    local: Path,
    project: Path,
    service: Callable[..., Skills],
) -> None:
    """A link of a project that leads out of it is not followed, and is reported."""
    outside = tmp_path / "outside"
    below = {".agents": "skills/one", "skills": "one", "one": "", "SKILL.md": "", "one.md": ""}
    target = outside / below[linked]
    target.mkdir(parents=True)
    (target / "SKILL.md").write_text(SECRET)
    link = {
        ".agents": project / ".agents",
        "skills": local,
        "one": local / "one",
        "SKILL.md": local / "one/SKILL.md",
        "one.md": local / "one.md",
    }[linked]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / "SKILL.md" if linked.endswith(".md") else outside)
    found = service().find(str(project))
    assert found.skills == ()
    assert [problem.what for problem in found.problems] == [
        "is not read: it leads out of the project"
    ]


@pytest.mark.posix
def test_link_into_the_repository(
    project: Path, local: Path, problems: Callable[..., list[str]]
) -> None:
    """What the version control system keeps is no skill."""
    (project / ".git/SKILL.md").write_text(SECRET)
    local.mkdir(parents=True)
    (local / "one").symlink_to("../../.git")
    assert problems() == [".agents/skills/one is not read: it leads into .git"]


@pytest.mark.posix
def test_loops_of_links(
    project: Path, local: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """Links in a circle are reported, and end nothing."""
    write(local, "fine")
    (local / "a").symlink_to("b")
    (local / "b").symlink_to("a")
    (local / "self").mkdir()
    (local / "self/SKILL.md").symlink_to("SKILL.md")
    (local / "up").symlink_to("..")
    (project / ".claude").symlink_to(".claude")
    found = service().find(str(project))
    assert [skill.name for skill in found.skills] == ["fine"]
    assert [problem.path for problem in found.problems] == [
        ".agents/skills/a",
        ".agents/skills/b",
        ".agents/skills/self/SKILL.md",
        ".claude/skills",
    ]
    assert all(problem.what.startswith("cannot be read: ") for problem in found.problems)


@pytest.mark.posix
def test_what_is_no_file(
    local: Path, write: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """Pipes, folders and links to nothing are not waited for, and are reported."""
    for name in ("pipe", "folder", "nowhere"):
        (local / name).mkdir(parents=True)
    os.mkfifo(local / "pipe/SKILL.md")
    (local / "folder/SKILL.md").mkdir()
    (local / "nowhere/SKILL.md").symlink_to("missing")
    os.mkfifo(local / "flat.md")
    assert [problem.removeprefix(".agents/skills/") for problem in problems()] == [
        "folder/SKILL.md is not read: it is not a regular file",
        "nowhere/SKILL.md cannot be read: it is a link that leads nowhere",
        "pipe/SKILL.md is not read: it is not a regular file",
        "flat.md is not read: it is not a regular file",
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"---\nname: one\xff", "it is neither UTF-8 nor UTF-16 with a byte order mark"),
        (b"\x89PNG\0\0", "it is neither UTF-8 nor UTF-16 with a byte order mark"),
        (b"---\nname: one\0", "it holds a NUL, so it is no text"),
        (b"x" * 1001, "it has more than 1000 bytes"),
    ],
)
def test_what_is_no_text(
    content: bytes, what: str, raw: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """Files that are huge, binary or in some other encoding are reported."""
    raw(content)
    [problem] = problems(max_file_bytes=1000)
    assert problem.endswith(what)


def test_too_many_entries(
    local: Path, write: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """A folder with more than anybody would call skills is not read at all."""
    local.mkdir(parents=True)
    for number in range(501):
        (local / f"{number}.md").touch()
    assert problems() == [".agents/skills is not read: it holds more than 500 entries"]


MANY = "there are too many"


@pytest.mark.parametrize(
    ("filler", "count"),
    [("x" * 450, 60), (f"[{'a,' * 100}]", 22), ("it's: " * 75, 12)],
    ids=["long ones", "many values", "parsed twice"],
)
def test_more_than_anybody_has(
    filler: str,
    count: int,
    tmp_path: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Skills that are too many to be read in good time are not, and a person is told once."""
    monkeypatch.setattr("dsh_prompt_skills.finding._MOST", 48 * 1024)
    roots = [tmp_path / "a", tmp_path / "b"]
    skills = service(roots=[str(root) for root in roots], max_file_bytes=9000)
    for number in range(count):
        write(roots[number % 2], f"s{number:02}", keywords=filler)
    assert len(skills.names()) == count
    for number in range(count, count + 20):
        write(roots[number % 2], f"s{number:02}", keywords=filler)
    found = skills.find()
    assert count < len(found.skills) < count + 10
    [problem] = [one for one in found.problems if MANY in one.what]
    assert problem.path in map(str, roots)
    assert problem.what == f"is where the look for configured skills ends: {MANY}"


def test_empty_folders(
    project: Path,
    home: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What looks like very many skills is not all looked at, and hides none of the user's own."""
    monkeypatch.setattr("dsh_prompt_skills.finding._MOST", 50 * 128)
    write(home / ".agents/skills", "own")
    workdir = project
    for _ in range(5):
        for number in range(20):
            (workdir / f".agents/skills/d{number:02}").mkdir(parents=True)
        workdir /= "deep"
    looked: list[str] = []
    real = listing._entries

    def entries(folder: str) -> tuple[list[tuple[str, bool]], list[str], int]:
        looked.append(folder)
        return real(folder)

    monkeypatch.setattr(listing, "_entries", entries)
    found = service().find(str(workdir))
    assert [skill.name for skill in found.skills] == ["own"]
    assert len(looked) == 4
    assert [str(problem) for problem in found.problems] == [
        f"deep/deep/.agents/skills is where the look for project skills ends: {MANY}"
    ]


def test_another_case(local: Path, project: Path, problems: Callable[..., list[str]]) -> None:
    """A file that is almost called as it must be is reported."""
    (local / "one").mkdir(parents=True)
    (local / "one/skill.md").write_text("---\nname: one\ndescription: x\n---\n")
    if (local / "one/SKILL.md").exists():
        pytest.skip("upper and lower case are the same here")
    assert problems() == [
        ".agents/skills/one/skill.md is not used: the file of a skill is called SKILL.md"
    ]


def test_deep_folders(
    project: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """In a deep tree the nearest folders count, and a person is told."""
    write(project / ".agents/skills", "far")
    deep = project.joinpath(*["d"] * 70)
    write(deep / ".agents/skills", "near")
    found = service().find(str(deep))
    assert [skill.name for skill in found.skills] == ["near"]
    assert [problem.what for problem in found.problems] == [
        "is deep: skills are looked for in the nearest 64 folders alone"
    ]


def test_a_root_that_is_a_file(project: Path, problems: Callable[..., list[str]]) -> None:
    """A file in place of a folder of skills is reported."""
    (project / ".agents").mkdir()
    (project / ".agents/skills").write_text("none")
    [problem] = problems()
    assert problem.startswith(".agents/skills cannot be read: ")


@pytest.mark.parametrize("workdir", ["/no/such/folder", "a\0b"])
def test_a_working_directory_that_is_none(
    workdir: str, home: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """A working directory that is not there leaves the other skills."""
    write(home / ".agents/skills", "own")
    assert service().names(workdir) == ("own",)


@pytest.mark.posix
def test_names_that_nobody_sees(
    local: Path, write: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """A folder's name is shown in a visible form, also one that is no text."""
    write(local, "\u202ex\n", description="")
    (local / os.fsdecode(b"\xff")).mkdir()
    (local / os.fsdecode(b"\xff") / "SKILL.md").touch()
    assert len(problems()) == 2
    assert all(problem.isprintable() for problem in problems())
