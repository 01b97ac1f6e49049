#!/usr/bin/env python3
"""BeforeTool: keeps keys and tokens out of files.

Looks at every text in the tool's input, apart from the text that an edit takes away. The reason names the kind of
secret and never the secret.
"""
import json
import re
import sys

KINDS = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    "a Google API key": r"\bAIza[0-9A-Za-z_-]{35}",
    "a Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{10,}",
    "a Stripe key": r"\b[sr]k_(?:live|test)_[0-9A-Za-z]{16,}",
    "an API key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a URL with a password": r"\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s:@]+@",
}
REMOVED = {"old_string", "old_text", "old_str"}


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            if key not in REMOVED:
                yield from texts(member)
    elif isinstance(value, list):
        for element in value:
            yield from texts(element)


event = json.load(sys.stdin)
found = [kind for kind, pattern in KINDS.items() if any(re.search(pattern, text) for text in texts(event["tool_input"]))]
if found:
    reason = f"this would write {' and '.join(found)}; read it from the environment instead"
    print(json.dumps({"decision": "deny", "reason": reason}))
