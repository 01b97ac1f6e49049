#!/usr/bin/env python3
"""BeforeTool: denies `git push` by force. `--force-with-lease` is fine, except to a protected branch."""
import json
import os
import re
import shlex
import sys

PROTECTED = {"main", "master", "production"}


def simple_commands(line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    for token in lexer:
        if token and set(token) <= set("();|&\n"):
            yield words
            words = []
        else:
            words.append(token)
    yield words


def push_arguments(words):
    """What follows `push`, when this is a `git push`."""
    names = [os.path.basename(word) for word in words]
    if "git" not in names:
        return None
    rest = words[names.index("git") + 1 :]
    while rest and rest[0].startswith("-"):
        # `-C DIR` and `-c NAME=VALUE` take one more word.
        rest = rest[2:] if rest[0] in {"-C", "-c"} else rest[1:]
    return rest[1:] if rest[:1] == ["push"] else None


def problem(args):
    targets = [arg for arg in args if not arg.startswith("-")][1:]
    branches = {target.lstrip("+").split(":")[-1].removeprefix("refs/heads/") for target in targets}
    short = any(re.match(r"-[A-Za-z]*f", arg) for arg in args)
    if short or "--force" in args or "--mirror" in args or any(target.startswith("+") for target in targets):
        return "do not push by force; use --force-with-lease on a branch of your own"
    if any(arg.startswith("--force-with-lease") for arg in args) and branches & PROTECTED:
        return f"do not rewrite {', '.join(sorted(branches & PROTECTED))}"
    return None


command = json.load(sys.stdin)["tool_input"].get("command", "")
try:
    pushes = [args for args in map(push_arguments, simple_commands(command)) if args is not None]
except ValueError:
    # Not readable as a command line: only worth stopping when it could be a push.
    pushes = [["--force"]] if re.search(r"\bpush\b", command) else []
reason = next(filter(None, map(problem, pushes)), None)
if reason:
    print(json.dumps({"decision": "deny", "reason": reason}))
