# Changes what the first hook of the chain has made of a draft.
input=$(cat)
path=$(printf '%s' "$input" | sed -n 's/.*"filePath": *"\([^"]*\)".*/\1/p')
case $input in
*'changed once'*) printf '{"decision":"modify","args":{"filePath":"%s","content":"changed twice by chain"}}' "$path" ;;
esac
