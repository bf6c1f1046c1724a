"""One table for each size: the work as done by us, by the original, and by others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tests.benchmarks.measuring import alternate, ratio, spread
from tests.benchmarks.peer import UnavailableError
from tests.benchmarks.peers.bare import Bare
from tests.benchmarks.peers.jinja2_template import Jinja2Template
from tests.benchmarks.peers.langchain_agent import LangChainAgent
from tests.benchmarks.peers.langchain_template import LangChainTemplate
from tests.benchmarks.peers.original import Original
from tests.benchmarks.peers.ours import Ours
from tests.benchmarks.peers.pluggy_hooks import PluggyHooks
from tests.benchmarks.peers.pydantic_ai_agent import PydanticAIAgent
from tests.benchmarks.report import Row, at_least, at_most, durations
from tests.benchmarks.workloads import SIZES, work_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.benchmarks.measuring import Effort
    from tests.benchmarks.peer import Peer
    from tests.benchmarks.peers.original import Node

FASTER_THAN_THE_ORIGINAL = {"S": 5, "M": 5, "L": 6, "XL": 5}
OF_THE_BARE_LOOP = {"S": 1.5, "M": 1.0, "L": 1.0, "XL": 1.0}
OF_THE_BARE_LOOP_IF_TEXTS_CHANGE = 2.0
OTHERS: tuple[type[Peer], ...] = (
    PluggyHooks,
    Jinja2Template,
    LangChainTemplate,
    LangChainAgent,
    PydanticAIAgent,
)


def rows_of(size: str, node: Node | None, effort: Effort) -> list[Row]:
    """Measure the work of *size* with every peer."""
    return [
        *_with_targets(size, node, effort),
        *_with_other_texts(size, "rebuilt", OF_THE_BARE_LOOP[size], effort),
        *_with_other_texts(size, "changing", OF_THE_BARE_LOOP_IF_TEXTS_CHANGE, effort),
        *_for_orientation(size, node, effort),
    ]


def _with_targets(size: str, node: Node | None, effort: Effort) -> list[Row]:
    work = work_of(SIZES[size])
    peers: list[Peer] = [Ours(work), Bare(work)]
    if node is not None:
        peers.append(Original(work, node))
    rows, values = _in_turn(peers, effort)
    if node is not None:
        faster = ratio(values["original"], values["ours"])
        rows.append(at_least("original / ours", faster, FASTER_THAN_THE_ORIGINAL[size]))
    of_bare = ratio(values["ours"], values["bare loop"])
    return [*rows, at_most("ours / bare loop", of_bare, OF_THE_BARE_LOOP[size])]


def _with_other_texts(
    size: str, turns: Literal["rebuilt", "changing"], limit: float, effort: Effort
) -> list[Row]:
    """Measure where providers give equal texts that are other objects, or other texts."""
    work = work_of(SIZES[size], turns)
    rows, values = _in_turn([Ours(work), Bare(work)], effort)
    of_bare = ratio(values["ours"], values["bare loop"])
    named = [row._replace(what=f"{row.what}, texts {turns}") for row in rows]
    return [*named, at_most(f"ours / bare loop, texts {turns}", of_bare, limit)]


def _for_orientation(size: str, node: Node | None, effort: Effort) -> list[Row]:
    """Measure others side by side with us, but more briefly."""
    work = work_of(SIZES[size])
    ours = Ours(work)
    fewer = effort._replace(rounds=effort.fewer_rounds)
    rows = []
    if node is not None:
        [_, row], _ = _in_turn([ours, Original(work, node, guard=False)], fewer)
        rows.append(row._replace(what="original, its guard off"))
    for kind in OTHERS:
        try:
            peer = kind(work)
        except UnavailableError as error:
            rows.append(Row(kind.name, "", str(error)))
            continue
        [_, row], _ = _in_turn([ours, peer], fewer)
        rows.append(row)
    return rows


def _in_turn(peers: Sequence[Peer], effort: Effort) -> tuple[list[Row], dict[str, list[float]]]:
    """Measure *peers*, of which we are the first, and make sure that all give the same texts."""
    outputs = {peer.name: peer.run() for peer in peers}
    different = [name for name, output in outputs.items() if output != outputs["ours"]]
    if different:
        raise AssertionError(f"{', '.join(different)} did not give the text that ours gave")
    values = alternate({peer.name: peer.measure for peer in peers}, effort)
    rows = [Row(name, *durations(spread(measured))) for name, measured in values.items()]
    to_ours = [f"{ratio(measured, values['ours']).median:.2f}" for measured in values.values()]
    return [row._replace(to_ours=to) for row, to in zip(rows, to_ours, strict=True)], values
