"""A project with hooks, the real server, and servers that misbehave."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, Optional

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "src"))

#: Nothing here takes this long; it only ends a test that would hang.
HANG = 60.0

BLOCKED = {"tool_name": "blocked", "tool_input": {"path": "a"}}


def skip_or_fail(case: unittest.TestCase, missing: str) -> None:
    """Skips by name. With HOOKRAIL_REQUIRE_ALL=1 nothing may be missing."""
    if os.environ.get("HOOKRAIL_REQUIRE_ALL") == "1":
        case.fail(f"{missing} is missing")
    case.skipTest(f"{missing} is missing")


def program(case: unittest.TestCase) -> str:
    """The real server: HOOKRAIL_PROGRAM, or the debug build of this tree, or what is on PATH."""
    built = HERE.parent.parent / "target/debug/hookrail"
    found = os.environ.get("HOOKRAIL_PROGRAM") or (str(built) if built.exists() else shutil.which("hookrail"))
    if not found:
        skip_or_fail(case, "the program hookrail")
    assert found is not None
    return found


def wait_until(done: Callable[[], bool]) -> None:
    give_up = time.monotonic() + HANG
    while not done():
        assert time.monotonic() < give_up, "it never happened"
        time.sleep(0.02)


class Case(unittest.TestCase):
    """A test in a folder of its own, where a call that hangs is ended."""

    def setUp(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="hr-")).resolve()
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        # A hang is a failure that names the line where it hung.
        import faulthandler

        faulthandler.dump_traceback_later(3 * HANG, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)

    def environment(self) -> Dict[str, str]:
        home = self.base / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home)}

    def project(self, hooks: Optional[Dict[str, str]] = None, events: Optional[Dict[str, str]] = None) -> Path:
        """A project whose BeforeTool hooks are commands, by the tool they match, and with a command for each other event."""
        commands = {
            "blocked": "echo no >&2; exit 2",
            "slow": "echo $$ > pid.new; mv pid.new pid; exec sleep 600",
            "^write$": """printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":"b"}}}'""",
            "asks": """printf '{"decision":"ask","reason":"sure?"}'""",
            **(hooks or {}),
        }
        entries = [
            {"matcher": tool, "hooks": [{"type": "command", "command": command}]} for tool, command in commands.items()
        ]
        project = self.base / "project"
        (project / ".llxprt").mkdir(parents=True)
        others = {
            event: [{"hooks": [{"type": "command", "command": command}]}] for event, command in (events or {}).items()
        }
        settings = {"hooksConfig": {"enabled": True}, "hooks": {"BeforeTool": entries, **others}}
        (project / ".llxprt/settings.json").write_text(json.dumps(settings))
        return project

    def serve(self, project: Path, *arguments: str) -> "tuple[subprocess.Popen[bytes], str]":
        """The real server on a socket."""
        path = str(self.base / "s")
        server = subprocess.Popen(
            [program(self), "serve", "--socket", path, "--trust-project", "--project", str(project), *arguments],
            env=self.environment(),
            cwd=project,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

        def answers() -> bool:
            with socket.socket(socket.AF_UNIX) as probe:
                return os.path.exists(path) and probe.connect_ex(path) == 0

        wait_until(answers)
        return server, path

    def stop(self, server: "subprocess.Popen[bytes]") -> None:
        """Stops a process as Ctrl-Z or a suspended machine does."""
        server.send_signal(signal.SIGSTOP)
        wait_until(lambda: Path(f"/proc/{server.pid}/stat").read_text().split(") ")[1][0] == "T")

    def fake(self, behave: Callable[["Peer"], object]) -> str:
        """A server that does what a test wants with each connection. The path of its socket."""
        path = str(self.base / f"fake-{threading.active_count()}-{time.monotonic_ns()}")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=self._behave, args=(behave, connection), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

        def close() -> None:
            try:
                listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            listener.close()

        self.addCleanup(close)
        return path

    @staticmethod
    def _behave(behave: Callable[["Peer"], object], connection: socket.socket) -> None:
        with connection:
            try:
                behave(Peer(connection))
            except OSError:
                pass


class Peer:
    """The far end of a client's connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._file = connection.makefile("rb")

    def read(self) -> Optional[Dict[str, Any]]:
        line = self._file.readline()
        message: Optional[Dict[str, Any]] = json.loads(line) if line else None
        return message

    def payload(self, kind: str = "HOOK_EXECUTION_REQUEST") -> Dict[str, Any]:
        """The next message of that type; the connection's end ends the server."""
        while True:
            message = self.read()
            if message is None:
                raise OSError("the client is gone")
            if message["type"] == kind:
                payload: Dict[str, Any] = message["payload"]
                return payload

    def raw(self, data: bytes) -> None:
        self.connection.sendall(data)

    def say(self, kind: str, payload: Dict[str, Any]) -> None:
        self.raw(json.dumps({"type": kind, "payload": payload}, separators=(",", ":")).encode() + b"\n")

    def answer(self, name: str, decision: Any = None, **outcome: Any) -> None:
        whole = {"decision": decision, "stop": False, "toolInput": None, "reason": None, **outcome}
        self.say("HOOK_EXECUTION_RESPONSE", {"correlationId": name, "success": True, "output": {}, "outcome": whole})

    def refuse(self, name: str, code: str) -> None:
        error = {"code": code, "message": "no"}
        self.say("HOOK_EXECUTION_RESPONSE", {"correlationId": name, "success": False, "error": error})
