# Exit status 2 blocks; the model reads the reason on standard error.
if grep -q '"path":"[^"]*\.env"'; then
  echo '.env holds secrets; use the secret store' >&2
  exit 2
fi
