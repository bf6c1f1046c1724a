"""Digests of what the model is told: equal where, and only where, the bytes are equal."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.render.prompt import render_context_snapshot, render_sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolSchema


@attrs.frozen
class Fingerprint:
    """SHA-256 hex digests of an assembly's rendered bytes.

    *prefix* covers the tools and the sections before the first one that is not cacheable,
    *system* the system prompt, *tools* the tool list, *contexts* the snapshot, *all* the
    three together.
    """

    prefix: str
    system: str
    tools: str
    contexts: str
    all: str


def fingerprint(assembly: PromptAssembly) -> Fingerprint:
    """Digest the rendered *assembly*; raises what rendering raises."""
    texts = render_sections(assembly)
    tools = _tool_bytes(assembly._tools)
    system = _joined(texts)
    contexts = _bytes(render_context_snapshot(assembly))
    return Fingerprint(
        prefix=_digest(tools, _joined(texts[: stable_count(assembly)])),
        system=_digest(system),
        tools=_digest(tools),
        contexts=_digest(contexts),
        all=_digest(system, tools, contexts),
    )


def prefix_of(tools: Iterable[ToolSchema], stable: str) -> str:
    """Give the digest *prefix* of what has these *tools*, and *stable* as its stable text."""
    return _digest(_tool_bytes(tools), _bytes(stable))


def stable_count(assembly: PromptAssembly) -> int:
    """Count the sections of the stable prefix: those before the first not cacheable one."""
    return sum(1 for _ in takewhile(lambda item: item.cacheable, assembly._facts("section")))


def _joined(texts: Iterable[str]) -> bytes:
    return _bytes("\n\n".join(filter(None, texts)))


def _bytes(text: str) -> bytes:
    # A lone surrogate can come out of a file name; it must not fail here.
    return text.encode("utf-8", "surrogatepass")


def _tool_bytes(tools: Iterable[ToolSchema]) -> bytes:
    import json  # noqa: PLC0415 - on demand, as hashes

    sent = [[tool.name, tool.description, tool.parameters] for tool in tools]
    return _bytes(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))


def _digest(*parts: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415 - hashes on demand

    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
