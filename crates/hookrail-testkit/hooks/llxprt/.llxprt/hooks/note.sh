#!/bin/sh
# Tells the model something after each shell command.
cat > /dev/null
printf '{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"context by llxprt"}}'
