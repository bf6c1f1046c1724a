"""Hypothesis strategies for everything that is registered, assembled and rendered."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.laws.world import KINDS, SCOPED_KINDS, Item

#: Code points whose UTF-16 order is not their code-point order, and lone surrogates.
UTF16_ALPHABET = "aZ\u00e9\ue000\uffff\U0001f600\U0010ffff\ud800\udfff"

names = st.sampled_from(["a", "b", "B", "\u00e9", "\ue000", "\U0001f600"])
variable_names = st.sampled_from(["a", "b", "cwd", "x_1"])
orders = st.sampled_from([-2000, -1.5, 0, 1, 1.0, 50, 1e9])
layers = st.integers(0, 2)

_references = ["{{a}}", "{{b}}", "{{cwd}}", "{{x_1}}", "{{nobody}}", "{{ a }}", "{{}}", "{{A}}"]
_prose = ["a", " ", "\n", "{{a\n}}", "\U0001f600", "prose with words"]
_braces = ["{", "}", "{{", "}}", "{{{{", "}}}}"]
_fragments = st.sampled_from([*_references, *_prose, *_braces])
brace_texts = st.lists(_fragments, max_size=8).map("".join) | st.text("{}a \n\U0001f600")
any_texts = st.text() | brace_texts
utf16_names = st.text(UTF16_ALPHABET, min_size=1, max_size=4)
tool_names = st.text(UTF16_ALPHABET.encode("utf-8", "ignore").decode(), min_size=1, max_size=4)
variables = st.dictionaries(variable_names, st.none() | any_texts)
plain_texts = st.text(st.characters(codec="utf-8", exclude_characters="{}"))

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(st.text(), json_values, max_size=4)


def items(kinds: tuple[str, ...] = KINDS) -> st.SearchStrategy[Item]:
    """Give items of the *kinds* for the global layer and two scopes, one below the other."""
    return st.builds(
        Item,
        kind=st.sampled_from(kinds),
        layer=layers,
        name=variable_names | names,
        order=orders,
        text=plain_texts,
        dynamic=st.booleans(),
    ).map(_valid)


def _valid(item: Item) -> Item:
    if item.kind == "variable":
        item = item._replace(name="v" + "".join(filter(str.isascii, item.name)).lower())
    if item.kind in SCOPED_KINDS and item.layer == 0:
        item = item._replace(layer=1)
    return item


#: What the state machine makes an entry of: kind, names and order.
Draft = tuple[str, list[str], float]

_draft_kinds = st.sampled_from(
    [*["section", "tool", "listen"] * 2, "context", "variable", "tools", "suppress"]
)
_draft_orders = st.sampled_from([-2000, -1.5, 0, 1])
_draft_names = st.lists(variable_names, min_size=1, max_size=2, unique=True)
drafts: st.SearchStrategy[list[Draft]] = st.lists(
    st.tuples(_draft_kinds, _draft_names, _draft_orders), min_size=1, max_size=4
)

_strings = st.lists(st.text(), max_size=3)
runtime_states = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["workdir", "model", "provider", "task", "summary"], st.text()),
        **dict.fromkeys(["permission_mode"], st.sampled_from(["default", "plan", "other"])),
        **dict.fromkeys(["enabled_tools", "open_files", "loaded_skills"], _strings),
        **dict.fromkeys(["project_notes", "discovered_tools"], _strings),
        "todos": st.lists(
            st.fixed_dictionaries(
                {
                    "content": st.text(),
                    "status": st.sampled_from(["pending", "in_progress", "completed"]),
                }
            ),
            max_size=3,
        ),
        "memories": st.lists(
            st.fixed_dictionaries(
                {"content": st.text(), "score": st.floats(allow_nan=False, allow_infinity=False)}
            ),
            max_size=3,
        ),
        "extra": json_objects,
    },
)
