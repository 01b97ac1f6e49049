# Changes what the model said before it is shown; a budget that is used up stops the agent.
input=$(cat)
case $input in
  *'"text":"Next, '*) echo '{"continue": false, "stopReason": "the budget of this session is used up"}' ;;
  *'tok-1234'*) echo '{"hookSpecificOutput": {"llm_response": {"text": "The token is [redacted]. I will deploy with it."}}}' ;;
esac
