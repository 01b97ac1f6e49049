"""The reasons why there is no outcome. Every exception here is a `NotGuarded`."""

from __future__ import annotations

__all__ = [
    "AnswerTooLarge",
    "BusError",
    "Closed",
    "ConnectFailed",
    "InvalidAnswer",
    "InvalidInput",
    "NotGuarded",
    "ProgramMissing",
    "RequestTooLarge",
    "TimedOut",
    "UntrustedSocket",
]


class NotGuarded(Exception):
    """No outcome was obtained, so the operation is not guarded. This is never a permission."""


class BusError(NotGuarded):
    """The server did not execute the request. `code` is one of the documented error codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class RequestTooLarge(BusError):
    """The request is longer than a line may be. Found before sending, or by the server."""

    def __init__(self, message: str) -> None:
        super().__init__("line_too_long", message)


class InvalidInput(NotGuarded, ValueError):
    """The request cannot be sent: its input has no JSON form, or its correlation id is in use."""


class TimedOut(NotGuarded, TimeoutError):
    """There was no answer before the deadline. The request was cancelled."""


class InvalidAnswer(NotGuarded):
    """The server sent something that cannot be read as an answer."""


class AnswerTooLarge(InvalidAnswer):
    """An answer is longer than the client's limit."""


class Closed(NotGuarded):
    """The connection is closed. Pending requests were not answered."""


class ConnectFailed(Closed):
    """There is no connection to a server, and none could be made."""


class ProgramMissing(ConnectFailed):
    """The `hookrail` program cannot be started."""


class UntrustedSocket(ConnectFailed):
    """Another user owns the socket, its folder or the server behind it, or could replace one of them."""
