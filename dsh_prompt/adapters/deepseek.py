"""DeepSeek: ``client.chat.completions.create(**deepseek_chat(...))``, with OpenAI's client.

- The API is Chat Completions. Its caching is on for everybody and takes no argument: what counts
  is that a request starts as an earlier one did. `user_id`, an option, keeps the caches of users
  apart. Source: https://api-docs.deepseek.com/guides/kv_cache.
- `tool_choice` is ``none``, ``auto``, ``required`` or one tool: there is no way to say that some
  are denied, only that all are. Source: https://api-docs.deepseek.com/api/create-chat-completion.
- A reply that calls tools goes back with its `reasoning_content`, or the next request fails.
  Source: https://api-docs.deepseek.com/guides/thinking_mode.
- Arguments that OpenAI's client does not know go into its `extra_body`: ``thinking``, ``user_id``.
"""

from __future__ import annotations

from dsh_prompt.adapters.chat_completions import ChatCompletions
from dsh_prompt.adapters.limits import DEEPSEEK

deepseek_chat = ChatCompletions("deepseek_chat", DEEPSEEK)
