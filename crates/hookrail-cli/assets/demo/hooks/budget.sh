#!/bin/sh
# Stops the agent after the model's response.
cat > /dev/null
printf '%s\n' '{"continue": false, "stopReason": "the budget of this session is used up"}'
