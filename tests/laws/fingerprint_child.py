"""Print the fingerprints of a host that holds something of everything.

Run as a program in a fresh process; the order of its registrations varies with the hash seed.
"""

from __future__ import annotations

import json
import sys

from dsh_prompt import AssembleContext, Fingerprint, RuntimeState, SystemPrompt, ToolSchema

NAMES = {"i", "I", "\u0131", "\u0130", "\u00e4", "z", "Z", "\ue000", "\U0001f600", "ss", "\u00df"}
FIELDS = ("prefix", "system", "tools", "contexts", "all")


def fingerprint() -> Fingerprint:
    """Assemble the host and give its fingerprint."""
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    for name in NAMES:
        prompt.section(name=name, order=10, text=f"Rule {name} in {{{{cwd}}}}.")
        scope.context(name=name, order=1.5, text=lambda name=name: f"State {name}: \u00e9")
        prompt.tool(ToolSchema(name, f"Does {name}", {"type": "object", "enum": sorted(NAMES)}))
    prompt.variable("cwd", lambda context: context.state.workdir)
    state = RuntimeState(workdir="/home/\u00fcser")
    assembly = prompt.assemble(AssembleContext(scope=scope, state=state))
    assembly.deny("z", "not today")
    return assembly.fingerprint()


if __name__ == "__main__":
    ours = fingerprint()
    sys.stdout.write(json.dumps({field: getattr(ours, field) for field in FIELDS}))
