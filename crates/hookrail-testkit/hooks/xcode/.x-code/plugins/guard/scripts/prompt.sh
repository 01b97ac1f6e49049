# Tells the model something at each prompt.
cat > /dev/null
printf '{"decision":"allow","context":"context by xcode"}'
