# Replaces what the model sees of a shell command.
cat > /dev/null
printf '{"decision":"modify","output":"replaced by xcode"}'
