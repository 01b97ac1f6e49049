#!/bin/sh
# A guard for BeforeTool: it keeps the agent from writing `.env` files.
#
# A hook reads one JSON object from standard input, such as
#   {"tool_name": "write_file", "tool_input": {"path": ".env"}, ...}
# and answers with its exit status: 0 allows, 2 blocks. After a 2, standard
# error is the reason, which the agent reads too. A JSON object on standard
# output can say more, such as {"decision": "deny", "reason": "..."}.
#
# This uses nothing but `grep`. It is a sample: it looks for the usual
# spellings of a path and does not undo JSON escapes.

if grep -Eq '"(path|file_path|absolute_path)"[[:space:]]*:[[:space:]]*"([^"]*[/\\])?\.env(\.[^"/\\]*)?"'; then
    echo 'files named `.env` hold secrets and are not written by the agent' >&2
    exit 2
fi
exit 0
