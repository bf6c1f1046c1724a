"""A server of MCP in plain Python: quick to start, and it does what its plan says, good or bad.

Its one argument is a JSON file, the plan, which is read again for each list. It writes its process
id beside it. The tool `do` makes it misbehave when a test wants it to.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

PLAN = Path(sys.argv[1])


def plan() -> dict[str, Any]:
    said: dict[str, Any] = json.loads(PLAN.read_text())
    return said


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hang() -> None:
    time.sleep(600)


def flood() -> None:
    while True:
        send({"method": "notifications/message", "params": {"level": "info", "data": "x"}})


def gush() -> None:
    while True:
        sys.stdout.write("x" * 65536)


def babble() -> None:
    while True:
        sys.stdout.write("not JSON\n")


def think() -> None:
    time.sleep(0.7)


def die() -> None:
    os._exit(3)


MISDEEDS = {
    "hang": hang,
    "flood": flood,
    "gush": gush,
    "babble": babble,
    "think": think,
    "die": die,
}


def tools(cursor: str | None) -> dict[str, Any]:
    said = plan()
    listed = list(said.get("tools", []))
    if said.get("shuffle"):
        # One order for all pages of a process, another one in the next.
        random.Random(os.getpid()).shuffle(listed)
    size = said.get("page", len(listed) or 1)
    start = int(cursor or 0)
    page: dict[str, Any] = {"tools": listed[start : start + size]}
    if said.get("circle"):
        page["nextCursor"] = "0"
    elif start + size < len(listed):
        page["nextCursor"] = str(start + size)
    page.update(said.get("page_says", {}))
    return page


def call(params: dict[str, Any]) -> dict[str, Any]:
    arguments = params.get("arguments", {})
    if params["name"] == "do":
        if arguments["what"] == "change":
            send({"method": "notifications/tools/list_changed"})
        else:
            MISDEEDS[arguments["what"]]()
    said = plan()
    if params["name"] in said.get("results", {}):
        ready: dict[str, Any] = said["results"][params["name"]]
        return ready
    names = sorted(said.get("tell_env", []))
    env = {name: os.environ.get(name) for name in names}
    answer = {"called": params["name"], "with": arguments, **({"env": env} if names else {})}
    return {"content": [{"type": "text", "text": json.dumps(answer)}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    said = plan()
    if misdeed := said.get("at", {}).get(method):
        MISDEEDS[misdeed]()
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "bare", "version": "1"},
            **({"instructions": said["instructions"]} if "instructions" in said else {}),
        }
    if method == "tools/list":
        return tools(params.get("cursor"))
    if method == "tools/call":
        return call(params)
    return {} if method == "ping" else None


def main() -> None:
    with PLAN.with_suffix(".pids").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params", {}))
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"id": message["id"], "result": result})
        if plan().get("deaf_after") == message["method"]:
            hang()


main()
