"""From an assembly to the request of a provider, and from its response to calls of tools.

Pure functions of the assembly and the history: no network, and no provider's package.
"""

from __future__ import annotations

from dsh_prompt.adapters.anthropic import anthropic_messages
from dsh_prompt.adapters.base import Adapter
from dsh_prompt.adapters.calls import ToolCall, ToolResult
from dsh_prompt.adapters.chat_completions import openai_chat
from dsh_prompt.adapters.deepseek import deepseek_chat
from dsh_prompt.adapters.gemini import gemini_generate
from dsh_prompt.adapters.limits import Figure, Limits
from dsh_prompt.adapters.preflight import OnInvalid, PreflightError, Problem
from dsh_prompt.adapters.registry import adapter
from dsh_prompt.adapters.request import Request
from dsh_prompt.adapters.responses import openai_responses
from dsh_prompt.model.deferred import DEFERRED, Deferred, FoundTools

__all__ = [
    "DEFERRED",
    "Adapter",
    "Deferred",
    "Figure",
    "FoundTools",
    "Limits",
    "OnInvalid",
    "PreflightError",
    "Problem",
    "Request",
    "ToolCall",
    "ToolResult",
    "adapter",
    "anthropic_messages",
    "deepseek_chat",
    "gemini_generate",
    "openai_chat",
    "openai_responses",
]
