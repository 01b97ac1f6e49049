#!/bin/sh
# Written for Claude Code alone: it knows no other name of the event, the tool or its argument.
case $(cat) in
  *'"hook_event_name":"PreToolUse"'*'"tool_name":"Bash"'*'"command":"mkfs'*) echo "no new file systems" >&2; exit 2 ;;
esac
