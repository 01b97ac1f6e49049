#!/usr/bin/env python3
"""AfterTool: formats a file that a tool has just written, and tells the model when that changed it.

Uses the first formatter of the list that is installed. Without one it does nothing.
"""
import json
import os
import shutil
import subprocess
import sys

FORMATTERS = {
    ".py": [["ruff", "format", "--quiet"], ["black", "--quiet"]],
    ".rs": [["rustfmt", "--edition", "2021"]],
    ".go": [["gofmt", "-w"]],
    ".js": [["prettier", "--write", "--log-level", "warn"]],
    ".ts": [["prettier", "--write", "--log-level", "warn"]],
    ".json": [["prettier", "--write", "--log-level", "warn"]],
    ".sh": [["shfmt", "-w"]],
}
KEYS = ["path", "file_path", "absolute_path", "filePath"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


event = json.load(sys.stdin)
given = next((event["tool_input"][key] for key in KEYS if isinstance(event["tool_input"].get(key), str)), None)
if given is None or event["tool_response"].get("error"):
    sys.exit(0)
path = os.path.join(event["cwd"], given)
choices = FORMATTERS.get(os.path.splitext(path)[1], [])
formatter = next((choice for choice in choices if shutil.which(choice[0])), None)
if formatter is None or not os.path.isfile(path):
    sys.exit(0)

before = content(path)
# The path is absolute, so it can never be taken for an option.
done = subprocess.run([*formatter, os.path.abspath(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
if done.returncode != 0:
    advice = f"{formatter[0]} cannot format {given}: {done.stderr.strip()[:500]}"
elif content(path) != before:
    advice = f"{given} was formatted with {formatter[0]}; read it again before you edit it"
else:
    sys.exit(0)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": advice}}))
