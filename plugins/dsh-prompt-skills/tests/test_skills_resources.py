"""Files in a skill's folder can be had, and nothing else."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_skills import SkillError
from dsh_prompt_skills.resources import read_resource
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skills

SECRET = b"the user's private key"


@pytest.fixture
def folder(local: Path, home: Path, write: Callable[..., Path]) -> Path:
    """Give the folder of a skill, with a file; beside it is one that is nobody's business."""
    (home / "id_rsa").write_bytes(SECRET)
    path = write(local, "one").parent
    (path / "scripts").mkdir()
    (path / "scripts/run.py").write_bytes(b"print(1)\n\0")
    write(local, "other")
    return path


@pytest.fixture
def resource(folder: Path, project: Path, service: Callable[..., Skills]) -> Callable[..., bytes]:
    """Give a function that reads a file of that skill."""
    skills = service(max_file_bytes=1000)

    def read(path: str, name: str = "one") -> bytes:
        return skills.resource(name, path, workdir=str(project))

    return read


@pytest.mark.parametrize("path", ["scripts/run.py", "./scripts/run.py", "scripts//run.py"])
def test_a_file(path: str, resource: Callable[..., bytes]) -> None:
    """A file of the skill is given as it is, bytes and all."""
    assert resource(path) == b"print(1)\n\0"


@pytest.mark.parametrize(
    "path",
    [
        "../other/SKILL.md",
        "scripts/../../other/SKILL.md",
        "scripts/../SKILL.md",
        "/etc/passwd",
        "~/../x\\..\\y",
        "a\0b",
        "",
        "./" * 3000 + "SKILL.md",
        ".",
        "./",
    ],
)
def test_paths_that_are_none(path: str, resource: Callable[..., bytes]) -> None:
    """A path that is absolute, or leads upward, is refused, wherever it would end."""
    with pytest.raises(SkillError, match=r'is no path in the folder of skill "one"$'):
        resource(path)


@pytest.mark.posix
@pytest.mark.parametrize("link", ["absolute", "relative", "folder", "neighbour", "repository"])
def test_links_out_of_the_skill(
    link: str, folder: Path, home: Path, resource: Callable[..., bytes]
) -> None:
    """A link that leads out of the skill, also within the project, is not followed."""
    (folder / ".git").mkdir()
    (folder / ".git/id_rsa").write_bytes(SECRET)
    targets: dict[str, str | Path] = {
        "absolute": home,
        "relative": os.path.relpath(home, folder),
        "folder": home.parent / "home",
        "neighbour": "../other",
        "repository": ".git",
    }
    (folder / "x").symlink_to(targets[link])
    (folder.parent / "other/id_rsa").write_bytes(SECRET)
    where = "into .git" if link == "repository" else "out of the skill"
    with pytest.raises(SkillError, match=f'^"x/id_rsa" is not read: it leads {where}$'):
        resource("x/id_rsa")


@pytest.mark.posix
def test_link_within_the_skill(folder: Path, resource: Callable[..., bytes]) -> None:
    """A link to another file of the skill is followed."""
    (folder / "run").symlink_to("scripts/run.py")
    assert resource("run") == b"print(1)\n\0"


_before_opening: list[Callable[[], object]] = []


def _audit(event: str, _arguments: tuple[object, ...]) -> None:
    """Act once, at the very moment before a file of a skill is opened."""
    if event == "open" and _before_opening:
        _before_opening.pop()()


# It cannot be taken back, and does nothing outside of the test below.
sys.addaudithook(_audit)


@pytest.mark.posix
@pytest.mark.parametrize("swapped", ["one/scripts/run.py", "one/scripts", "one", ""])
def test_link_that_is_put_there_after_the_check(
    swapped: str, folder: Path, home: Path, project: Path, service: Callable[..., Skills]
) -> None:
    """Whoever puts a link in place of a file or folder just before it is opened gets nothing."""
    (home / "one/scripts").mkdir(parents=True)
    (home / "one/scripts/run.py").write_bytes(SECRET)
    skill = service().get("one", workdir=str(project))
    assert skill is not None

    def swap() -> None:
        path = folder.parent / swapped
        path.rename(project / "aside")
        path.symlink_to(home / swapped)

    _before_opening.append(swap)
    with pytest.raises(SkillError, match="cannot be read: "):
        read_resource(skill, "scripts/run.py", 1000)
    assert not _before_opening


@pytest.mark.posix
def test_what_is_no_file(folder: Path, resource: Callable[..., bytes]) -> None:
    """Folders, pipes, loops and huge files are refused, and nobody waits."""
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "huge").write_bytes(b"x" * 1001)
    for path, reason in {
        "scripts": "is not read: it is not a regular file",
        "pipe": "is not read: it is not a regular file",
        "loop": "cannot be read: Too many levels of symbolic links",
        "huge": "is not read: it has more than 1000 bytes",
        "gone": "cannot be read: No such file or directory",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        with pytest.raises(SkillError, match=f'^"{path}" {re.escape(reason)}$'):
            resource(path)


def test_flat_skill(
    local: Path, write: Callable[..., Path], resource: Callable[..., bytes]
) -> None:
    """A skill of one file has no others, also not those beside it."""
    write(local, "flat", flat=True)
    with pytest.raises(SkillError, match=r'^skill "flat" is a single file and has no others$'):
        resource("one/SKILL.md", "flat")


_parts = st.sampled_from(
    ["..", ".", "", "one", "other", "scripts", "run.py", "SKILL.md", "up", "~"]
)


@pytest.mark.posix
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(path=st.lists(_parts, max_size=7).map("/".join))
def test_never_outside(path: str, folder: Path, resource: Callable[..., bytes]) -> None:
    """Whatever the path is, what is given is a file of the skill."""
    if not (folder / "up").is_symlink():
        (folder / "up").symlink_to("..")
    try:
        data = resource(path)
    except SkillError:
        return
    inside = [file for file in folder.rglob("*") if file.is_file()]
    assert data in [file.read_bytes() for file in inside]
