"""A client of hookrail's message bus, with nothing but the standard library.

    from hookrail_client import Client, NotGuarded

    with Client.spawn(project=".") as hooks:
        try:
            answer = hooks.execute("BeforeTool", {"tool_name": "write_file", "tool_input": {"path": ".env"}})
        except NotGuarded as error:
            print("not run:", error)
        else:
            print("go on" if answer.may_proceed else f"blocked: {answer.reason}")

`AsyncClient` is the same for `asyncio`. A call returns what the hooks decided, or raises a `NotGuarded`: no other way
leads out of it, and neither is a permission by itself.
"""

from .aio import CONTROL_TIMEOUT, EXECUTE_TIMEOUT, AsyncClient, Options
from .blocking import Client
from .errors import (
    AnswerTooLarge,
    BusError,
    Closed,
    ConnectFailed,
    InvalidAnswer,
    InvalidInput,
    NotGuarded,
    ProgramMissing,
    RequestTooLarge,
    TimedOut,
    UntrustedSocket,
)
from .messages import Lifecycle, Response, Welcome
from .protocol import ANSWER_LIMIT, LINE_LIMIT, PROTOCOL

__version__ = "0.1.0"

__all__ = [
    "ANSWER_LIMIT",
    "CONTROL_TIMEOUT",
    "EXECUTE_TIMEOUT",
    "LINE_LIMIT",
    "PROTOCOL",
    "AnswerTooLarge",
    "AsyncClient",
    "BusError",
    "Client",
    "Closed",
    "ConnectFailed",
    "InvalidAnswer",
    "InvalidInput",
    "Lifecycle",
    "NotGuarded",
    "Options",
    "ProgramMissing",
    "RequestTooLarge",
    "Response",
    "TimedOut",
    "UntrustedSocket",
    "Welcome",
    "__version__",
]
