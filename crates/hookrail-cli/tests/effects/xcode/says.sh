# Says what the case wants at the event that it names.
case $(cat) in *"\"$EVENT\""*) printf '%s' "$ANSWER" ;; esac
