#!/bin/sh
# AfterAgent: the agent is not done before this succeeds.
#
#   test-gate.sh COMMAND [ARGUMENT…]   such as: test-gate.sh make test
#
# An agent that was sent back once is let go the second time, so that it cannot be held for ever.

if grep -Eq '"stop_hook_active":[[:space:]]*true'; then
    exit 0
fi
if ! output=$("$@" 2>&1 </dev/null); then
    {
        echo "\`$*\` fails; repair it before you finish. The end of its output:"
        printf '%s\n' "$output" | tail -n 20
    } >&2
    exit 2
fi
