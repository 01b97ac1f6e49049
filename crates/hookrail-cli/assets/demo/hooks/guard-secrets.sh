#!/bin/sh
# Blocks: exit status 2, with the reason on standard error.
if grep -Eq '"path"[[:space:]]*:[[:space:]]*"([^"]*/)?\.env"'; then
    echo 'secrets stay out of the repository; use the secret store' >&2
    exit 2
fi
