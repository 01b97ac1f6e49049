#!/bin/sh
# Blocks key files, turns drafts into final texts, and stops the agent when it is told to.
input=$(cat)
path=$(printf '%s' "$input" | sed -n 's/.*"absolute_path": *"\([^"]*\)".*/\1/p')
case $path in
*.key)
    echo "no key files, says llxprt" >&2
    exit 2
    ;;
esac
case $input in
*DRAFT*)
    printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"absolute_path":"%s","content":"final by llxprt"}}}' "$path"
    ;;
*HALT*)
    printf '{"continue":false,"stopReason":"stopped by llxprt"}'
    ;;
esac
