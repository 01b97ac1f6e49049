# Replaces `--force` with `--force-with-lease`, which checks the remote branch first.
if grep -q 'push --force"'; then
  echo '{"decision": "modify", "args": {"command": "echo git push --force-with-lease"}}'
else
  echo '{"decision": "allow"}'
fi
