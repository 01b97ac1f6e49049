//! Quotes references to folders in a command line, such as the project's.
//!
//! Without quotes a blank in the path splits the command, and a guard that cannot be found lets everything pass.

use std::sync::Arc;

use hookrail_shell::{PieceKind, Quotes, rewrite};

/// The line with quotes around unquoted references to these variables; nothing if there are none.
pub(crate) fn with_quoted_variables(line: &str, variables: &[&str]) -> Option<Arc<str>> {
    if !variables.iter().any(|variable| line.contains(variable)) {
        return None;
    }
    let quoted = rewrite(line, &mut |piece| match &piece.kind {
        PieceKind::Parameter(parameter) if piece.quotes == Quotes::None && parameter.is_plain() => {
            let is_meant = variables.contains(&parameter.name.as_str());
            line.get(piece.span.range()).filter(|_| is_meant).map(|written| format!("\"{written}\""))
        }
        _ => None,
    });
    quoted.map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::with_quoted_variables;

    fn with_quoted_project(line: &str) -> Option<std::sync::Arc<str>> {
        with_quoted_variables(line, &["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"])
    }

    #[test]
    fn a_reference_outside_of_quotes_is_quoted_and_nothing_else_is_changed() {
        // `@` stands for a reference, and `[@]` for one that gets quotes.
        for line in [
            "[@]/x.sh",
            "sh [@]/a b",
            "cd [@]; ls",
            "X=[@] \"@\"/x",
            "\"@/x.sh\"",
            "'@'",
            "\\@",
            "@X",
            "$HOME/x",
            "echo \"a \\\" @\"",
            "# don't\n[@]/x.sh",
            "true # it's @'s\n[@]/x.sh '@'",
            "echo ${#x} $# a#b' @' [@]",
            "x=$(cd [@] && pwd)",
            "x=\"$(cd [@] && pwd) @\" [@]",
            "x=\"$(dirname \"@\" [@]) $(echo '@') @\"",
            "x=\"$( (cd [@]) ) @\"",
            "x=`cd [@]` [@]",
            "x=${y:-[@]/z} \"${y:-@/z}\"",
            "x=$'it\\'s @' [@]",
            "grep -q x <<< \"@\" && [@]/x",
            "echo $((1 << 2)); [@]/x",
            "cat <<E\n@\nE",
            "cat <<E; [@]/x\nit's @\nE\n[@]/y",
            "cat <<-'E F'\n\t@\n\tE F\n[@]",
            "cat <<A <<\"B\"\n@\nA\n@\nB\n[@]",
            "case [@] in *'x'*) [@]/x;; esac",
            "x=\"$(case y in a) echo \"@\" [@];; (b) [@];; esac) @\"; [@]",
            "x=\"$( (case y in a) (echo \"@\");; esac); echo case [@]) @\"",
        ] {
            for name in ["$LLXPRT_PROJECT_DIR", "${GEMINI_PROJECT_DIR}", "${CLAUDE_PROJECT_DIR}"] {
                if line.contains("@X") && name.contains('{') {
                    continue;
                }
                let plain = line.replace("[@]", "@").replace('@', name);
                let expected = line.replace("[@]", "\"@\"").replace('@', name);
                let quoted = with_quoted_project(&plain);
                assert_eq!(quoted.as_deref().unwrap_or(&plain), expected);
                assert_eq!(quoted.is_some(), plain != expected, "{plain}");
            }
        }
        assert_eq!(with_quoted_project("${LLXPRT_PROJECT_DIR:-x}"), None);
    }
}
