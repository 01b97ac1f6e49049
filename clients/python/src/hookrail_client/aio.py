"""The client for `asyncio`."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import uuid
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional

from . import messages
from .connection import Connection, absolute
from .errors import Closed, ConnectFailed, InvalidInput, ProgramMissing, TimedOut, UntrustedSocket
from .messages import Json, Lifecycle, Response, Welcome
from .protocol import ANSWER_LIMIT, LINE_LIMIT, PROTOCOL, Read, encode

#: The deadline of `execute` in seconds. Hooks have their own timeouts, which end them much earlier.
EXECUTE_TIMEOUT = 600.0
#: The deadline in seconds of everything a server answers at once: connecting, `hello`, `ping`, and closing.
CONTROL_TIMEOUT = 10.0

_SLOWEST_RETRY = 2.0

Listener = Callable[[Lifecycle], None]
OnError = Callable[[BaseException], None]

logger = logging.getLogger("hookrail_client")


@dataclass(frozen=True)
class Options:
    """What a client can be told when it is made, apart from where the server is."""

    #: The deadline of `execute` unless the call names another; `math.inf` for none.
    timeout: float = EXECUTE_TIMEOUT
    #: The deadline of `hello`, `ping`, connecting and closing.
    control_timeout: float = CONTROL_TIMEOUT
    #: Whether a call after a lost connection makes a new one. The calls that were lost are never repeated.
    reconnect: bool = True
    #: For how long a call tries to make a new connection, with growing pauses.
    reconnect_timeout: float = CONTROL_TIMEOUT
    #: The largest answer, in bytes.
    answer_limit: int = ANSWER_LIMIT
    #: Gets what no call can raise: a listener's exception, an answer to nothing. By default it is logged.
    on_error: Optional[OnError] = None

    def report(self, error: BaseException) -> None:
        """Hands an error to `on_error`. Never raises."""
        try:
            if self.on_error is not None:
                self.on_error(error)
                return
        except Exception as second:
            logger.error("on_error raised", exc_info=second)
        logger.error("hookrail client: %s", error, exc_info=error)

    def notify(self, listener: Optional[Listener], news: Lifecycle) -> None:
        """Calls a listener. What it raises is reported and harms nothing else."""
        if listener is None:
            return
        try:
            listener(news)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self.report(error)


@dataclass(frozen=True)
class Prepared:
    """A message that can be sent."""

    kind: str
    name: str
    line: bytes
    answer: str
    read: Read
    timeout: float


class AsyncClient:
    """A client for one event loop. Make it with `connect` or `spawn`.

    Any number of requests may run at a time. Every request that has no outcome raises a `NotGuarded`; cancelling the
    task that waits cancels the request and its hooks.
    """

    def __init__(self, open: Callable[[Connection], Awaitable[None]], options: Options) -> None:
        self._open = open
        self._options = options
        self._connection: Optional[Connection] = None
        self._connecting: Optional["asyncio.Task[Connection]"] = None
        self._attempts = 0
        self._closed = False
        self._line_limit = LINE_LIMIT
        self._listener: Optional[Listener] = None

    @classmethod
    async def connect(cls, path: "str | os.PathLike[str]", options: Options = Options()) -> "AsyncClient":
        """Connects to `hookrail serve --socket PATH`, if no other user can be behind the path."""
        client = cls.on_socket(path, options)
        await client._open_connection()
        return client

    @classmethod
    async def spawn(
        cls,
        program: "str | os.PathLike[str]" = "hookrail",
        *arguments: str,
        project: "str | os.PathLike[str] | None" = None,
        env: Optional[Mapping[str, str]] = None,
        options: Options = Options(),
    ) -> "AsyncClient":
        """Starts a server, on standard input and output. It ends with the client."""
        client = cls.on_process(program, *arguments, project=project, env=env, options=options)
        await client._open_connection()
        return client

    @classmethod
    def on_socket(cls, path: "str | os.PathLike[str]", options: Options = Options()) -> "AsyncClient":
        """A client that connects when it is first used."""
        place = os.fspath(path)

        async def open(connection: Connection) -> None:
            await connection.open_socket(place, options.control_timeout)

        return cls(open, options)

    @classmethod
    def on_process(
        cls,
        program: "str | os.PathLike[str]" = "hookrail",
        *arguments: str,
        project: "str | os.PathLike[str] | None" = None,
        env: Optional[Mapping[str, str]] = None,
        options: Options = Options(),
    ) -> "AsyncClient":
        """A client that starts its server when it is first used."""
        command = [os.fspath(program), "serve", "--stdio", *arguments]
        if project is not None:
            command += ["--project", os.fspath(project)]

        async def open(connection: Connection) -> None:
            await connection.open_process(command, env)

        return cls(open, options)

    async def hello(self, client: str = "hookrail-client (python)", *, timeout: Optional[float] = None) -> Welcome:
        """Agrees on a protocol; raises `BusError` if the server does not support it."""
        welcome: Welcome = await self.exchange(self.prepare_hello(client, timeout))
        return welcome

    async def execute(
        self,
        event_name: str,
        input: Mapping[str, Json],
        *,
        project: "str | os.PathLike[str] | None" = None,
        traceparent: Optional[str] = None,
        tracestate: Optional[str] = None,
        correlation_id: Optional[str] = None,
        wait: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Response:
        """Runs the hooks of an event and waits for the outcome. After `timeout` seconds they are cancelled."""
        response: Response = await self.exchange(
            self.prepare_request(event_name, input, project, traceparent, tracestate, correlation_id, wait, timeout)
        )
        return response

    async def ping(self, *, timeout: Optional[float] = None) -> None:
        """Checks that the server answers."""
        await self.exchange(self.prepare_ping(timeout))

    def cancel(self, correlation_id: str) -> None:
        """Ends a request and its hooks. The call that waits raises a `BusError` with the code `cancelled`."""
        if self._connection is not None:
            self._connection.control("cancel", correlation_id, {})

    def on_lifecycle(self, listener: Optional[Listener]) -> None:
        """Calls `listener` with the progress of requests from now on; None ends it."""
        self._listener = listener
        if self._connection is not None:
            self._connection.control("notify", None, {"lifecycle": listener is not None})

    async def close(self) -> None:
        """Closes the connection. A server that the client started finishes its requests; one on a socket ends them."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            await self._connection.finish(self._options.control_timeout)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Making a message does not need the event loop; the blocking client does it on the caller's thread.

    def prepare_hello(self, client: str, timeout: Optional[float]) -> Prepared:
        payload = {"protocol": PROTOCOL, "client": client}
        return self._prepare("hello", None, payload, "hello", self._welcome, timeout, self._options.control_timeout)

    def prepare_ping(self, timeout: Optional[float]) -> Prepared:
        return self._prepare("ping", None, {}, "pong", messages.pong, timeout, self._options.control_timeout)

    def prepare_request(
        self,
        event_name: str,
        input: Mapping[str, Json],
        project: "str | os.PathLike[str] | None",
        traceparent: Optional[str],
        tracestate: Optional[str],
        correlation_id: Optional[str],
        wait: Optional[str],
        timeout: Optional[float],
    ) -> Prepared:
        payload: Dict[str, Json] = {"eventName": event_name, "input": input}
        if project is not None:
            payload["project"] = absolute(project)
        for key, value in (("traceparent", traceparent), ("tracestate", tracestate), ("wait", wait)):
            if value is not None:
                payload[key] = value
        answer, kind = "HOOK_EXECUTION_RESPONSE", "HOOK_EXECUTION_REQUEST"
        return self._prepare(kind, correlation_id, payload, answer, messages.response, timeout, self._options.timeout)

    def _prepare(
        self,
        kind: str,
        name: Optional[str],
        payload: Mapping[str, Json],
        answer: str,
        read: Read,
        timeout: Optional[float],
        default: float,
    ) -> Prepared:
        name = name or str(uuid.uuid4())
        if not isinstance(name, str):
            raise InvalidInput(f"{name!r} is not a correlation id: it must be a string")
        seconds = default if timeout is None else timeout
        if not isinstance(seconds, (int, float)) or not seconds >= 0:
            raise InvalidInput(f"{seconds!r} is not a timeout")
        return Prepared(kind, name, encode(kind, name, payload, self._line_limit), answer, read, seconds)

    def _welcome(self, payload: Mapping[str, Json]) -> Welcome:
        welcome = messages.welcome(payload)
        self._line_limit = welcome.line_limit
        return welcome

    async def exchange(self, message: Prepared) -> Any:
        """Sends a message and returns the value of its answer."""
        deadline = asyncio.get_running_loop().time() + message.timeout
        connection = await self._connected(message.timeout)
        return await connection.ask(message.kind, message.name, message.line, message.answer, message.read, deadline)

    async def _connected(self, timeout: float) -> Connection:
        if self._closed:
            raise Closed("the client is closed")
        connection = self._connection
        if connection is not None and (connection.alive or not self._options.reconnect):
            return connection
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.ensure_future(self._reconnect())
            # Every caller may be gone before it fails; then no caller reads its exception.
            self._connecting.add_done_callback(lambda task: task.cancelled() or task.exception())
        connecting = self._connecting
        try:
            limit = None if timeout == float("inf") else timeout
            return await asyncio.wait_for(asyncio.shield(connecting), limit)
        except asyncio.TimeoutError:
            raise TimedOut("there was no connection to the server before the deadline") from None
        except asyncio.CancelledError:
            if connecting.cancelled():
                raise Closed("the client is closed") from None
            raise

    async def _reconnect(self) -> Connection:
        now = asyncio.get_running_loop().time
        give_up = now() + self._options.reconnect_timeout
        while True:
            # A server that has answered before is tried at once; one that never did is given time.
            if self._connection is not None and self._connection.heard:
                self._attempts = 0
                self._connection.heard = False
            if self._attempts > 0:
                pause = min(_SLOWEST_RETRY, 0.05 * 2 ** min(self._attempts - 1, 10)) * random.uniform(0.5, 1.0)
                await asyncio.sleep(max(0.0, min(pause, give_up - now())))
            self._attempts += 1
            try:
                return await self._open_connection()
            except (ProgramMissing, UntrustedSocket):
                raise
            except ConnectFailed:
                if now() >= give_up:
                    raise

    async def _open_connection(self) -> Connection:
        if self._connection is not None:
            self._connection.drop()
        connection = Connection(self._options.answer_limit, self._options.report, self._deliver)
        await self._open(connection)
        self._connection = connection
        if self._closed:
            connection.drop()
            raise Closed("the client is closed")
        if self._listener is not None:
            connection.control("notify", None, {"lifecycle": True})
        return connection

    def _deliver(self, news: Lifecycle) -> None:
        self._options.notify(self._listener, news)
