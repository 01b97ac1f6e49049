#!/bin/sh
# Notification: a desktop notification when the agent waits for you.
#
# The text is fixed and nothing of the input is used, so nothing in it can become a command.

title='agent'
text='The agent waits for you.'
if command -v notify-send >/dev/null 2>&1; then
    notify-send -- "$title" "$text"
elif command -v osascript >/dev/null 2>&1; then
    osascript -e "display notification \"$text\" with title \"$title\""
else
    # Plain text is shown by the agent.
    echo "$text"
fi
