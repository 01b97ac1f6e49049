#!/usr/bin/env python3
"""BeforeTool: keeps tools that take a path away from files they must not touch.

Denies paths outside of the project and the paths below. Links and `..` are resolved first, and case does not count,
because on some systems it does not.
"""
import fnmatch
import json
import os
import sys

# A pattern is compared with the path in the project, with each folder above it, and with the bare name.
PROTECTED = [".git", ".llxprt", ".env", ".env.*", "*.pem", "*.key", "id_rsa*", "package-lock.json", "Cargo.lock"]
KEYS = ["path", "file_path", "absolute_path", "filePath"]


def problem(cwd, given):
    root = os.path.realpath(cwd)
    path = os.path.realpath(os.path.join(root, os.path.expanduser(given)))
    if os.path.commonpath([root, path]) != root:
        return "it lies outside of the project"
    inside = os.path.relpath(path, root).replace(os.sep, "/").casefold()
    parts = inside.split("/")
    names = {"/".join(parts[: end + 1]) for end in range(len(parts))} | set(parts)
    for pattern in PROTECTED:
        if any(fnmatch.fnmatchcase(name, pattern.casefold()) for name in names):
            return f"`{pattern}` is protected"
    return None


event = json.load(sys.stdin)
for key in KEYS:
    given = event["tool_input"].get(key)
    if isinstance(given, str) and given:
        why = problem(event["cwd"], given)
        if why:
            print(json.dumps({"decision": "deny", "reason": f"{given} must not be changed: {why}"}))
            break
