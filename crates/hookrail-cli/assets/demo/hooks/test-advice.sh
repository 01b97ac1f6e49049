#!/bin/sh
# Adds context: the model reads this together with the tool's result.
if grep -q 'FAILED'; then
    printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool",
        "additionalContext": "test_login is known to be flaky: run it again before you change code"}}'
fi
