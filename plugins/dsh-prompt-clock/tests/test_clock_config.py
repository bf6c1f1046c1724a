"""The settings and how the host takes them."""

from __future__ import annotations

import re
from typing import Any

import dsh_prompt_clock
import pytest
from dsh_prompt_clock import Config

from dsh_prompt import PromptError, SystemPrompt


def test_defaults() -> None:
    """Every setting has a default."""
    assert Config() == Config(resolution="day", zone="UTC")


@pytest.mark.parametrize("value", ["", "second", "Day", None, True, 1])
def test_no_resolution(value: Any) -> None:
    """What is no resolution raises an error that names the field and the value."""
    message = f'resolution must be "day" or "hour" or "minute", not {value!r}'
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Config(resolution=value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        " UTC",
        "UTC\n",
        "LOCAL",
        "Europe",
        "Europe/",
        "Europe/Berlin/",
        "/Europe/Berlin",
        "Europe//Berlin",
        "Nowhere/Land",
        "../zoneinfo/UTC",
        "/etc/localtime",
        "localtime",
        "posixrules",
        "zone.tab",
        "leapseconds",
        "UTC+1",
        "Europe/Berl\u0131n",
        "UTC\0",
        "\ud800",
        "x" * 1_000_000,
        "{{zone}}",
        None,
        True,
        1,
        b"UTC",
    ],
)
def test_no_zone(value: Any) -> None:
    """What is no zone raises an error that names the field and the value."""
    with pytest.raises(ValueError, match=r'^zone must be "local" or the IANA name of') as caught:
        Config(zone=value)
    assert str(caught.value).endswith(f"not {value!r}")


@pytest.mark.parametrize(
    "value", ["UTC", "local", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Ushuaia", "EST5EDT"]
)
def test_zones(value: str) -> None:
    """Names of zones are taken, those with signs and several parts as well."""
    assert Config(zone=value).zone == value


def test_host_refuses_a_wrong_value(dsh_prompt_host: SystemPrompt) -> None:
    """A host that is given a wrong value says which, and the plugin stays out."""
    with pytest.raises(PromptError, match="zone must be"):
        dsh_prompt_host.load(dsh_prompt_clock, config={"zone": "Mars/Olympus"})
    assert dsh_prompt_host.plugins == []
