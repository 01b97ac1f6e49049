#!/bin/sh
# {{name}}: {{about}}. The event is one JSON object on standard input.

cat >/dev/null
echo '{{name}} was told of {{event}}' >&2
