# The model reads this after the file.
echo '{"hookSpecificOutput": {"additionalContext": "House rule: every change needs a test."}}'
