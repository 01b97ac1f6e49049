"""The messages of a server as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, NoReturn, Optional, Sequence

from .errors import BusError, InvalidAnswer, RequestTooLarge

__all__ = ["Json", "Lifecycle", "Response", "Welcome"]

Json = Any
Payload = Mapping[str, Json]

_DECISIONS = (None, "allow", "ask", "deny")


@dataclass(frozen=True)
class Response:
    """The outcome of a request.

    A response has no truth value, because a response that denies would be true like every object:
    read `may_proceed`, `is_denied`, `must_ask` or `decision`.
    """

    correlation_id: str
    #: `AggregatedHookResult`: `success`, `finalOutput`, `allOutputs`, `errors`, `totalDuration`.
    output: Mapping[str, Json]
    #: The whole outcome, as `hookrail fire --json` prints it.
    outcome: Mapping[str, Json]
    queue_ms: float
    duration_ms: float
    #: Whether the server cut texts of the outcome to make the answer fit. What affects the operation is never cut.
    truncated: bool = False

    def __bool__(self) -> NoReturn:
        raise TypeError("a Response is neither yes nor no: read may_proceed, is_denied, must_ask or decision")

    @property
    def decision(self) -> Optional[str]:
        """`deny`, `ask`, `allow`, or None if no hook decided."""
        decision: Optional[str] = self.outcome["decision"]
        return decision

    @property
    def may_proceed(self) -> bool:
        """Whether the operation is allowed: not denied, no approval required, no stop."""
        return self.decision in (None, "allow") and not self.must_stop

    @property
    def is_denied(self) -> bool:
        """Whether a hook denied the operation."""
        return self.decision == "deny"

    @property
    def denied(self) -> bool:
        """The same as `is_denied`."""
        return self.is_denied

    @property
    def must_ask(self) -> bool:
        """Whether approval is required. If no user is present, treat this as a denial."""
        return self.decision == "ask"

    @property
    def must_stop(self) -> bool:
        """Whether a hook stopped the agent altogether."""
        return self.outcome.get("stop") is not False

    @property
    def reason(self) -> Optional[str]:
        """Why the operation was denied, must be approved or stopped, in a hook's words."""
        reason = self.outcome.get("reason") or self.outcome.get("stopReason")
        return reason if isinstance(reason, str) else None

    @property
    def tool_input(self) -> Optional[Mapping[str, Json]]:
        """What the tool gets, if a hook changed it; it may be empty, so compare with None."""
        value: Optional[Mapping[str, Json]] = self.outcome.get("toolInput")
        return value

    @property
    def model_request(self) -> Optional[Mapping[str, Json]]:
        """What the model gets, if a hook changed it.

        A request that was given with `contents` comes back whole: images, tool calls and all other members stay.
        """
        return self._document("nativeRequest") or self._document("llmRequest")

    @property
    def model_response(self) -> Optional[Mapping[str, Json]]:
        """What counts as the response of the model, if a hook changed it or gave one, with every part that is not text."""
        return self._document("nativeResponse") or self._document("llmResponse")

    def _document(self, name: str) -> Optional[Mapping[str, Json]]:
        value = self.outcome.get(name)
        return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class Welcome:
    """The description of the server."""

    protocol: int
    server: str
    capabilities: Sequence[str]
    line_limit: int
    in_flight_limit: int


@dataclass(frozen=True)
class Lifecycle:
    """A report on the progress of a request."""

    correlation_id: str
    phase: str
    hook: Optional[str] = None
    hooks: Optional[int] = None
    duration_ms: Optional[float] = None


def refusal(payload: Payload) -> BusError:
    """The error of an answer that is not a success."""
    error = payload.get("error")
    error = error if isinstance(error, dict) else {}
    code, message = error.get("code"), error.get("message")
    message = message if isinstance(message, str) else "the server did not execute the request and did not say why"
    if code == "line_too_long":
        return RequestTooLarge(message)
    return BusError(code if isinstance(code, str) else "internal_error", message)


def response(payload: Payload) -> Response:
    """Reads an answer. Anything that is not clearly an outcome is an error."""
    if payload.get("success") is not True:
        raise refusal(payload)
    outcome, output = payload.get("outcome"), payload.get("output")
    if not isinstance(outcome, dict) or not isinstance(output, dict):
        raise InvalidAnswer("the answer has no outcome")
    decision, stop, changed = outcome.get("decision", ""), outcome.get("stop"), outcome.get("toolInput")
    if not (decision is None or isinstance(decision, str)) or decision not in _DECISIONS:
        raise InvalidAnswer(f"the answer's decision is {decision!r}, which this client does not know")
    if not isinstance(stop, bool) or not (changed is None or isinstance(changed, dict)):
        raise InvalidAnswer("the answer's outcome is malformed")
    return Response(
        payload["correlationId"],
        output,
        outcome,
        _number(payload.get("queueMs")) or 0.0,
        _number(payload.get("durationMs")) or 0.0,
        payload.get("truncated") is True,
    )


def welcome(payload: Payload) -> Welcome:
    """Reads the answer to a `hello`."""
    if payload.get("success") is False:
        raise refusal(payload)
    numbers = [payload.get(name) for name in ("protocol", "lineLimit", "inFlightLimit")]
    server, capabilities = payload.get("server"), payload.get("capabilities")
    if not all(isinstance(number, int) for number in numbers):
        raise InvalidAnswer("the answer to hello is malformed")
    if not isinstance(server, str) or not isinstance(capabilities, list):
        raise InvalidAnswer("the answer to hello is malformed")
    protocol, line_limit, in_flight_limit = (int(number) for number in numbers if number is not None)
    return Welcome(protocol, server, tuple(str(one) for one in capabilities), line_limit, in_flight_limit)


def pong(payload: Payload) -> None:
    """Reads the answer to a `ping`."""
    if payload.get("success") is False:
        raise refusal(payload)


def lifecycle(payload: Payload) -> Lifecycle:
    """Reads a progress report."""
    name, phase, hook = payload.get("correlationId"), payload.get("phase"), payload.get("hook")
    hooks, duration = payload.get("hooks"), _number(payload.get("durationMs"))
    if not isinstance(name, str) or not isinstance(phase, str):
        raise InvalidAnswer("a progress report is malformed")
    return Lifecycle(
        name,
        phase,
        hook if isinstance(hook, str) else None,
        hooks if isinstance(hooks, int) else None,
        duration,
    )


def _number(value: Json) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) else None
