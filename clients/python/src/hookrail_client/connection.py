"""One connection on an event loop: the protocol's session, and what waits to be sent."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections import OrderedDict
from typing import Any, Callable, List, Mapping, Optional, Sequence

from . import endpoint
from .errors import Closed, NotGuarded, TimedOut
from .messages import Lifecycle, refusal
from .protocol import Lines, Read, Session, encode

#: How much may wait in the event loop to be sent. Everything else waits in the connection's own queue, from which a
#: request that is given up can still be withdrawn.
_WRITE_BUFFER = 64 * 1024


class _WriteSide(asyncio.BaseProtocol):
    """The input of a server that the client started. Answers may still arrive after it is closed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection.connection_made(transport)

    def pause_writing(self) -> None:
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        self._connection.resume_writing()


class Connection(asyncio.Protocol):
    """Sends lines and settles requests until the server is gone. Belongs to one event loop."""

    def __init__(
        self,
        answer_limit: int,
        report: Callable[[Exception], None],
        deliver: Callable[[Lifecycle], None],
    ) -> None:
        self._session = Session(report)
        self._lines = Lines(answer_limit)
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._queue: "OrderedDict[str, bytes]" = OrderedDict()
        self._controls = 0
        self._paused = False
        self._finishing = False
        self._transports: List[Any] = []
        self._writer: Optional[asyncio.WriteTransport] = None
        self._process: Optional["subprocess.Popen[bytes]"] = None
        #: Settled when the connection is over.
        self.over: "asyncio.Future[None]" = self._loop.create_future()
        #: Whether the server has ever sent anything.
        self.heard = False

    @property
    def alive(self) -> bool:
        """Whether a request can be sent."""
        return not self.over.done() and self._writer is not None and not self._writer.is_closing()

    async def open_socket(self, path: str, timeout: float) -> None:
        """Connects to a server's socket, after the checks of `endpoint`."""
        endpoint.check_socket(path)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)
            try:
                await self._connect(connection, path, timeout)
                endpoint.check_peer(connection)
            except (OSError, ValueError) as error:
                raise endpoint.connect_failed(path, error) from error
            await self._loop.create_connection(lambda: self, sock=connection)
        except BaseException:
            connection.close()
            raise

    async def _connect(self, connection: socket.socket, path: str, timeout: float) -> None:
        # `sock_connect` takes a Unix socket whose server has no room for one more connection for a connected one.
        give_up = self._loop.time() + timeout
        while True:
            try:
                connection.connect(path)
                return
            except BlockingIOError:
                if self._loop.time() >= give_up:
                    raise TimeoutError(f"the server took no connection in {timeout} s") from None
                await asyncio.sleep(0.05)

    async def open_process(self, command: Sequence[str], env: Optional[Mapping[str, str]]) -> None:
        """Starts a server on pipes."""
        process = self._process = endpoint.start(command, env)
        assert process.stdin is not None and process.stdout is not None
        await self._loop.connect_read_pipe(lambda: self, process.stdout)
        await self._loop.connect_write_pipe(lambda: _WriteSide(self), process.stdin)

    async def ask(self, kind: str, name: str, line: bytes, answer: str, read: Read, deadline: float) -> Any:
        """Sends a request and waits for the value of its answer."""
        future: "asyncio.Future[Any]" = self._loop.create_future()

        def settle(value: Any) -> None:
            if future.done():
                return
            if isinstance(value, NotGuarded):
                future.set_exception(value)
            else:
                future.set_result(value)

        if not self.alive:
            raise self._lost()
        self._session.begin(name, answer, read, settle)
        timer = None
        if deadline != float("inf"):
            timer = self._loop.call_at(deadline, settle, TimedOut("there was no answer before the deadline"))
        try:
            self._send(name, line)
            return await future
        finally:
            if timer is not None:
                timer.cancel()
            self._give_up(kind, name)

    def control(self, kind: str, name: Optional[str], payload: Mapping[str, Any]) -> None:
        """Sends a message that has no answer to wait for."""
        if self.alive:
            self._controls += 1
            self._send(f"\0{self._controls}", encode(kind, name, payload))

    async def finish(self, patience: float) -> None:
        """Ends the connection: a server that the client started answers first; one on a socket is disconnected."""
        if self._process is None:
            self.drop()
            return
        give_up = self._loop.time() + patience
        self._finishing = True
        self._pump()
        await asyncio.wait({self.over}, timeout=patience)
        left = max(0.0, give_up - self._loop.time())
        await self._loop.run_in_executor(None, endpoint.end, self._process, min(left, 1.0))
        self.drop()

    def drop(self) -> None:
        """Ends the connection at once, and fails what waits."""
        if not self.over.done():
            self.over.set_result(None)
        for transport in self._transports:
            if not transport.is_closing():
                transport.abort() if isinstance(transport, asyncio.WriteTransport) else transport.close()
        self._queue.clear()
        self._session.fail_all(self._lost)
        process = self._process
        if process is not None and process.poll() is None:
            # Its pipes are closed, so it ends; it must still be waited for.
            self._loop.run_in_executor(None, endpoint.end, process, 1.0)

    def _give_up(self, kind: str, name: str) -> None:
        if not self._session.abandon(name):
            return
        if self._queue.pop(name, None) is not None:
            self._session.forget(name)
        elif kind == "HOOK_EXECUTION_REQUEST":
            self.control("cancel", name, {})

    def _send(self, name: str, line: bytes) -> None:
        self._queue[name] = line
        self._pump()

    def _pump(self) -> None:
        while self._queue and not self._paused and self._writer is not None and not self._writer.is_closing():
            _name, line = self._queue.popitem(last=False)
            self._writer.write(line)
        if self._finishing and not self._queue and self._writer is not None:
            self._writer.close()

    def _lost(self) -> NotGuarded:
        if self._session.parting is not None:
            return refusal(self._session.parting)
        text = "the connection to the server is closed"
        status = None if self._process is None else self._process.poll()
        if status is not None:
            text += f"; the server ended with status {status}, and its standard error says why"
        return Closed(text)

    # What the event loop calls. A process has two transports, one for each direction.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transports.append(transport)
        if isinstance(transport, asyncio.WriteTransport):
            transport.set_write_buffer_limits(high=_WRITE_BUFFER)
            self._writer = transport
            self._pump()

    def data_received(self, data: bytes) -> None:
        self.heard = True
        for line in self._lines.feed(data):
            news = self._session.receive(line)
            if news is not None:
                self._deliver(news)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._pump()

    def eof_received(self) -> Optional[bool]:
        return False

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.drop()


def absolute(path: "str | os.PathLike[str]") -> str:
    """A path that means the same to a server in another directory."""
    return os.path.abspath(os.fspath(path))
