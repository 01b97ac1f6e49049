# Asks the user, who sees the final command.
if grep -q '"command":"[^"]*deploy'; then
  echo '{"decision": "ask", "reason": "this reaches the servers"}'
fi
