"""An agent loop whose every tool call is guarded by hooks.

    python3 example_agent.py [--socket PATH | --program HOOKRAIL] [--project DIR] [--trust-project]

The "model" is a list of calls, so that the example runs anywhere; the guard is the real thing.
"""

from __future__ import annotations

import argparse
import uuid
from typing import Any, Mapping

from hookrail_client import BusError, Client, Closed

CALLS = [
    ("read_file", {"path": "README.md"}),
    ("write_file", {"path": ".env", "content": "SECRET=1"}),
    ("write_file", {"path": "notes.txt", "content": "hello"}),
]


def run_tool(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"llmContent": f"{name} {arguments['path']}: done", "returnDisplay": "done"}


def guarded(hooks: Client, session: str, name: str, arguments: Mapping[str, Any]) -> str:
    call = {"session_id": session, "tool_name": name, "tool_input": arguments}
    try:
        before = hooks.execute("BeforeTool", call)
    except (BusError, Closed) as error:
        # A guard that cannot be asked has not said yes.
        return f"not run: {error}"
    if before.denied or before.must_ask:
        return f"blocked: {before.reason}"
    arguments = before.tool_input or arguments
    result = run_tool(name, arguments)
    after = hooks.execute("AfterTool", {**call, "tool_input": arguments, "tool_response": result})
    context = after.outcome.get("additionalContext")
    return result["llmContent"] + (f" [{context}]" if context else "")


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
        hooks.hello("example_agent.py")
        hooks.execute("SessionStart", {"session_id": session, "source": "startup"})
        for name, arguments in CALLS:
            print(f"{name} {arguments['path']} -> {guarded(hooks, session, name, arguments)}")
        hooks.execute("SessionEnd", {"session_id": session, "reason": "exit"})


if __name__ == "__main__":
    main()
