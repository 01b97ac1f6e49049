#!/usr/bin/env python3
"""BeforeTool: sends a `git commit -m` back when its message says too little or is too long."""
import json
import os
import re
import shlex
import sys

LONGEST = 72
EMPTY = {"wip", "fix", "fixes", "fixed", "update", "updates", "updated", "changes", "misc", "stuff", "test", "commit"}


def subjects(line):
    """The first line of every message that is given with -m."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words, commands = [], []
    for token in lexer:
        if token and set(token) <= set("();|&\n"):
            commands.append(words)
            words = []
        else:
            words.append(token)
    for words in [*commands, words]:
        if not (words and os.path.basename(words[0]) == "git" and "commit" in words):
            continue
        for at, word in enumerate(words):
            if word == "--message" or re.match(r"-[a-zA-Z]*m$", word):
                yield words[at + 1] if at + 1 < len(words) else ""
                break
            if word.startswith("--message="):
                yield word.removeprefix("--message=")
                break


def problem(message):
    subject = message.split("\n")[0].strip()
    if not subject or subject.rstrip(".!").lower() in EMPTY:
        return "say what the commit changes and why"
    if len(subject) > LONGEST:
        return f"the first line has {len(subject)} characters; keep it to {LONGEST} and put the rest below an empty line"
    if subject.endswith("."):
        return "the first line ends without a full stop"
    return None


command = json.load(sys.stdin)["tool_input"].get("command", "")
try:
    found = next(filter(None, map(problem, subjects(command))), None)
except ValueError:
    found = None
if found:
    print(json.dumps({"decision": "deny", "reason": f"commit message: {found}"}))
