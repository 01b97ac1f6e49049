#!/bin/sh
# Rewrites: the answer carries the input that the tool gets.
if grep -q '"git push --force"'; then
    printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool",
        "tool_input": {"command": "git push --force-with-lease"}}}'
fi
