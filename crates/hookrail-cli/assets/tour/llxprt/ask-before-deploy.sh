# The user is asked, with the final command in front of them.
if grep -q '"command":"[^"]*deploy'; then
  echo '{"decision": "ask", "reason": "this reaches the servers"}'
fi
