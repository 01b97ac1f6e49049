#!/bin/sh
# Restricts tools: in a review the model may only read.
if grep -q 'review'; then
    printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection",
        "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read_file", "list_directory"]}}}'
fi
