"""A client of hookrail's message bus, with nothing but the standard library.

    with Client.spawn(project=".") as hooks:
        answer = hooks.execute("BeforeTool", {"tool_name": "write_file", "tool_input": {"path": ".env"}})
        if answer.denied:
            print("blocked:", answer.reason)

Requests may be made from any number of threads; each gets its own answer. A request that was not executed raises
`BusError`: treat that as a guard that could not be asked, not as a yes.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import uuid
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Mapping, Optional, Sequence

__all__ = ["BusError", "Client", "Closed", "Lifecycle", "Response", "Welcome", "PROTOCOL"]

PROTOCOL = 1

Json = Any


class BusError(Exception):
    """The server did not execute a request. `code` is one of the documented error codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class Closed(Exception):
    """The connection is closed. What was asked was not answered."""


@dataclass(frozen=True)
class Response:
    """What the hooks of a request did."""

    correlation_id: str
    #: `AggregatedHookResult`: `success`, `finalOutput`, `allOutputs`, `errors`, `totalDuration`.
    output: Mapping[str, Json]
    #: The whole outcome, as `hookrail fire --json` prints it.
    outcome: Mapping[str, Json]
    queue_ms: float
    duration_ms: float

    @property
    def decision(self) -> Optional[str]:
        """`deny`, `ask`, `allow` or nothing."""
        return self.outcome.get("decision")

    @property
    def denied(self) -> bool:
        return self.decision == "deny"

    @property
    def must_ask(self) -> bool:
        """Whether the user has to be asked. Where nobody can be asked this is a deny."""
        return self.decision == "ask"

    @property
    def must_stop(self) -> bool:
        return bool(self.outcome.get("stop"))

    @property
    def reason(self) -> Optional[str]:
        return self.outcome.get("reason")

    @property
    def tool_input(self) -> Optional[Mapping[str, Json]]:
        """What the tool gets, when a hook changed it."""
        return self.outcome.get("toolInput")


@dataclass(frozen=True)
class Welcome:
    protocol: int
    server: str
    capabilities: Sequence[str]
    line_limit: int
    in_flight_limit: int


@dataclass(frozen=True)
class Lifecycle:
    """Something that happened to a request."""

    correlation_id: str
    phase: str
    hook: Optional[str] = None
    hooks: Optional[int] = None
    duration_ms: Optional[float] = None


class Client:
    """One connection. Make it with `connect` or `spawn`."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, close: Callable[[], None]) -> None:
        self._reader = reader
        self._writer = writer
        self._close = close
        self._write_lock = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: dict[str, Future[Mapping[str, Json]]] = {}
        self._closed = False
        self._lifecycle: Optional[Callable[[Lifecycle], None]] = None
        self._thread = threading.Thread(target=self._read, name="hookrail-client", daemon=True)
        self._thread.start()

    @classmethod
    def connect(cls, path: "str | os.PathLike[str]") -> "Client":
        """Connects to `hookrail serve --socket PATH`."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(os.fspath(path))
        except BaseException:
            connection.close()
            raise
        reader, writer = connection.makefile("rb"), connection.makefile("wb")

        def close() -> None:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

        return cls(reader, writer, close)

    @classmethod
    def spawn(
        cls,
        program: "str | os.PathLike[str]" = "hookrail",
        *arguments: str,
        project: "str | os.PathLike[str] | None" = None,
        env: Optional[Mapping[str, str]] = None,
    ) -> "Client":
        """Starts a server of its own, on standard input and output. It ends with the client."""
        command = [os.fspath(program), "serve", "--stdio", *arguments]
        if project is not None:
            command += ["--project", os.fspath(project)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        assert process.stdin is not None and process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def close() -> None:
            try:
                stdin.close()
            except OSError:
                pass
            process.wait()

        return cls(stdout, stdin, close)

    def hello(self, client: str = "hookrail_client.py") -> Welcome:
        """Agrees on a protocol; raises `BusError` when the server speaks none of ours."""
        message = self._ask("hello", {"protocol": PROTOCOL, "client": client}).result()
        return Welcome(
            message["protocol"],
            message["server"],
            tuple(message["capabilities"]),
            message["lineLimit"],
            message["inFlightLimit"],
        )

    def execute(
        self,
        event_name: str,
        input: Mapping[str, Json],
        *,
        project: "str | os.PathLike[str] | None" = None,
        traceparent: Optional[str] = None,
        correlation_id: Optional[str] = None,
        wait: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Response:
        """Runs the hooks of an event and waits for what they did. After `timeout` seconds they are cancelled."""
        name = correlation_id or str(uuid.uuid4())
        future = self.submit(
            event_name, input, project=project, traceparent=traceparent, correlation_id=name, wait=wait
        )
        try:
            return future.result(timeout)
        except FutureTimeout:
            self.cancel(name)
            raise

    def submit(
        self,
        event_name: str,
        input: Mapping[str, Json],
        *,
        project: "str | os.PathLike[str] | None" = None,
        traceparent: Optional[str] = None,
        correlation_id: Optional[str] = None,
        wait: Optional[str] = None,
    ) -> "Future[Response]":
        """Asks for the hooks of an event to be run, and does not wait."""
        payload: dict[str, Json] = {"eventName": event_name, "input": input}
        if project is not None:
            payload["project"] = os.fspath(project)
        if traceparent is not None:
            payload["traceparent"] = traceparent
        if wait is not None:
            payload["wait"] = wait
        answer: Future[Response] = Future()

        def done(future: "Future[Mapping[str, Json]]") -> None:
            error = future.exception()
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(_response(future.result()))

        self._ask("HOOK_EXECUTION_REQUEST", payload, correlation_id).add_done_callback(done)
        return answer

    def cancel(self, correlation_id: str) -> None:
        """Ends a request and its hooks. It gets its answer all the same: a `BusError` with the code `cancelled`."""
        self._send("cancel", {"correlationId": correlation_id})

    def ping(self) -> None:
        self._ask("ping", {}).result()

    def on_lifecycle(self, listener: Optional[Callable[[Lifecycle], None]]) -> None:
        """Tells what happens to requests from now on, on the reader's thread; with nothing, ceases to."""
        self._lifecycle = listener
        self._send("notify", {"lifecycle": listener is not None})

    def close(self) -> None:
        """Closes the connection. A server of one's own finishes what runs; one on a socket ends it."""
        self._close()
        self._thread.join()
        self._reader.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self, kind: str, payload: dict[str, Json], correlation_id: Optional[str] = None
    ) -> "Future[Mapping[str, Json]]":
        name = correlation_id or str(uuid.uuid4())
        future: Future[Mapping[str, Json]] = Future()
        with self._lock:
            if self._closed:
                raise Closed("the connection to the server is closed")
            if name in self._waiting:
                raise ValueError(f"a request with the correlationId {name!r} is still in flight")
            self._waiting[name] = future
        try:
            self._send(kind, {"correlationId": name, **payload})
        except BaseException:
            with self._lock:
                self._waiting.pop(name, None)
            raise
        return future

    def _send(self, kind: str, payload: Mapping[str, Json]) -> None:
        line = json.dumps({"type": kind, "payload": payload}, ensure_ascii=False).encode() + b"\n"
        try:
            with self._write_lock:
                self._writer.write(line)
                self._writer.flush()
        except (OSError, ValueError) as error:
            raise Closed("the connection to the server is closed") from error

    def _read(self) -> None:
        try:
            for line in self._reader:
                message = json.loads(line)
                self._take(message.get("type"), message.get("payload") or {})
        except (OSError, ValueError):
            pass
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(Closed("the connection to the server is closed"))

    def _take(self, kind: Optional[str], payload: Mapping[str, Json]) -> None:
        if kind == "notify":
            listener = self._lifecycle
            if listener is not None:
                listener(
                    Lifecycle(
                        payload["correlationId"],
                        payload["phase"],
                        payload.get("hook"),
                        payload.get("hooks"),
                        payload.get("durationMs"),
                    )
                )
            return
        if kind == "cancel":
            # Whoever cancels waits for the response, which says more.
            return
        with self._lock:
            future = self._waiting.pop(payload.get("correlationId", ""), None)
        if future is None:
            return
        error = payload.get("error")
        if error is not None:
            future.set_exception(BusError(error["code"], error["message"]))
        else:
            future.set_result(payload)


def _response(payload: Mapping[str, Json]) -> Response:
    return Response(
        payload["correlationId"],
        payload.get("output") or {},
        payload.get("outcome") or {},
        payload.get("queueMs") or 0.0,
        payload.get("durationMs") or 0.0,
    )
