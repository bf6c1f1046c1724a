"""Whatever is assembled: what passes the checks keeps the providers' rules and clients' types."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from dsh_prompt.adapters import PreflightError
from tests.adapters.cases import ADAPTERS, reply
from tests.adapters.rules import broken_rules
from tests.adapters.test_request import as_sent_by_google
from tests.adapters.worlds import assemblies, histories

if TYPE_CHECKING:
    from dsh_prompt import PromptAssembly
    from dsh_prompt.adapters import Adapter

generated = partial(
    settings,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    """Leave out what would be logged of thousands of bad tools."""
    logger = logging.getLogger("dsh_prompt.adapters")
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(logging.NOTSET)


def messages(adapter: Adapter, history: list[tuple[str, bool]]) -> list[Any]:
    """Give *history* in the form of the provider."""
    made: list[Any] = []
    for text, calls in history:
        made.append(adapter.user_message(text))
        if calls:
            response = reply(adapter.name, "read", {"path": "a"})
            made += adapter.reply_messages(response)
            results = [(call, text, False) for call in adapter.tool_calls(response)]
            made += adapter.result_messages(results)
    return made


@generated(max_examples=100)
@given(assembly=assemblies(), history=histories())
def test_what_passes_breaks_no_rule(
    assembly: PromptAssembly, history: list[tuple[str, bool]]
) -> None:
    """Without the bad tools, of which all are told otherwise."""
    for name, adapter in ADAPTERS.items():
        past = messages(adapter, history)
        left_out = adapter(assembly, past, model="m", on_invalid="skip")
        if left_out.skipped:
            with pytest.raises(PreflightError) as caught:
                adapter(assembly, past, model="m")
            assert caught.value.problems == left_out.skipped
        else:
            assert adapter(assembly, past, model="m") == left_out
        body = left_out.to_dict()
        sent = as_sent_by_google(body) if name == "gemini_generate" else body
        assert broken_rules(name, sent) == []


# The clients' own types


def types_of(name: str) -> Any:
    """Give what checks a request as the client's own types do."""
    pydantic = pytest.importorskip("pydantic", reason="pip install the extra `clients`")
    if name == "gemini_generate":
        types = pytest.importorskip("google.genai.types", reason="needs google-genai")

        def check(body: dict[str, Any]) -> None:
            types.GenerateContentConfig.model_validate(body.get("config", {}))
            for content in body["contents"]:
                types.Content.model_validate(content)

        return check
    module, kind = {
        "openai_chat": ("openai.types.chat.completion_create_params", "CompletionCreate"),
        "deepseek_chat": ("openai.types.chat.completion_create_params", "CompletionCreate"),
        "openai_responses": ("openai.types.responses.response_create_params", "ResponseCreate"),
        "anthropic_messages": ("anthropic.types.message_create_params", "MessageCreate"),
    }[name]
    package = pytest.importorskip(module, reason="pip install the extra `clients`")
    adapter = pydantic.TypeAdapter(getattr(package, f"{kind}ParamsNonStreaming"))
    return lambda body: consume(adapter.validate_python(body))


def consume(value: Any) -> None:
    """Look at every item: what is declared as an iterable is checked when it is read."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | Iterator):
        return
    for item in value:
        consume(item)


def test_generated_bodies_have_the_types_of_the_clients() -> None:
    """Those that their methods are annotated with: 500 assemblies, with every adapter."""
    checks = {name: types_of(name) for name in ADAPTERS}
    count = 0

    @generated(max_examples=500)
    @given(assembly=assemblies(), history=histories())
    def passes(assembly: PromptAssembly, history: list[tuple[str, bool]]) -> None:
        nonlocal count
        for name, check in checks.items():
            past = messages(ADAPTERS[name], history)
            check(ADAPTERS[name](assembly, past, model="m", on_invalid="skip").to_dict())
        count += 1

    passes()
    assert count >= 500


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_types_of_the_client_find_what_is_wrong(name: str) -> None:
    """Or else the test above would show nothing."""
    check = types_of(name)
    tools = {"config": {"tools": 1}} if name == "gemini_generate" else {"tools": [{"name": 1}]}
    history = {"contents": [], "messages": [], "input": [], "max_tokens": 1}
    with pytest.raises(ValueError, match="validation error"):
        check({"model": "m", **history, **tools})
