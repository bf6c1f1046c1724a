"""A shortened text fits, is a beginning of what it was, and tells the truth about the rest."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import Budget, SystemPrompt, render_context_snapshot
from dsh_prompt.assembly.tokens import approximate_tokens
from dsh_prompt.assembly.trimming import excess, shortened

#: Each is one character to a reader; joined in any order, they stay apart.
CLUSTERS = (
    "a",
    " ",
    "\n",
    "\n- ",
    "\n1. ",
    "e\u0301",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd",
    "\u1112\u1161\u11ab",
    "\u4f60",
    "{{v}}",
)
NOTE = re.compile(r"(?:\A|\n)\[cut: (\d+) of (\d+) (characters|items) left out\]\Z")
ITEM = re.compile(r"^(?:[-*+]|\d+[.)])[ \t]", re.MULTILINE)

clusters = st.builds(
    lambda parts, times: parts * times,
    st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=25),
    st.integers(1, 12),
)
#: Lone surrogates and all that can stand in a text, tags and items among it.
texts = st.text() | st.lists(
    st.sampled_from([*CLUSTERS, "\n<memory>\n", '\n<note of="x">\n', "\n</memory>\n", "\n</note>"])
    | st.text(max_size=3),
    max_size=30,
).map("".join)


limits = st.none() | st.integers(0, 150)


def measures_of(text: str) -> dict[str, int]:
    """Measure *text* for each limit, by other means than the library."""
    return {
        "max_chars": len(text),
        "max_tokens": -(-len(text.encode("utf-8", "surrogatepass")) // 4),
        "max_items": len(ITEM.findall(text)),
    }


def within(text: str, budget: Budget) -> bool:
    """Tell whether *text* keeps to each limit of *budget*."""
    limits = {name: getattr(budget, name) for name in measures_of(text)}
    return all(
        limits[name] is None or taken <= limits[name] for name, taken in measures_of(text).items()
    )


@st.composite
def budgets_for(draw: st.DrawFn, text: str) -> Budget:
    """Give a budget that *text*, which is not empty, exceeds in one way or several."""
    measures = {name: taken for name, taken in measures_of(text).items() if taken}
    exceeded = draw(st.sets(st.sampled_from(sorted(measures)), min_size=1))
    fields: Any = {}
    for name, taken in measures.items():
        kept_to = st.none() | st.integers(taken, 2 * taken)
        fields[name] = draw(st.integers(0, taken - 1) if name in exceeded else kept_to)
    return Budget(**fields)


too_long = clusters.flatmap(lambda parts: st.tuples(st.just(parts), budgets_for("".join(parts))))
any_too_long = texts.filter(bool).flatmap(lambda text: st.tuples(st.just(text), budgets_for(text)))


@given(text=texts, budget=st.builds(Budget, limits, limits, limits))
def test_a_text_exceeds_its_budget_where_one_limit_is_exceeded(text: str, budget: Budget) -> None:
    """And only there."""
    assert (excess(text, budget) is None) == within(text, budget)


@given(case=any_too_long)
def test_the_result_is_within_every_limit(case: tuple[str, Budget]) -> None:
    """The note on what is missing included, and the closing of frames."""
    text, budget = case
    assert within(shortened(text, budget), budget)


@given(case=any_too_long)
def test_the_result_is_the_same_again_and_has_nothing_left_to_cut(case: tuple[str, Budget]) -> None:
    """It depends on nothing but the text and the budget."""
    text, budget = case
    result = shortened(text, budget)
    assert shortened(text, budget) == result
    assert excess(result, budget) is None


@given(case=too_long)
def test_what_stays_is_a_beginning_that_ends_between_characters(
    case: tuple[list[str], Budget],
) -> None:
    """Line ends before the note are left out; what readers take for one is never split."""
    parts, budget = case
    kept = NOTE.sub("", shortened("".join(parts), budget))
    # The mark of an item is made of several characters.
    characters = [one for part in parts for one in (part if part.isascii() else [part])]
    assert kept in {"".join(characters[:end]) for end in range(len(characters) + 1)}


@given(case=too_long)
def test_the_note_tells_how_much_is_missing(case: tuple[list[str], Budget]) -> None:
    """The characters, or the items, that are there no more, of all there were."""
    text, budget = "".join(case[0]), case[1]
    result = shortened(text, budget)
    note = NOTE.search(result)
    if note is None:
        return
    limit = "max_items" if note[3] == "items" else "max_chars"
    total, kept = (measures_of(one)[limit] for one in (text, result[: note.start()]))
    assert (int(note[1]), int(note[2])) == (total - kept, total)


@given(parts=clusters, room=st.integers(0, 100))
def test_where_there_is_room_for_it_the_note_is_there(parts: list[str], room: int) -> None:
    """No loss goes untold that could be told, and no more is lost than needs to be."""
    text = "".join(parts).replace("\n", " ") + "x" * (room + 46)
    limit = room + 45
    result = shortened(text, Budget(max_chars=limit))
    assert NOTE.search(result)
    # The longest cluster, and what the numbers of a note can differ in length.
    assert limit - len(result) < 7 + 3


@given(before=st.text("ab \n"), body=st.text("ab \n"), tokens=st.integers(12, 40))
def test_a_frame_that_was_closed_is_closed(before: str, body: str, tokens: int) -> None:
    """However much of its inside is left out."""
    text = f'{before}\n<memory source="x">\n{body * 5}\n</memory>\n{"after " * 40}'
    budget = Budget(max_tokens=tokens)
    lines = shortened(text, budget).split("\n")
    assert lines.count('<memory source="x">') == lines.count("</memory>")


@given(value=st.text(st.characters(codec="utf-8"), max_size=300), limit=st.integers(1, 300))
def test_an_assembly_keeps_to_it_too(value: str, limit: int) -> None:
    """Whatever the values of the variables, and braces in them stay text."""
    with SystemPrompt() as prompt:
        prompt.variable("v", value)
        prompt.context(name="c", order=1, text="{{v}} end", budget=Budget(max_chars=limit))
        prompt.context(name="d", order=2, text="{{v}} end", budget=Budget(max_tokens=limit))
        assembly = prompt.assemble()
    texts = {context.name: context.text for context in assembly.contexts}
    fits = {"c": len(value) + 4 <= limit, "d": approximate_tokens(f"{value} end") <= limit}
    trimmed = {one.name for one in assembly.trimmed}
    assert trimmed == {name for name, has_room in fits.items() if not has_room}
    assert all(texts[name] == "{{v}} end" for name, has_room in fits.items() if has_room)
    assert len(texts.get("c", "")) <= limit or fits["c"]
    render_context_snapshot(assembly)
