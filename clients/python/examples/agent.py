"""An agent loop whose every tool call is guarded by hooks.

    python3 agent.py [--socket PATH | --program HOOKRAIL] [--project DIR] [--trust-project]

The "model" is a list of calls, so that the example runs anywhere; the guard is the real thing.
"""

from __future__ import annotations

import argparse
import uuid
from typing import Any, Mapping

from hookrail_client import Client, NotGuarded

CALLS: "list[tuple[str, Mapping[str, Any]]]" = [
    ("read_file", {"path": "README.md"}),
    ("write_file", {"path": ".env", "content": "SECRET=1"}),
    ("write_file", {"path": "notes.txt", "content": "hello"}),
]


def run_tool(name: str, arguments: Mapping[str, Any]) -> "dict[str, Any]":
    return {"llmContent": f"{name} {arguments['path']}: done", "returnDisplay": "done"}


def guarded(hooks: Client, session: str, name: str, arguments: Mapping[str, Any]) -> str:
    call = {"session_id": session, "tool_name": name, "tool_input": arguments}
    try:
        before = hooks.execute("BeforeTool", call, timeout=60)
    except NotGuarded as error:
        # A guard that cannot be asked has not said yes.
        return f"not run: {error}"
    if not before.may_proceed:
        # A decision of "ask" would go to the user; this program has none.
        return f"blocked: {before.reason}"
    if before.tool_input is not None:
        arguments = before.tool_input
    result = run_tool(name, arguments)
    try:
        after = hooks.execute("AfterTool", {**call, "tool_input": arguments, "tool_response": result}, timeout=60)
    except NotGuarded as error:
        # The tool has run. What it returned is held back, because a hook may have wanted to replace it.
        return f"done, and its result was not checked: {error}"
    context = after.outcome.get("additionalContext")
    return str(result["llmContent"]) + (f" [{context}]" if context else "")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket")
    parser.add_argument("--program", default="hookrail")
    parser.add_argument("--project", default=".")
    parser.add_argument("--trust-project", action="store_true")
    options = parser.parse_args()
    extra = ["--trust-project"] if options.trust_project else []
    client = (
        Client.connect(options.socket)
        if options.socket
        else Client.spawn(options.program, *extra, project=options.project)
    )
    session = str(uuid.uuid4())
    with client as hooks:
        hooks.hello("agent.py")
        hooks.execute("SessionStart", {"session_id": session, "source": "startup"})
        for name, arguments in CALLS:
            print(f"{name} {arguments['path']} -> {guarded(hooks, session, name, arguments)}")
        hooks.execute("SessionEnd", {"session_id": session, "reason": "exit"})


if __name__ == "__main__":
    main()
