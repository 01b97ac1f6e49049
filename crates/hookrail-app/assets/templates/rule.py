#!/usr/bin/env python3
"""{{name}}: {{about}}.

The event is one JSON object on standard input, and the answer is one on standard output. No answer is no opinion.
"""
import json
import sys

event = json.load(sys.stdin)
text = str(event{{place}}.get("{{key}}", ""))
if "{{word}}" in text:
    print(json.dumps({{answer}}))
