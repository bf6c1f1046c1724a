"""The providers' own clients, against a server that checks what they send and answers them.

Each test is one exchange: a question, a call of a tool, its result, and the answer.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.cases import ADAPTERS, HISTORY, NOW, READ, WRITE, assembly
from tests.adapters.replies import ARGUMENTS, SAID
from tests.adapters.server import Server, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dsh_prompt import PromptAssembly
    from dsh_prompt.adapters import Request

every_adapter = pytest.mark.parametrize("name", ADAPTERS)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give a server that runs."""
    with running() as made:
        yield made


def openai_client(server: Server, name: str, kind: str) -> Any:
    """Give OpenAI's client, for a server of its own or DeepSeek's."""
    openai = pytest.importorskip("openai", reason="pip install the extra `clients`")
    base = "deepseek" if name == "deepseek_chat" else "v1"
    return getattr(openai, kind)(api_key="k", base_url=f"{server.url}/{base}", max_retries=0)


def anthropic_client(server: Server, kind: str) -> Any:
    """Give Anthropic's client."""
    anthropic = pytest.importorskip("anthropic", reason="pip install the extra `clients`")
    return getattr(anthropic, kind)(api_key="k", base_url=server.url, max_retries=0)


def google_client(server: Server) -> Any:
    """Give Google's client."""
    genai = pytest.importorskip("google.genai", reason="pip install the extra `clients`")
    return genai.Client(api_key="k", http_options={"base_url": server.url})


async def sync(server: Server, name: str, request: Request) -> Any:
    """Send *request* with the synchronous client."""
    if name == "anthropic_messages":
        with anthropic_client(server, "Anthropic") as client:
            return client.messages.create(**request)
    if name == "gemini_generate":
        with google_client(server) as client:
            return client.models.generate_content(**request)
    with openai_client(server, name, "OpenAI") as client:
        if name == "openai_responses":
            return client.responses.create(**request)
        return client.chat.completions.create(**request)


async def sync_stream(server: Server, name: str, request: Request) -> Any:
    """Send *request* with the synchronous client, and let it put the stream together."""
    if name == "anthropic_messages":
        with (
            anthropic_client(server, "Anthropic") as client,
            client.messages.stream(**request) as stream,
        ):
            return stream.get_final_message()
    if name == "gemini_generate":
        with google_client(server) as client:
            return list(client.models.generate_content_stream(**request))
    with openai_client(server, name, "OpenAI") as client:
        if name == "openai_responses":
            with client.responses.stream(**request) as stream:
                return stream.get_final_response()
        state = chat_state()
        for chunk in client.chat.completions.create(**request, stream=True):
            state.handle_chunk(chunk)
        return state.get_final_completion()


async def async_(server: Server, name: str, request: Request) -> Any:
    """Send *request* with the asynchronous client."""
    if name == "anthropic_messages":
        async with anthropic_client(server, "AsyncAnthropic") as client:
            return await client.messages.create(**request)
    if name == "gemini_generate":
        async with google_client(server).aio as client:
            return await client.models.generate_content(**request)
    async with openai_client(server, name, "AsyncOpenAI") as client:
        if name == "openai_responses":
            return await client.responses.create(**request)
        return await client.chat.completions.create(**request)


async def async_stream(server: Server, name: str, request: Request) -> Any:
    """Send *request* with the asynchronous client, and let it put the stream together."""
    if name == "anthropic_messages":
        async with (
            anthropic_client(server, "AsyncAnthropic") as client,
            client.messages.stream(**request) as stream,
        ):
            return await stream.get_final_message()
    if name == "gemini_generate":
        async with google_client(server).aio as client:
            stream = await client.models.generate_content_stream(**request)
            return [chunk async for chunk in stream]
    async with openai_client(server, name, "AsyncOpenAI") as client:
        if name == "openai_responses":
            async with client.responses.stream(**request) as stream:
                return await stream.get_final_response()
        state = chat_state()
        async for chunk in await client.chat.completions.create(**request, stream=True):
            state.handle_chunk(chunk)
        return state.get_final_completion()


def chat_state() -> Any:
    """Give what puts chunks of Chat Completions together in OpenAI's client."""
    streaming = pytest.importorskip("openai.lib.streaming.chat")
    return streaming.ChatCompletionStreamState()


every_way = pytest.mark.parametrize(
    "send",
    [sync, sync_stream, async_, async_stream],
    ids=["sync", "sync-stream", "async", "async-stream"],
)


def exchange(
    send: Callable[..., Any], server: Server, name: str, made: PromptAssembly
) -> tuple[list[Any], Any]:
    """Ask, run the called tools if they may run, and give the calls and the last response."""
    adapter = ADAPTERS[name]
    history = [adapter.user_message("What is in a.py?")]
    calls: list[Any] = []

    async def step() -> Any:
        request = adapter(made, history, model="model-1")
        response = await send(server, name, request)
        found = request.tool_calls(response)
        calls.extend(found)
        history.extend(adapter.reply_messages(response))
        results = [(call, call.refusal or "print(1)", call.refusal is not None) for call in found]
        history.extend(adapter.result_messages(results))
        return response if not found else await step()

    return calls, asyncio.run(step())


def said(name: str, response: Any) -> str:
    """Give the text of a response."""
    if name == "anthropic_messages":
        return str(response.content[-1].text)
    if name == "gemini_generate":
        chunks = response if isinstance(response, list) else [response]
        return "".join(chunk.text for chunk in chunks if chunk.text)
    if name == "openai_responses":
        return str(response.output_text)
    return str(response.choices[0].message.content)


@every_way
@every_adapter
def test_an_exchange_with_a_call_of_a_tool(
    server: Server, name: str, send: Callable[..., Any]
) -> None:
    """The server finds nothing to refuse, in either request."""
    before = len(server.bodies)
    calls, response = exchange(send, server, name, assembly(READ, WRITE))
    assert [(call.name, call.arguments, call.refusal) for call in calls] == [
        ("read", ARGUMENTS, None)
    ]
    assert said(name, response) == SAID
    assert [provider for provider, _ in server.bodies[before:]] == [name, name]
    # What clients read more out of a response is theirs, and unknown to the server.
    assert '"parsed' not in json.dumps(server.bodies[before:])


@every_way
@every_adapter
def test_a_denied_tool_and_a_mapped_name(
    server: Server, name: str, send: Callable[..., Any]
) -> None:
    """The mask reaches the model where the provider has one; `authorize` refuses elsewhere."""
    made = assembly(READ, NOW)
    made.deny("read", "plan mode")
    calls, response = exchange(send, server, name, made)
    masked = name in ("openai_chat", "openai_responses", "gemini_generate")
    expected = ("time.now", None) if masked else ("read", "plan mode")
    assert [(call.name, call.refusal) for call in calls] == [expected]
    assert said(name, response) == SAID


@every_way
@every_adapter
def test_where_all_tools_are_denied_none_is_called(
    server: Server, name: str, send: Callable[..., Any]
) -> None:
    """Every provider can be told that."""
    made = assembly(READ)
    made.deny("read", "plan mode")
    calls, response = exchange(send, server, name, made)
    assert calls == []
    assert said(name, response) == SAID


@every_adapter
def test_what_arrives_is_what_the_request_says(server: Server, name: str) -> None:
    """The client changes nothing of the history and the tools, but for Google's spelling."""
    adapter = ADAPTERS[name]
    request = adapter(assembly(READ), [adapter.user_message("Hi")], model="model-1")
    asyncio.run(sync(server, name, request))
    _, body = server.bodies[-1]
    if name == "gemini_generate":
        [declared] = body["tools"][0]["functionDeclarations"]
        assert declared["parameters_json_schema"] == READ.parameters
        assert body["contents"] == request["contents"]
    else:
        assert body == request.to_dict()
        assert HISTORY[name] in body


@every_adapter
def test_the_server_refuses_what_breaks_a_rule(server: Server, name: str) -> None:
    """Or else the tests above would show nothing."""
    adapter = ADAPTERS[name]
    request = adapter(assembly(READ), [], model="model-1").to_dict()
    tools = request.get("config", request)["tools"]
    tool = tools[0].get("function") or tools[0].get("function_declarations", tools)[0]
    tool["name"] = "a name"
    request[HISTORY[name]] = [adapter.user_message("Hi")]
    with pytest.raises(Exception, match="invalid names") as caught:
        asyncio.run(sync(server, name, request))  # type: ignore[arg-type]
    assert "400" in str(caught.value)
