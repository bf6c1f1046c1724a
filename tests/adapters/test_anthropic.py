"""Where Anthropic's cache is told to look."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_prompt import AssembledSection, PromptAssembly
from dsh_prompt.adapters import PreflightError, ToolCall, anthropic_messages
from dsh_prompt.adapters.anthropic import NO_REASON
from tests.adapters.cases import READ, WRITE, assembly
from tests.adapters.rules import broken_rules, marks

MARK = {"cache_control": {"type": "ephemeral"}}
HELLO = {"role": "user", "content": "Hello"}


def marked(made: PromptAssembly, *messages: dict[str, Any], **options: Any) -> list[str]:
    """Give the places that are marked in a request."""
    body = anthropic_messages(made, messages, model="m", **options).to_dict()
    assert broken_rules("anthropic_messages", body) == []
    return marks(body)


def test_tools_prefix_and_last_message_are_marked() -> None:
    """Each at its end."""
    made = assembly(READ, WRITE)
    assert marked(made, HELLO, HELLO) == ["tools[1]", "system[0]", "messages[1][0]"]
    assert marked(made, HELLO, cache=False) == []


def test_the_marks_move_with_the_history_and_leave_the_rest() -> None:
    """What was sent before comes again byte for byte, but for the mark."""
    made = assembly(READ)
    first = anthropic_messages(made, [HELLO], model="m").to_dict()
    second = anthropic_messages(made, [HELLO, HELLO], model="m").to_dict()
    assert first["tools"] == second["tools"]
    assert first["system"] == second["system"]
    assert second["messages"][0] == HELLO


def test_the_prefix_is_a_block_of_its_own_with_the_same_bytes() -> None:
    """Whatever stands behind it."""
    made = assembly()
    longer, shorter = anthropic_messages(made, model="m"), assembly()
    shorter.sections = made.sections[:2]
    assert longer["system"][0] == anthropic_messages(shorter, model="m")["system"][0]
    assert len(longer["system"]) == 2
    assert len(anthropic_messages(shorter, model="m")["system"]) == 1


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ([AssembledSection("a", "x")], "x"),
        ([AssembledSection("a", "x"), AssembledSection("b", "y", cacheable=True)], "x\n\ny"),
        ([AssembledSection("a", "", cacheable=True), AssembledSection("b", "y")], "y"),
        ([AssembledSection("a", " ", cacheable=True), AssembledSection("b", "y")], " \n\ny"),
        (
            [AssembledSection("a", "x", cacheable=True), AssembledSection("b", " ")],
            [{"type": "text", "text": "x", **MARK}],
        ),
        ([AssembledSection("a", " \n ")], None),
        ([], None),
    ],
)
def test_blank_text_is_no_block(sections: list[AssembledSection], expected: object) -> None:
    """The API refuses it, marked or not."""
    made = PromptAssembly(sections)
    assert anthropic_messages(made, model="m").get("system") == expected


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": []},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": ""}]},
    ],
)
def test_what_cannot_be_marked_is_sent_as_it_is(message: dict[str, Any]) -> None:
    """Nothing, and thinking."""
    request = anthropic_messages(assembly(), [message], model="m")
    assert request["messages"] == [message]


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_text_in_a_message_is_a_problem(text: str) -> None:
    """The API refuses it, so it is told before, with its place."""
    blocks = [{"type": "text", "text": "x"}, {"type": "text", "text": text}]
    messages = [{"role": "user", "content": text}, {"role": "user", "content": blocks}]
    with pytest.raises(PreflightError) as caught:
        anthropic_messages(assembly(), messages, model="m")
    assert [problem.message for problem in caught.value.problems] == [
        "messages[0].content[0] is a blank text: leave it out",
        "messages[1].content[1] is a blank text: leave it out",
    ]


@pytest.mark.parametrize("kind", ["tool_use", "tool_result", "image", "document", "search_result"])
def test_other_blocks_can_be_marked(kind: str) -> None:
    """The last one of the message."""
    message = {"role": "user", "content": [{"type": kind}, {"type": kind}]}
    request = anthropic_messages(assembly(), [message], model="m")
    assert request["messages"][0]["content"] == [{"type": kind}, {"type": kind, **MARK}]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (1, ["tools[0]", "system[0]", "messages[1][0]"]),
        (2, ["system[0]", "messages[1][0]"]),
        (3, ["system[0]"]),
        (4, []),
    ],
)
def test_there_are_at_most_four_marks(theirs: int, ours: list[str]) -> None:
    """Those of the caller count, and stay; ours go."""
    block = {"type": "text", "text": "x"}
    content = [block, *[{**block, **MARK}] * theirs]
    found = marked(assembly(READ), {"role": "user", "content": content}, HELLO)
    assert [place for place in found if not place.startswith("messages[0]")] == ours
    assert len(found) <= 4


def test_more_than_four_marks_of_the_caller_are_a_problem() -> None:
    """There is none of ours to give way."""
    content = [{"type": "text", "text": "x", **MARK}] * 5
    with pytest.raises(PreflightError, match="5 marks for the cache, of 4: mark fewer places"):
        anthropic_messages(assembly(READ), [{"role": "user", "content": content}], model="m")


def test_our_marks_hold_as_long_as_those_of_the_caller() -> None:
    """The API refuses a mark of an hour after one of five minutes."""
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    content = [{"type": "text", "text": "x", **hour}]
    request = anthropic_messages(
        assembly(READ), [{"role": "user", "content": content}, HELLO], model="m"
    )
    assert request["tools"][-1]["cache_control"] == hour["cache_control"]
    assert request["system"][0]["cache_control"] == hour["cache_control"]
    assert request["messages"][-1]["content"][-1]["cache_control"] == hour["cache_control"]


@pytest.mark.parametrize(("output", "sent"), [("", NO_REASON), (" ", NO_REASON), ("no", "no")])
def test_an_error_says_something(output: str, sent: str) -> None:
    """The API refuses one that does not."""
    [message] = anthropic_messages.result_messages([(ToolCall("read", {}, "1"), output, True)])
    assert message["content"][0]["content"] == sent


def test_marks_in_results_of_tools_count() -> None:
    """They hold blocks themselves."""
    inner = [{"type": "text", "text": "x", **MARK}] * 4
    result = {"type": "tool_result", "tool_use_id": "1", "content": inner}
    request = anthropic_messages(assembly(READ), [{"role": "user", "content": [result]}], model="m")
    assert "cache_control" not in str(request["tools"]) + str(request["system"])


def test_the_automatic_mark_is_that_of_the_last_message() -> None:
    """With `cache_control` for the whole request, which the caller may ask for."""
    option: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    request = anthropic_messages(assembly(READ), [HELLO], model="m", **option)
    assert request["cache_control"] == option["cache_control"]
    assert marked(assembly(READ), HELLO, **option) == ["tools[0]", "system[0]"]
    assert request["system"][0]["cache_control"] == option["cache_control"]


def test_max_tokens_is_there_and_can_be_given() -> None:
    """The API needs it."""
    assert anthropic_messages(assembly(), model="m")["max_tokens"] == 4096
    assert anthropic_messages(assembly(), model="m", max_tokens=9)["max_tokens"] == 9
