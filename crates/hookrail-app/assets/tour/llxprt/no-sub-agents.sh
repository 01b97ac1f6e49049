# The model sees only these tools.
echo '{"hookSpecificOutput": {"toolConfig": {"mode": "AUTO", "allowedFunctionNames": ["read_file", "write_file", "run_shell_command"]}}}'
