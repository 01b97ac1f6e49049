//! A command line as it is given to the shell.

use std::sync::Arc;

/// The variables that hold the project's directory. The shell expands them; their values are never pasted into a command.
pub(super) const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// The line with quotes around references to the project that stand outside of quotes; nothing if there are none.
///
/// Without them a blank in the project's path splits the command, and a guard that cannot be found lets everything pass.
pub(super) fn with_quoted_project(line: &str) -> Option<Arc<str>> {
    // In the text of a here-document quotes are part of the text, and where such a text begins is the shell's to say.
    if !line.contains("_PROJECT_DIR") || line.contains("<<") {
        return None;
    }
    let mut out = String::with_capacity(line.len() + 8);
    let mut quote = None;
    let mut rest = line;
    let mut changed = false;
    while let Some(first) = rest.chars().next() {
        let reference = if quote.is_none() { project_reference(rest) } else { None };
        if let Some(reference) = reference {
            out.push('"');
            out.push_str(reference);
            out.push('"');
            rest = rest.get(reference.len()..).unwrap_or_default();
            changed = true;
            continue;
        }
        let length = match (first, quote) {
            // An escaped character has no meaning of its own, except in single quotes.
            ('\\', None | Some('"')) => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            (end, Some(begin)) if end == begin => {
                quote = None;
                first.len_utf8()
            }
            ('"' | '\'', None) => {
                quote = Some(first);
                first.len_utf8()
            }
            _ => first.len_utf8(),
        };
        let (done, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(done);
        rest = behind;
    }
    changed.then(|| out.into())
}

/// The reference to the project that the text begins with.
fn project_reference(text: &str) -> Option<&str> {
    let reference = PROJECT_VARIABLES.iter().find_map(|name| {
        let is_name = |next: char| next.is_ascii_alphanumeric() || next == '_';
        let braced = format!("${{{name}}}");
        let plain = format!("${name}");
        if text.starts_with(&braced) {
            Some(braced)
        } else {
            text.strip_prefix(&plain).filter(|rest| !rest.starts_with(is_name)).map(|_| plain.clone())
        }
    })?;
    text.get(..reference.len())
}

#[cfg(test)]
mod tests {
    use super::with_quoted_project;

    #[test]
    fn a_reference_outside_of_quotes_is_quoted_and_nothing_else_is_changed() {
        for (line, expected) in [
            ("$LLXPRT_PROJECT_DIR/x.sh", "\"$LLXPRT_PROJECT_DIR\"/x.sh"),
            ("sh ${CLAUDE_PROJECT_DIR}/a b", "sh \"${CLAUDE_PROJECT_DIR}\"/a b"),
            ("cd $GEMINI_PROJECT_DIR; ls", "cd \"$GEMINI_PROJECT_DIR\"; ls"),
            ("X=$LLXPRT_PROJECT_DIR \"$LLXPRT_PROJECT_DIR\"/x", "X=\"$LLXPRT_PROJECT_DIR\" \"$LLXPRT_PROJECT_DIR\"/x"),
        ] {
            assert_eq!(with_quoted_project(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "\"$LLXPRT_PROJECT_DIR/x.sh\"",
            "'$LLXPRT_PROJECT_DIR'",
            "\\$LLXPRT_PROJECT_DIR",
            "$LLXPRT_PROJECT_DIRX",
            "$HOME/x",
            "${LLXPRT_PROJECT_DIR:-x}",
            "cat <<E\n$LLXPRT_PROJECT_DIR\nE",
            "echo \"a \\\" $LLXPRT_PROJECT_DIR\"",
        ] {
            assert_eq!(with_quoted_project(line), None, "{line}");
        }
    }
}
