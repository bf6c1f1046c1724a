"""What is found, in which order, and what no query can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsh_prompt import RuntimeState

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_memory import Memories


def contents(memories: Memories, query: str, limit: int = 5) -> list[str]:
    return [note.content for note in memories.find(query, limit)]


def test_the_state_takes_what_is_found(memories: Memories) -> None:
    """A search gives what the state of an agent holds, content and score."""
    memories.add("Deploys run on Fridays.")
    state = RuntimeState(memories=memories.search("When do deploys run?"))
    (memory,) = state.memories
    assert memory.content == "Deploys run on Fridays."
    assert isinstance(memory.score, float)
    assert RuntimeState.from_dict(state.to_dict()) == state


def test_the_best_come_first(memories: Memories) -> None:
    """What shares rarer words, or more of them, stands before the rest; scores go down."""
    for number in range(20):
        memories.add(f"The service number {number} is fine.")
    memories.add("The staging database is restored on Mondays.")
    memories.add("The staging service is slow.")
    found = memories.find("is the staging database fine?", limit=50)
    assert [note.content for note in found[:2]] == [
        "The staging database is restored on Mondays.",
        "The staging service is slow.",
    ]
    scores = [note.score for note in found if note.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 22


def test_the_limit(memories: Memories) -> None:
    """Five notes at most come, unless the caller says another number."""
    for number in range(9):
        memories.add(f"note {number}")
    assert len(memories.search("note")) == 5
    assert len(memories.search("note", limit=7)) == 7
    assert len(memories.search("note", limit=10**30)) == 9


def test_of_equals_the_newest_comes_first(memories: Memories) -> None:
    """Notes that match equally well stand from new to old."""
    for letter in "bcad":
        memories.add(f"tests {letter}{letter}")
    assert contents(memories, "tests") == ["tests dd", "tests aa", "tests cc", "tests bb"]


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("运行测试用 pytest。", "测试"),
        ("运行测试用 pytest。", "测试怎么运行？"),  # noqa: RUF001
        ("运行测试用 pytest。", "怎样运行所有的测试"),
        ("猫", "猫"),
        ("用户喜欢猫。", "猫"),
        ("數據庫在東京", "東京の數據庫"),
        ("テストはpytestで実行する", "テスト"),
        ("ﾃｽﾄ", "テスト"),
        ("ガイドを読む", "ガイド"),
        ("테스트를 실행한다", "테스트"),
        ("ทดสอบด้วย pytest", "ทดสอบ"),
        ("Die Prüfung läuft über Nacht", "prufung"),
        ("cafe", "CAFÉ"),
        ("cafe\u0301", "caf\u00e9"),
        ("Straße", "STRASSE"),
        ("Тёплый приём", "теплый"),
        ("Ο Σίσυφος", "ΣΙΣΥΦΟΣ"),  # noqa: RUF001
        ("परीक्षण चलाओ", "परीक्षण"),
        ("مرحبا بالعالم", "مرحبا"),
        ("İstanbul", "istanbul"),
        ("full-width: ＡＰＩ", "api"),  # noqa: RUF001
        ("the tests are slow", "Test?"),
        ("run a test", "how do I run tests"),
        ("call get_user_name", "user"),
        ("port 8080", "8080"),
        ("pass\u200bword rules", "password"),
        ("I \u2764\ufe0f tea", "tea"),
    ],
)
def test_found_in_every_script(memories: Memories, note: str, query: str) -> None:
    """Words are found whatever their script, case, accents, width or English ending."""
    memories.add(note)
    memories.add("zzz")
    assert contents(memories, query) == [note]


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("测量，考试", "测试"),  # noqa: RUF001
        ("testament", "test"),
        ("परीक्षण", "पर"),
        ("note", ""),
        ("note", " \n\0\ud800"),
        ("note", "!?* \u2764\ufe0f"),
    ],
)
def test_not_found(memories: Memories, note: str, query: str) -> None:
    """Parts of words are no words, and a query without words finds nothing."""
    memories.add(note)
    assert contents(memories, query) == []


@pytest.mark.parametrize(
    "query",
    [
        'deploy"',
        '"deploy',
        'deploy" OR "1" = "1',
        "deploy AND nothing",
        "deploy NOT deploy",
        "NOT deploy",
        "NEAR(deploy, 0)",
        "content : deploy",
        "nosuchcolumn: deploy",
        "{content nosuch} : deploy",
        "-content:deploy",
        "^deploy",
        "deploy + ",
        "(deploy",
        "deploy)))",
        "deploy'); DROP TABLE notes; --",
        "deploy\0",
        "deploy \ud800 \udfff",
        "deploy {{x}} </memory>",
        "OR deploy OR",
        "%deploy%",
    ],
)
def test_a_query_has_no_syntax(memories: Memories, query: str) -> None:
    """Whatever stands around a word, the note with that word is found, and all notes stay."""
    memories.add("deploy")
    memories.add("other")
    assert contents(memories, query) == ["deploy"]
    assert memories.count() == 2


def test_a_prefix_is_no_wildcard(memories: Memories) -> None:
    """A star does not make one word stand for many."""
    memories.add("deployment")
    assert contents(memories, "dep*") == []


def test_words_of_the_syntax_are_words(memories: Memories) -> None:
    """AND, OR, NOT and NEAR are found where they are written."""
    memories.add("not near")
    assert contents(memories, "NOT") == contents(memories, "near") == ["not near"]


def test_a_huge_query(memories: Memories) -> None:
    """Of a query of many megabytes the beginning and the end count, where the question stands."""
    memories.add("alpha")
    memories.add("omega")
    memories.add("middle")
    paste = " ".join(f"word{number}" for number in range(200_000))
    assert contents(memories, f"alpha {paste} middle {paste} omega") == ["omega", "alpha"]
    assert contents(memories, "\U000e0041" * 3_000_000) == []
    assert contents(memories, "测试" * 1_000_000) == []


@given(query=st.text(), note=st.text(min_size=1))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_is_a_query(store: Callable[..., Memories], query: str, note: str) -> None:
    """No text makes a search fail, and a note that can be kept is found by its own words."""
    memories = store()
    memories.search(query)
    text = f"{note} findable".replace("\0", "").encode("utf-8", "ignore").decode()
    note_id = memories.add(text)
    assert note_id in [found.id for found in memories.find(text, limit=100_000)]
    memories.close()


@pytest.mark.parametrize("query", [None, b"deploy", 5])
def test_what_is_no_query(memories: Memories, query: Any) -> None:
    """What is no text is a mistake of the caller."""
    with pytest.raises(TypeError, match="query must be a str"):
        memories.search(query)


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "5", None])
def test_what_is_no_limit(memories: Memories, limit: Any) -> None:
    """What is no number of notes is a mistake of the caller."""
    for method in (memories.recent, lambda given: memories.search("x", given)):
        with pytest.raises(ValueError, match="limit must be a whole number from 1"):
            method(limit)
