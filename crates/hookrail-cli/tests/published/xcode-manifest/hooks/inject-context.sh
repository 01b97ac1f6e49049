#!/bin/sh
# Gives the answer that the document prints for context.
cat > /dev/null
echo '{ "decision": "allow", "context": "Current sprint: Sprint 42" }'
