"""Structuring: documents into attrs classes, strictly, with the place of every error."""

from __future__ import annotations

import enum
import gc
import weakref
from collections.abc import Mapping, Sequence  # noqa: TC003 - cattrs resolves the annotations
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest

from dsh_prompt import ConfigError
from dsh_prompt.structuring import structure


class Colour(enum.Enum):
    """An enumeration of strings."""

    RED = "red"
    BLUE = "blue"


@attrs.frozen
class Inner:
    """Has two settings."""

    number: int = 0
    text: str = ""


@attrs.frozen
class Everything:
    """Has a setting of every type that a plugin's configuration may have."""

    string: str = ""
    integer: int = 0
    number: float = 0.0
    boolean: bool = False
    optional: str | None = None
    choice: Literal["a", "b", 1] = "a"
    colour: Colour = Colour.RED
    path: Path = Path()
    anything: Any = None
    inner: Inner = attrs.field(factory=Inner)
    maybe: Inner | None = None
    tuple_: tuple[str, ...] = ()
    pair: tuple[int, str] = (0, "")
    list_: list[int] = attrs.field(factory=list)
    sequence: Sequence[str] = ()
    set_: frozenset[str] = frozenset()
    inners: tuple[Inner, ...] = ()
    mapping: dict[str, Any] = attrs.field(factory=dict)
    read_only: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Required:
    """Has a setting without a default."""

    token: str


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("string", "", ""),
        ("integer", -5, -5),
        ("number", 1.5, 1.5),
        ("number", 1, 1),
        ("boolean", True, True),
        ("optional", None, None),
        ("optional", "x", "x"),
        ("choice", "b", "b"),
        ("choice", 1, 1),
        ("colour", "blue", Colour.BLUE),
        ("path", "/tmp", Path("/tmp")),
        ("anything", {"x": [1, None]}, {"x": [1, None]}),
        ("inner", {"number": 1}, Inner(1)),
        ("inner", {}, Inner()),
        ("maybe", None, None),
        ("maybe", {"text": "x"}, Inner(text="x")),
        ("tuple_", ["a", "b"], ("a", "b")),
        ("tuple_", ("a",), ("a",)),
        ("pair", [1, "a"], (1, "a")),
        ("list_", [1, 2], [1, 2]),
        ("sequence", ["a"], ("a",)),
        ("set_", ["a", "a"], frozenset({"a"})),
        ("inners", [{"number": 1}, {}], (Inner(1), Inner())),
        ("mapping", {"a": {"b": 1}}, {"a": {"b": 1}}),
        ("read_only", {"a": 1}, {"a": 1}),
    ],
)
def test_a_value_of_the_right_type_is_taken(field: str, given: object, expected: object) -> None:
    """As it is, or as the immutable form of a list."""
    value = getattr(structure({field: given}, Everything), field)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("field", "given", "path"),
    [
        ("string", 5, "string"),
        ("string", None, "string"),
        ("string", b"x", "string"),
        ("integer", "5", "integer"),
        ("integer", True, "integer"),
        ("integer", 5.0, "integer"),
        ("integer", None, "integer"),
        ("number", "1.5", "number"),
        ("number", True, "number"),
        ("boolean", 1, "boolean"),
        ("boolean", "true", "boolean"),
        ("boolean", None, "boolean"),
        ("optional", 5, "optional"),
        ("choice", "c", "choice"),
        ("choice", True, "choice"),
        ("choice", None, "choice"),
        ("colour", "green", "colour"),
        ("path", 5, "path"),
        ("inner", 5, "inner"),
        ("inner", None, "inner"),
        ("inner", {"number": "5"}, "inner.number"),
        ("maybe", {"number": "5"}, "maybe.number"),
        ("tuple_", "abc", "tuple_"),
        ("tuple_", {"a": 1}, "tuple_"),
        ("tuple_", ["a", 5], "tuple_[1]"),
        ("pair", ["1", "a"], "pair[0]"),
        ("pair", [1, 2], "pair[1]"),
        ("list_", [1, "2"], "list_[1]"),
        ("sequence", "abc", "sequence"),
        ("set_", "abc", "set_"),
        ("inners", [{}, {"number": "5"}], "inners[1].number"),
        ("mapping", [("a", 1)], "mapping"),
        ("read_only", "a", "read_only"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_path(
    field: str, given: object, path: str
) -> None:
    """Nothing is coerced: "5" is not 5, 1 is not true, and true is not 1."""
    with pytest.raises(ConfigError) as caught:
        structure({field: given}, Everything)
    assert caught.value.path == path
    assert path in str(caught.value)


@pytest.mark.parametrize(
    ("data", "path", "nearest"),
    [
        ({"sting": ""}, "sting", "string"),
        ({"inner": {"numbre": 1}}, "inner.numbre", "number"),
        ({"maybe": {"numbre": 1}}, "maybe.numbre", "number"),
        ({"inners": [{}, {"txet": ""}]}, "inners[1].txet", "text"),
    ],
)
def test_an_unknown_key_is_refused_with_path_and_nearest(
    data: dict[str, Any], path: str, nearest: str
) -> None:
    """At any depth."""
    with pytest.raises(ConfigError) as caught:
        structure(data, Everything)
    assert caught.value.path == path
    assert f'{path}: unknown key; did you mean "{nearest}"?' in str(caught.value)


def test_the_path_begins_where_the_data_stands() -> None:
    """In the file that it comes from."""
    with pytest.raises(ConfigError) as caught:
        structure(
            {"inner": {"number": "5"}},
            Everything,
            where="plugins.config.x",
            place=lambda path: ("some.toml", len(path)),
        )
    path = "plugins.config.x.inner.number"
    assert (caught.value.file, caught.value.line, caught.value.path) == (
        "some.toml",
        len(path),
        path,
    )
    assert str(caught.value).startswith(f"some.toml:{len(path)}: {path}: ")


def test_without_a_file_the_error_says_what_was_structured() -> None:
    """So that it means something by itself."""
    with pytest.raises(ConfigError, match=r"^state: string: expected"):
        structure({"string": 5}, Everything, subject="state")


def test_a_missing_key_is_named() -> None:
    """Where a class has no default."""
    with pytest.raises(ConfigError, match="token: is missing"):
        structure({}, Required)


def test_every_problem_is_told() -> None:
    """The first one's path is the error's."""
    with pytest.raises(ConfigError) as caught:
        structure({"string": 5, "inner": {"number": "5", "other": 1}}, Everything)
    assert len(str(caught.value).splitlines()) == 3


def test_what_a_validator_raises_is_told() -> None:
    """With its text."""

    def positive(_: object, __: object, value: int) -> None:
        if value < 0:
            raise ValueError("must not be negative")

    @attrs.define
    class Checked:
        number: int = attrs.field(default=0, validator=positive)

    with pytest.raises(ConfigError, match="must not be negative"):
        structure({"number": -1}, Checked)


@pytest.mark.parametrize("data", [None, 5, "x", ["x"], [("string", "x")]])
def test_a_document_is_a_mapping(data: object) -> None:
    """Pairs are none."""
    with pytest.raises(ConfigError, match="expected a table"):
        structure(data, Everything)


def test_the_values_of_a_mapping_are_structured() -> None:
    """Classes are built, and wrong types refused with their path."""

    @attrs.define
    class Maps:
        inners: dict[str, Inner] = attrs.field(factory=dict)

    assert structure({"inners": {"a": {"number": 1}}}, Maps) == Maps({"a": Inner(1)})
    with pytest.raises(ConfigError) as caught:
        structure({"inners": {"a": {"number": "1"}}}, Maps)
    assert caught.value.path == "inners.a.number"


@pytest.mark.parametrize(
    ("given", "right"), [("x", True), (5, True), (["x"], True), (True, False), ([5], False)]
)
def test_a_union_of_plain_types_is_structured(given: object, *, right: bool) -> None:
    """A setting may be one of several types, and is of one of them."""

    @attrs.define
    class Unions:
        value: str | int | list[str] = ""

    if right:
        assert structure({"value": given}, Unions) == Unions(given)  # type: ignore[arg-type]
    else:
        with pytest.raises(ConfigError, match="value"):
            structure({"value": given}, Unions)
        assert structure({"value": "x"}, Unions) == Unions("x")


@pytest.mark.parametrize("given", ["abc", 5, {"a": 1}])
def test_a_bare_list_is_a_list(given: object) -> None:
    """Whatever its items are."""

    @attrs.define
    class Bare:
        items: list = attrs.field(factory=list)  # type: ignore[type-arg]

    with pytest.raises(ConfigError, match="items: expected a list"):
        structure({"items": given}, Bare)


def test_a_class_that_was_structured_is_garbage() -> None:
    """A plugin's configuration class goes with the plugin."""

    @attrs.define
    class Passing:
        number: int = 0

    structure({"number": 1}, Passing)
    reference = weakref.ref(Passing)
    del Passing
    gc.collect()
    assert reference() is None
