#!/bin/sh
# Read-only mode: while the file `.llxprt/read-only` exists, nothing is changed.
#
#   read-only.sh offer   for BeforeToolSelection: the model is offered tools that only read
#   read-only.sh guard   for BeforeTool: any other tool is denied
#
# The input is not needed, so it is not read.

[ -e "$LLXPRT_PROJECT_DIR/.llxprt/read-only" ] || exit 0

case $1 in
offer)
    cat <<'JSON'
{
  "hookSpecificOutput": {
    "hookEventName": "BeforeToolSelection",
    "toolConfig": { "mode": "AUTO", "allowedFunctionNames": ["glob", "list_directory", "read_file", "search_file_content"] }
  }
}
JSON
    ;;
guard)
    echo 'the project is read-only; remove .llxprt/read-only to change things' >&2
    exit 2
    ;;
*)
    echo "read-only.sh: unknown argument: $1" >&2
    exit 1
    ;;
esac
