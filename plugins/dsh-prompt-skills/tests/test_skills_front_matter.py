"""What a skill's front matter may say, and what becomes of one that says something else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_skills import Head
from dsh_prompt_skills.front_matter import cost, fields_of
from dsh_prompt_skills.yaml_values import YamlError, mapping_of
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt.untrusted import UnusableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skill, Skills

UNUSED = ".agents/skills/one/SKILL.md is not used: "


@pytest.fixture
def one(
    raw: Callable[..., Path], service: Callable[..., Skills], project: Path
) -> Callable[[str], Skill | None]:
    """Give a function that reads the skill with this front matter."""

    def read(front: str) -> Skill | None:
        raw(f"---\n{front}\n---\nDo it.")
        skills = service().find(str(project)).skills
        return skills[0] if skills else None

    return read


def test_all_fields(one: Callable[[str], Skill | None]) -> None:
    """Every field of the specification is read, values as the text that stands there."""
    skill = one(
        "name: one\ndescription: >-\n  Two\n  lines.\nlicense: MIT\ncompatibility: Needs git\n"
        "metadata:\n  version: 1.10\n  author: Ada\n"
        "allowed-tools: Bash(git add:*), Read\nkeywords: [a, b]\n"
    )
    assert skill is not None
    assert skill.head == Head(
        name="one",
        description="Two lines.",
        license="MIT",
        compatibility="Needs git",
        metadata={"version": "1.10", "author": "Ada"},
        allowed_tools=("Bash(git add:*)", "Read"),
    )


def test_allowed_tools_as_a_list(one: Callable[[str], Skill | None]) -> None:
    """The tools may be a list, too."""
    skill = one("name: one\ndescription: x\nallowed-tools:\n  - Read\n  - Bash(jq:*)")
    assert skill is not None
    assert skill.head.allowed_tools == ("Read", "Bash(jq:*)")


@pytest.mark.parametrize("value", ["true", "True", "yes", '"on"'])
def test_flags(value: str, one: Callable[[str], Skill | None]) -> None:
    """A flag is any of the words that YAML has for it."""
    skill = one(f"name: one\ndescription: x\ndisable-model-invocation: {value}")
    assert skill is not None
    assert (skill.head.by_model, skill.head.by_user) == (False, True)


def test_not_for_users(one: Callable[[str], Skill | None]) -> None:
    """A skill may be for the model alone."""
    skill = one("name: one\ndescription: x\nuser-invocable: false")
    assert skill is not None
    assert (skill.head.by_model, skill.head.by_user) == (True, False)


def test_unclear_flag_keeps_the_model_out(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """Where nobody can tell whether the model may start it, it may not."""
    skill = one("name: one\ndescription: x\ndisable-model-invocation: maybe")
    assert skill is not None
    assert not skill.head.by_model
    what = "has a field disable-model-invocation that is neither true nor false"
    assert problems() == [f".agents/skills/one/SKILL.md {what}"]


@pytest.mark.parametrize(
    "name", ["One", "-one", "one-", "o--ne", "o_ne", "one two", "ä", "x" * 65, "[a]", "'a\\b'"]
)
def test_what_is_no_name(
    name: str, one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """A name that the specification does not allow makes no skill, and is reported."""
    assert one(f"name: {name}\ndescription: x") is None
    [problem] = problems()
    assert problem.startswith(f"{UNUSED}its name must be 1 to 64 lower-case letters")


def test_longest_name(one: Callable[[str], Skill | None]) -> None:
    """Sixty-four characters are a name."""
    skill = one(f"name: {'x' * 64}\ndescription: x")
    assert skill is not None
    assert skill.name == "x" * 64


def test_no_name(one: Callable[[str], Skill | None], problems: Callable[..., list[str]]) -> None:
    """A skill without a name has that of its folder, and a person is told."""
    skill = one("description: x")
    assert skill is not None
    assert skill.name == "one"
    assert problems()[0].endswith('has no name: it is called "one" after its place')


def test_name_of_another_folder(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """The front matter's name counts, and a person is told that the folder has another."""
    skill = one("name: two\ndescription: x")
    assert skill is not None
    assert skill.name == "two"
    assert problems()[0].endswith('is called "two" by its front matter, and "one" by its place')


@pytest.mark.parametrize("description", ["", "~", "''", '"  "', "[a]"])
def test_no_description(
    description: str, one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """A skill of which nobody can tell what it is for is none."""
    assert one(f"name: one\ndescription: {description}") is None
    assert problems()[-1].startswith(f"{UNUSED}it has no description")


def test_long_description(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """A description is cut at the length that the specification allows."""
    skill = one(f"name: one\ndescription: {'word ' * 210}")
    assert skill is not None
    assert len(skill.description) <= 1024
    assert skill.description.endswith("…")
    assert "has a field description of more than 1024 characters" in problems()[0]


def test_description_that_is_long_once_it_is_escaped(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """What is escaped counts as long as it is shown, and no tag comes about by the cut."""
    skill = one(f"name: one\ndescription: x{chr(0xE0041) * 1000}")
    assert skill is not None
    assert skill.description == "x" + r"\U000e0041" * 102 + r"\U…"
    assert "has a field description of more than 1024 characters" in problems()[1]
    skill = one(f"name: one\ndescription: {'x' * 1016}</skillful/> and more")
    assert skill is not None
    assert skill.description == "x" * 1016 + "…"


def test_optional_fields_of_a_wrong_type(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """What is wrong with a field that is not needed is told, and the skill is used."""
    skill = one("name: one\ndescription: x\nlicense: [a]\nmetadata: x\nallowed-tools: [{a: b}]")
    assert skill is not None
    assert [problem.split(" has ")[1] for problem in problems()] == [
        "a field license that is no text",
        "a field metadata that is no mapping",
        "entries in allowed-tools that are no text",
    ]


def test_colon_without_quotes(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """A description with a colon is read as its author meant it, and a person is told."""
    skill = one("name: one\ndescription: Use it when: somebody's PDF is open")
    assert skill is not None
    assert skill.description == "Use it when: somebody's PDF is open"
    [problem] = problems()
    assert "is read as if its values had quotes" in problem
    assert "line 3" in problem


BOMBS = {
    "an anchor": "a: &a [x]\nname: one",
    "an alias": "a: *a",
    "billion laughs": "a: &a [lol,lol]\nb: &b [*a,*a]\nc: &c [*b,*b]\ndescription: *c",
    "a merge": "base: &base {name: one}\n<<: *base",
    "a Python tag": 'a: !!python/object/apply:os.system ["true"]',
    "a plain tag": "a: !!str x",
    "a local tag": "a: !x y",
    "deep lists": "a: " + "[" * 3000,
    "deep mappings": "a: " + "{a: " * 1500,
    "deep lists in disguise": "a: " + '["]",' * 1500,
    "deep blocks": "a:\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 60)),
    "deep dashes": "a:\n" + "- " * 2000 + "x",
    "the same key twice": "name: one\nname: two\ndescription: x",
    "the same key in a field": "name: one\ndescription: x\nmetadata: {a: b, a: c}",
    "a key that is a list": "[a]: b",
    "another document": "name: one\n...\n---x\nname: two",
    "a list": "- a\n- b",
    "a text": "just a text",
    "nothing": "",
    "a tab": "name:\tone\n\tdescription: x",
    "an open quote": 'name: "one\ndescription: x',
    "a control character": "name: one\ndescription: a\x1bb",
    "a character that there is not": 'name: one\ndescription: "\\UFFFFFFFF"',
    "a version too long to be a number": f"%YAML 1.{'1' * 5000}\nname: one\ndescription: x",
}


@pytest.mark.parametrize("front", BOMBS.values(), ids=BOMBS)
def test_hostile_yaml(
    front: str, one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """What is meant to blow up does nothing; the skill is left out and its file is named."""
    assert one(front) is None
    [problem] = problems()
    assert problem.startswith(f"{UNUSED}its front matter ")
    assert problem.isprintable()
    assert len(problem) < 500


def test_problems_say_where(
    one: Callable[[str], Skill | None], problems: Callable[..., list[str]]
) -> None:
    """A problem names the line of the file."""
    one("name: one\ndescription: x\nname: two")
    assert problems() == [f'{UNUSED}its front matter has the key "name" twice (line 4)']


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("# Title\n", "it does not begin with a front matter"),
        ("", "it does not begin with a front matter"),
        ("---\nname: one\n", "its front matter does not end within 8192 characters"),
        (f"---\n{'# x' * 3000}\n---\n", "its front matter does not end within 8192 characters"),
        ("---\nname: one\n----\n", "its front matter does not end within 8192 characters"),
    ],
)
def test_no_front_matter(
    content: str, reason: str, raw: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """Without a front matter, or without an end to it that is near, there is no skill."""
    raw(content)
    assert problems() == [f"{UNUSED}{reason}"]


def test_windows_lines_and_byte_order_mark(
    raw: Callable[..., Path], service: Callable[..., Skills], project: Path
) -> None:
    """What editors on Windows write is read as well."""
    raw(b"\xef\xbb\xbf---\r\nname: one\r\ndescription: x\r\n---\r\nDo it.\r\n")
    skills = service()
    assert skills.load("one", workdir=str(project)).text == "Do it."
    assert skills.problems(str(project)) == ()


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    """Whatever the text is, it is a mapping, or there is one kind of error."""
    for read, error in ((mapping_of, YamlError), (fields_of, UnusableError)):
        reason = ""
        try:
            read(text)
        except error as exc:
            reason = str(exc)
        assert reason.isprintable()


_texts = st.text("abc:#'\" -é", max_size=8) | st.none()
_lists = st.lists(_texts, max_size=3)
_values = _texts | _lists | st.dictionaries(st.text("abc", min_size=1), _texts | _lists, max_size=3)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), _values, min_size=1, max_size=4))
def test_values_come_back(fields: dict[str, object]) -> None:
    """Text, lists and mappings are read as they were written, and nothing is lost."""
    # JSON is YAML.
    text = json.dumps(fields, ensure_ascii=False)
    assert mapping_of(text) == fields


def count(value: object) -> int:
    """Count *value*, what is in it, and the keys of that."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return 1 + sum(map(count, inner)) if isinstance(inner, list) else 1


@settings(max_examples=50)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), _values, min_size=1))
def test_each_value_has_its_cost(fields: dict[str, object]) -> None:
    """However tightly values are packed, none of them costs less than 8 characters do."""
    assert cost(json.dumps(fields, separators=(",", ":"))) >= 8 * count(fields)
    assert cost("\n".join(f"- {name}" for name in fields)) >= 16 * (len(fields) - 1)
