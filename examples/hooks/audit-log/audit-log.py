#!/usr/bin/env python3
"""Any event: appends one line of JSON to `.llxprt/audit.jsonl`, or to the file in $AUDIT_LOG.

Notes who did what and when. Texts are cut, because a log of everything holds every secret too.
"""
import json
import os
import sys

LONGEST = 200


def short(value):
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: short(member) for key, member in value.items()}
    if isinstance(value, list):
        return [short(element) for element in value]
    return value


event = json.load(sys.stdin)
kept = ["timestamp", "session_id", "hook_event_name", "tool_name", "tool_input", "source", "reason", "trigger"]
record = {key: short(event[key]) for key in kept if key in event}
if "tool_response" in event:
    record["failed"] = bool(event["tool_response"].get("error"))
line = json.dumps(record, ensure_ascii=False) + "\n"
path = os.environ.get("AUDIT_LOG") or os.path.join(event["cwd"], ".llxprt", "audit.jsonl")
# One write to a file opened for appending: lines of hooks that run at the same time do not mix.
log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.write(log, line.encode("utf-8"))
os.close(log)
