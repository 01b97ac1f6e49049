#!/bin/sh
# Stops the agent, whatever the model said.
cat > /dev/null
printf '%s\n' '{"continue": false, "stopReason": "the budget of this session is used up"}'
