"""The blocking client: the client for `asyncio`, on a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, Coroutine, Mapping, Optional, TypeVar

from .aio import AsyncClient, Listener, Options, Prepared
from .errors import Closed, NotGuarded, TimedOut
from .messages import Json, Lifecycle, Response, Welcome

T = TypeVar("T")

#: How much longer than a request's deadline a thread waits for the event loop to keep it.
_GRACE = 5.0
#: How many progress reports wait for a slow listener before the newest are lost.
_REPORTS = 1024


class Client:
    """A client for any number of threads. Make it with `connect` or `spawn`.

    Every request that has no outcome raises a `NotGuarded`.
    """

    def __init__(self, inner: AsyncClient, options: Options) -> None:
        self._inner = inner
        self._options = options
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        self._listener: Optional[Listener] = None
        self._reports: "queue.Queue[Optional[Lifecycle]]" = queue.Queue()
        self._dispatcher: Optional[threading.Thread] = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="hookrail-client", daemon=True)
        self._thread.start()
        try:
            self._wait(self._run(inner._open_connection()), None)
        except BaseException:
            self.close()
            raise

    @classmethod
    def connect(cls, path: "str | os.PathLike[str]", options: Options = Options()) -> "Client":
        """Connects to `hookrail serve --socket PATH`, if no other user can be behind the path."""
        return cls(AsyncClient.on_socket(path, options), options)

    @classmethod
    def spawn(
        cls,
        program: "str | os.PathLike[str]" = "hookrail",
        *arguments: str,
        project: "str | os.PathLike[str] | None" = None,
        env: Optional[Mapping[str, str]] = None,
        options: Options = Options(),
    ) -> "Client":
        """Starts a server, on standard input and output. It ends with the client."""
        return cls(AsyncClient.on_process(program, *arguments, project=project, env=env, options=options), options)

    def hello(self, client: str = "hookrail-client (python)", *, timeout: Optional[float] = None) -> Welcome:
        """Agrees on a protocol; raises `BusError` if the server does not support it."""
        welcome: Welcome = self._ask(self._inner.prepare_hello(client, timeout))
        return welcome

    def execute(
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
        message = self._inner.prepare_request(
            event_name, input, project, traceparent, tracestate, correlation_id, wait, timeout
        )
        response: Response = self._ask(message)
        return response

    def submit(
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
    ) -> "Future[Response]":
        """Requests the hooks of an event without waiting. Cancelling the future cancels the request."""
        message = self._inner.prepare_request(
            event_name, input, project, traceparent, tracestate, correlation_id, wait, timeout
        )
        return self._run(self._inner.exchange(message))

    def ping(self, *, timeout: Optional[float] = None) -> None:
        """Checks that the server answers."""
        self._ask(self._inner.prepare_ping(timeout))

    def cancel(self, correlation_id: str) -> None:
        """Ends a request and its hooks. The call that waits raises a `BusError` with the code `cancelled`."""
        self._call(lambda: self._inner.cancel(correlation_id))

    def on_lifecycle(self, listener: Optional[Listener]) -> None:
        """Calls `listener`, on a separate thread, with the progress of requests from now on; None ends it."""
        self._listener = listener
        if listener is not None and self._dispatcher is None:
            self._dispatcher = threading.Thread(target=self._dispatch, name="hookrail-listener", daemon=True)
            self._dispatcher.start()
        self._call(lambda: self._inner.on_lifecycle(None if listener is None else self._deliver))

    def close(self) -> None:
        """Closes the connection. A server that the client started finishes its requests; one on a socket ends them."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            closing = asyncio.run_coroutine_threadsafe(self._inner.close(), self._loop)
        try:
            closing.result(self._options.control_timeout + 2 * _GRACE)
        except concurrent.futures.TimeoutError:
            self._options.report(TimedOut("the server did not end"))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._reports.put(None)
        if threading.current_thread() is not self._dispatcher:
            self._thread.join(_GRACE)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, message: Prepared) -> Any:
        return self._wait(self._run(self._inner.exchange(message)), message.timeout)

    def _wait(self, future: "Future[T]", timeout: Optional[float]) -> T:
        seconds = self._options.control_timeout if timeout is None else timeout
        try:
            # The event loop keeps the deadline; this only ends a wait for a loop that is gone.
            return future.result(None if seconds == float("inf") else seconds + _GRACE)
        except concurrent.futures.CancelledError:
            raise Closed("the client is closed") from None
        except NotGuarded:
            raise
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimedOut("there was no answer before the deadline") from None
        except BaseException:
            # An interrupted wait: the caller no longer wants the answer.
            future.cancel()
            raise

    def _run(self, work: "Coroutine[Any, Any, T]") -> "Future[T]":
        # Before the lock: another thread may have held it at the moment of the fork, and none will release it.
        if os.getpid() != self._process:
            work.close()
            raise Closed("the client was made before fork; make a new one in this process")
        with self._lock:
            if self._closed:
                work.close()
                raise Closed("the client is closed")
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _call(self, act: Callable[[], None]) -> None:
        async def once() -> None:
            act()

        self._wait(self._run(once()), None)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=_GRACE))
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()

    def _deliver(self, news: Lifecycle) -> None:
        # The event loop must not wait for a listener, which may wait for an answer in its turn.
        if self._reports.qsize() < _REPORTS:
            self._reports.put(news)

    def _dispatch(self) -> None:
        while True:
            news = self._reports.get()
            if news is None:
                return
            try:
                self._options.notify(self._listener, news)
            except BaseException as error:
                self._options.report(error)
