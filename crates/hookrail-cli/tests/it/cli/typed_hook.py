"""A hook with the types of `hookrail types --lang python`, which a test gives to the type checker."""
from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from hook_types import BeforeToolAnswer, BeforeToolInput, HookInput


def decide(event: BeforeToolInput) -> Optional[BeforeToolAnswer]:
    path = event["tool_input"].get("path", "")
    if str(path).endswith(".env"):
        return {"decision": "deny", "reason": f"{path} holds secrets", "continue": True}
    if event.get("agent_id"):
        return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"path": "x"}}}
    return None


def name_of(event: HookInput) -> str:
    if event["hook_event_name"] == "AfterTool":
        return str(event["tool_response"])
    return event["session_id"]


answer = decide(json.load(sys.stdin))
if answer is not None:
    json.dump(answer, sys.stdout)
