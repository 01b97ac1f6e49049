#!/bin/sh
# Written for Claude Code alone: it knows no other name of the tool or of its path.
echo asked >> "$CLAUDE_PROJECT_DIR/guard.log"
case $(cat) in
  *'"file_path":"'*'.key"'*) echo "no key files, says claude" >&2; exit 2 ;;
esac
