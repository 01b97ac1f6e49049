"""The protocol without input and output: lines out of bytes, and answers to the requests that wait for them.

Nothing here knows sockets, threads or event loops. Whatever arrives, each pending request is settled exactly once, and
a line that cannot be attributed to a request settles all of them: a guard's answer may have been in it.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Union

from . import messages
from .errors import AnswerTooLarge, InvalidAnswer, InvalidInput, NotGuarded, RequestTooLarge
from .messages import Json, Lifecycle, Payload

PROTOCOL = 1
#: How long a request may be unless the server's `hello` names another limit.
LINE_LIMIT = 16 * 1024 * 1024
#: How long an answer may be.
ANSWER_LIMIT = 64 * 1024 * 1024

#: How many requests without a waiter are remembered, so that their late answers are recognised.
_REMEMBERED = 10_000
#: How much of a line is searched for the request it answers.
_PREFIX = 64 * 1024
_NAME = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"[^"\\]*"\s*,\s*"payload"\s*:\s*\{\s*"correlationId"\s*:\s*("(?:[^"\\]|\\.)*")'
)

Read = Callable[[Payload], Any]
Settle = Callable[[Union[Any, NotGuarded]], None]


def encode(kind: str, name: Optional[str], payload: Mapping[str, Json], limit: int = LINE_LIMIT) -> bytes:
    """Makes the line of a message.

    The correlation id comes first: so a server that skips a line for its length still knows which request it was.
    """
    try:
        named = payload if name is None else {"correlationId": name, **payload}
        message = {"type": kind, "payload": named}
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = text.encode("utf-8")
    except Exception as error:  # objects in the input may raise anything
        raise InvalidInput(f"the request has no JSON form: {error}") from error
    if len(line) > limit:
        raise RequestTooLarge(f"the request has {len(line)} bytes; the server reads at most {limit}")
    return line + b"\n"


@dataclass(frozen=True)
class Overlong:
    """The beginning of a line that is longer than the limit and was skipped."""

    prefix: bytes


class Lines:
    """Cuts what arrives into lines, and skips those that are too long."""

    def __init__(self, limit: int = ANSWER_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[Union[bytes, Overlong]]:
        """Yields the lines that `data` completes."""
        start = 0
        while True:
            end = data.find(b"\n", start)
            piece = data[start:] if end < 0 else data[start:end]
            start = end + 1
            if not self._skipping:
                self._rest += piece
                if len(self._rest) > self._limit:
                    yield Overlong(bytes(self._rest[:_PREFIX]))
                    self._skipping = True
                    self._rest = bytearray()
            if end < 0:
                return
            if not self._skipping and self._rest and not self._rest.isspace():
                yield bytes(self._rest)
            self._skipping = False
            self._rest = bytearray()


@dataclass(frozen=True)
class _Waiter:
    kind: str
    read: Read
    settle: Settle


class Session:
    """The requests of one connection that wait for their answers."""

    def __init__(self, report: Callable[[Exception], None]) -> None:
        self._report = report
        self._pending: Dict[str, _Waiter] = {}
        #: What the server refused when nothing was asked: why it is about to close the connection.
        self.parting: Optional[Payload] = None
        # Forgetting the oldest costs a spurious failure of pending requests, never a wrong answer.
        self._abandoned: "OrderedDict[str, None]" = OrderedDict()

    def begin(self, name: str, kind: str, read: Read, settle: Settle) -> None:
        """Registers a request. `kind` is the type of a good answer and `read` gives its value."""
        if name in self._pending or name in self._abandoned:
            raise InvalidInput(f"a request with the correlationId {name!r} is still in flight")
        self._pending[name] = _Waiter(kind, read, settle)

    def abandon(self, name: str) -> bool:
        """Stops waiting for a request. False if it is settled already."""
        if self._pending.pop(name, None) is None:
            return False
        self._remember(name)
        return True

    def forget(self, name: str) -> None:
        """Forgets a request that was never sent: no answer will come."""
        self._abandoned.pop(name, None)

    def fail_all(self, make: Callable[[], NotGuarded]) -> bool:
        """Fails every pending request. False if there is none."""
        pending, self._pending = self._pending, {}
        for name, waiter in pending.items():
            self._remember(name)
            waiter.settle(make())
        return bool(pending)

    def receive(self, line: Union[bytes, Overlong]) -> Optional[Lifecycle]:
        """Settles what the line answers. Returns a progress report if it is one."""
        if isinstance(line, Overlong):
            self._unreadable(line.prefix, lambda: AnswerTooLarge("an answer is longer than the client's limit"))
            return None
        try:
            kind, payload = _decode(line)
        except InvalidAnswer as error:
            text = str(error)
            self._unreadable(line[:_PREFIX], lambda: InvalidAnswer(text))
            return None
        if kind == "notify":
            try:
                return messages.lifecycle(payload)
            except InvalidAnswer as error:
                self._report(error)
                return None
        # The response to the request follows the answer to `cancel`; a newer server may send messages of unknown types.
        if kind in ("HOOK_EXECUTION_RESPONSE", "hello", "pong"):
            self._answer(kind, payload)
        return None

    def _answer(self, kind: str, payload: Payload) -> None:
        name = payload.get("correlationId")
        refused = kind == "HOOK_EXECUTION_RESPONSE" and payload.get("success") is not True
        waiter = self._pending.pop(name, None) if isinstance(name, str) else None
        if waiter is not None:
            try:
                if kind != waiter.kind and not refused:
                    raise InvalidAnswer(f"expected {waiter.kind}, and the server answered with {kind}")
                waiter.settle(waiter.read(payload))
            except NotGuarded as error:
                waiter.settle(error)
        elif isinstance(name, str) and name in self._abandoned:
            self.forget(name)
        elif refused:
            # A server that could not read the id of a request generates one, so this answers a pending request.
            if not self.fail_all(lambda: messages.refusal(payload)):
                self.parting = payload
                self._report(messages.refusal(payload))
        else:
            self._report(InvalidAnswer(f"the server answered a request that was not made: {name!r}"))

    def _unreadable(self, prefix: bytes, make: Callable[[], InvalidAnswer]) -> None:
        name = _named(prefix)
        waiter = self._pending.pop(name, None) if name is not None else None
        if waiter is not None:
            waiter.settle(make())
        elif name is not None and name in self._abandoned:
            self.forget(name)
        elif not self.fail_all(make):
            self._report(make())

    def _remember(self, name: str) -> None:
        self._abandoned[name] = None
        if len(self._abandoned) > _REMEMBERED:
            self._abandoned.popitem(last=False)


def _decode(line: bytes) -> "tuple[str, Payload]":
    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        message = json.loads(line.decode("utf-8"), parse_constant=constant)
    except RecursionError:
        raise InvalidAnswer("an answer is nested too deeply to be read") from None
    except ValueError as error:
        raise InvalidAnswer(f"an answer is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise InvalidAnswer("an answer is not an object")
    kind, payload = message.get("type"), message.get("payload")
    if not isinstance(kind, str) or not isinstance(payload, dict):
        raise InvalidAnswer("an answer has no type or no payload")
    return kind, payload


def _named(prefix: bytes) -> Optional[str]:
    found = _NAME.match(prefix)
    try:
        name = json.loads(found.group(1)) if found else None
    except ValueError:
        return None
    return name if isinstance(name, str) else None
