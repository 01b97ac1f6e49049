#!/bin/sh
# Blocks key files and makes the first change of a draft.
input=$(cat)
path=$(printf '%s' "$input" | sed -n 's/.*"absolute_path": *"\([^"]*\)".*/\1/p')
case $path in
*.key)
    echo "no key files, says chain" >&2
    exit 2
    ;;
esac
case $input in
*DRAFT*)
    printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"absolute_path":"%s","content":"changed once"}}}' "$path"
    ;;
esac
