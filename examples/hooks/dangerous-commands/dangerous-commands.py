#!/usr/bin/env python3
"""BeforeTool: denies shell commands that destroy more than a mistake should, and asks about some others.

The command line is split into simple commands the way a shell would, without running anything.
"""
import json
import os
import re
import shlex
import sys

WRAPPERS = {"sudo", "doas", "env", "command", "exec", "nohup", "time", "nice"}
SHELLS = {"sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby"}
EVERYTHING = {"/", "/*", "~", "~/", "~/*", "$HOME", "$HOME/", "$HOME/*", "${HOME}", ".", "./", "..", "../", "*", "./*"}


def simple_commands(line):
    """Each simple command with the operator before it. A line that a shell could not read is an error."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words, operator = [], ""
    for token in lexer:
        if token and set(token) <= set("();|&\n"):
            if words:
                yield operator, words
            words, operator = [], token
        else:
            words.append(token)
    if words:
        yield operator, words


def bare(words):
    """The command without assignments and without programs that only start another one."""
    while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or os.path.basename(words[0]) in WRAPPERS):
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
    return words


def judge(line):
    if re.search(r":\s*\(\s*\)\s*\{", line):
        return "deny", "this looks like a fork bomb"
    before = ""
    for operator, words in simple_commands(line):
        words = bare(words)
        if not words:
            continue
        name, args = os.path.basename(words[0]), words[1:]
        short = "".join(arg[1:] for arg in args if re.match(r"-[A-Za-z]+$", arg))
        if name == "rm" and ("r" in short.lower() or "--recursive" in args) and EVERYTHING & set(args):
            return "deny", "this deletes far too much"
        if name.startswith("mkfs") or name in {"shutdown", "reboot", "halt", "poweroff"}:
            return "deny", f"`{name}` is not for agents"
        if name == "dd" and any(re.match(r"of=/dev/(?!null$)", arg) for arg in args):
            return "deny", "this overwrites a device"
        if name in {"chmod", "chown"} and ("R" in short or "--recursive" in args) and {"/", "~", "$HOME"} & set(args):
            return "deny", f"this `{name}` reaches everything"
        if operator == "|" and before in {"curl", "wget"} and name in SHELLS:
            return "deny", "this runs a program straight from the network"
        if name == "git" and args[:1] == ["reset"] and "--hard" in args:
            return "ask", "`git reset --hard` throws changes away"
        if name == "git" and args[:1] == ["clean"] and "f" in short:
            return "ask", "`git clean` deletes files that are nowhere else"
        before = name
    return None, None


command = json.load(sys.stdin)["tool_input"].get("command", "")
try:
    decision, reason = judge(command)
except ValueError as error:
    decision, reason = "ask", f"this command line cannot be read ({error})"
if decision:
    print(json.dumps({"decision": decision, "reason": reason}))
