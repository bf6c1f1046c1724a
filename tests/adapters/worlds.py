"""Generated assemblies, for what has to hold of every request."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dsh_prompt import AssembledSection, PromptAssembly, ToolSchema

_texts = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["", " ", "\n"])
_names = st.sampled_from(["read", "write", "mcp/files", "a.b", "1st", "a" * 70]) | st.text(
    st.characters(codec="utf-8"), min_size=1, max_size=6
)
_keys = st.sampled_from(["path", "text", "filter[id]", "x" * 65]) | st.text("ab_", min_size=1)

_types = st.sampled_from(["string", "integer", "array", "object", "null", "str"])
_leaves = st.fixed_dictionaries(
    {},
    optional={
        "type": _types | st.lists(_types, max_size=2, unique=True),
        "description": _texts,
        "enum": st.lists(st.integers(), max_size=2, unique=True),
    },
)


def _branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["array", "object"]),
            "properties": st.dictionaries(_keys, inner, max_size=2),
            "items": inner | few,
            "anyOf": few,
            "oneOf": few,
            "not": inner,
        },
    )


schemas = st.recursive(_leaves, _branches, max_leaves=4)
roots = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object"] * 5 + ["string"]),
        "properties": st.dictionaries(_keys, schemas, max_size=3),
    },
) | _branches(schemas)

tools = st.builds(ToolSchema, _names, _texts, roots)
sections = st.builds(
    AssembledSection,
    _texts,
    _texts,
    literal=st.just(value=True),
    cacheable=st.booleans(),
    title=st.none() | _texts,
)


@st.composite
def assemblies(draw: st.DrawFn) -> PromptAssembly:
    """Give an assembly with some sections, tools good and bad, and denials."""
    made = PromptAssembly(
        draw(st.lists(sections, max_size=4)), tools=draw(st.lists(tools, max_size=4))
    )
    for tool in made.tools:
        if draw(st.booleans()):
            made.deny(tool.name, "denied")
    return made


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, bool]]:
    """Give what a history is made of: (text, whether the model calls a tool in between)."""
    texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.strip)
    return draw(st.lists(st.tuples(texts, st.booleans()), min_size=1, max_size=3))
