#!/bin/sh
# Written for Claude Code alone: it knows no other name of the tool or of its path.
case $(cat) in
  *'"file_path":"'*'.key"'*) echo "no key files, says claude" >&2; exit 2 ;;
esac
