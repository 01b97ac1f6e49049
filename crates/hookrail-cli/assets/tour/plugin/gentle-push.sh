# A push by force becomes one that looks first.
if grep -q 'push --force"'; then
  echo '{"decision": "modify", "args": {"command": "echo git push --force-with-lease"}}'
else
  echo '{"decision": "allow"}'
fi
