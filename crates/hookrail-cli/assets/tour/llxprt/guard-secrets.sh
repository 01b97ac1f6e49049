# Exit 2 blocks; what stands on stderr is what the model reads.
if grep -q '"path":"[^"]*\.env"'; then
  echo 'secrets stay out of the repository; use the secret store' >&2
  exit 2
fi
