"""Checks the client against a real server: `test_client.py stdio PROGRAM PROJECT` or `test_client.py socket PATH`.

The project has hooks for BeforeTool: `blocked` is denied with the reason `no`, `slow` runs for a long time, and
`write` gets another path.
"""

from __future__ import annotations

import sys
import threading

from hookrail_client import BusError, Client, Closed

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def tool(name: str) -> dict:
    return {"tool_name": name, "tool_input": {"path": "a"}}


def fails_with(code: str, ask) -> None:
    try:
        ask()
    except BusError as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"no {code}")


def main() -> None:
    if sys.argv[1] == "stdio":
        client = Client.spawn(sys.argv[2], "--trust-project", project=sys.argv[3])
    else:
        client = Client.connect(sys.argv[2])
    with client:
        welcome = client.hello()
        assert welcome.protocol == 1 and "cancel" in welcome.capabilities, welcome
        client.ping()
        answer = client.execute("BeforeTool", tool("blocked"), traceparent=TRACE)
        assert answer.denied and answer.reason == "no" and not answer.must_stop, answer
        assert answer.output["success"] is False, answer
        answer = client.execute("PreToolUse", tool("write"), correlation_id="mine")
        assert answer.correlation_id == "mine" and answer.tool_input == {"path": "b"}, answer
        assert answer.decision != "deny" and answer.duration_ms > 0, answer
        fails_with("unsupported_event", lambda: client.execute("Nonsense", {}))
        fails_with("invalid_request", lambda: client.execute("BeforeTool", {"tool_name": 1}))
        fails_with("invalid_project", lambda: client.execute("BeforeTool", tool("x"), project="/missing/project"))
        many = [client.submit("BeforeTool", tool("blocked")) for _ in range(100)]
        assert all(future.result(60).denied for future in many)
        started = threading.Event()
        client.on_lifecycle(lambda news: started.set() if news.phase == "hook-started" else None)
        slow = client.submit("BeforeTool", tool("slow"), correlation_id="slow")
        assert started.wait(60)
        client.cancel("slow")
        fails_with("cancelled", lambda: slow.result(60))
        client.on_lifecycle(None)
    try:
        client.ping()
    except Closed:
        pass
    else:
        raise AssertionError("a closed client answers")
    print("ok")


if __name__ == "__main__":
    main()
