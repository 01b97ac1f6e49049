#!/bin/sh
# {{name}}: {{about}}.
#
# The event is one JSON object on standard input, and the answer is one on standard output. No answer is no
# opinion. This is a sample that uses nothing but `grep`: it does not undo JSON escapes.

if grep -Eq '"{{key}}"[[:space:]]*:[[:space:]]*"[^"]*{{pattern}}'; then
    printf '%s\n' '{{answer}}'
fi
