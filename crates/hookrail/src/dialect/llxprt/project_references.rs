//! Quotes references to the project in a command line.
//!
//! Without quotes a blank in the project's path splits the command, and a guard that cannot be found lets everything
//! pass.

use std::sync::Arc;

use hookrail_shell::{PieceKind, Quotes, rewrite};

use super::command::PROJECT_VARIABLES;

/// The line with quotes around unquoted references to the project; nothing if there are none.
pub(super) fn with_quoted_project(line: &str) -> Option<Arc<str>> {
    if !line.contains("_PROJECT_DIR") {
        return None;
    }
    let quoted = rewrite(line, &mut |piece| match &piece.kind {
        PieceKind::Parameter(parameter) if piece.quotes == Quotes::None && parameter.is_plain() => {
            let is_project = PROJECT_VARIABLES.contains(&parameter.name.as_str());
            line.get(piece.span.range()).filter(|_| is_project).map(|written| format!("\"{written}\""))
        }
        _ => None,
    });
    quoted.map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::with_quoted_project;

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
