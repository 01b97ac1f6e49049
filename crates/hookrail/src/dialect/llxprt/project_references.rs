//! Quotes references to the project in a command line.
//!
//! Without quotes a blank in the project's path splits the command, and a guard that cannot be found lets everything
//! pass. The scanner knows as much of a shell's syntax as decides whether a reference is inside of quotes: quotes,
//! substitutions, comments and here-documents.

use std::sync::Arc;

use super::command::PROJECT_VARIABLES;

/// The line with quotes around unquoted references to the project; nothing if there are none.
pub(super) fn with_quoted_project(line: &str) -> Option<Arc<str>> {
    if !line.contains("_PROJECT_DIR") {
        return None;
    }
    let mut scanner = Scanner {
        rest: line,
        out: String::with_capacity(line.len() + 8),
        open: Vec::new(),
        here_documents: Vec::new(),
        changed: false,
    };
    while scanner.step() {}
    scanner.changed.then(|| scanner.out.into())
}

/// A construct that the scanner is inside of.
#[derive(Debug, PartialEq, Eq)]
enum Construct {
    DoubleQuotes,
    /// `$(…)`
    Substitution(Parentheses),
    Backticks,
    /// `${…}`
    Braces,
}

/// The parentheses inside a substitution. The `)` behind a pattern of a `case` closes none of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parentheses {
    open: usize,
    /// For every `case` that is open, the parentheses that were open before it.
    before_cases: Vec<usize>,
}

/// The effect of a `)` inside a substitution.
enum Closes {
    TheSubstitution,
    SomethingInside,
}

impl Parentheses {
    fn close(&mut self) -> Closes {
        match (self.open, self.before_cases.last()) {
            (open, Some(before)) if open <= *before => {}
            (0, _) => return Closes::TheSubstitution,
            (open, _) => self.open = open - 1,
        }
        Closes::SomethingInside
    }
}

/// A here-document whose text begins at the next line.
struct HereDocument {
    delimiter: String,
    /// `<<-`: tabs before the delimiter do not count.
    strips_tabs: bool,
}

struct Scanner<'l> {
    rest: &'l str,
    out: String,
    /// The constructs that are open, the innermost last.
    open: Vec<Construct>,
    here_documents: Vec<HereDocument>,
    changed: bool,
}

impl Scanner<'_> {
    /// Takes the next piece of the line. False at its end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        if self.open.last() == Some(&Construct::DoubleQuotes) {
            self.step_in_double_quotes(first);
        } else {
            self.step_outside_quotes(first);
        }
        true
    }

    fn step_in_double_quotes(&mut self, first: char) {
        match first {
            '\\' => self.take_characters(2),
            '"' => self.close(1),
            '$' if self.rest.starts_with("$(") => self.open_substitution(),
            _ => self.take_characters(1),
        }
    }

    fn step_outside_quotes(&mut self, first: char) {
        if let Some(reference) = project_reference(self.rest) {
            let length = reference.len();
            self.out.push('"');
            self.take(length);
            self.out.push('"');
            self.changed = true;
            return;
        }
        match first {
            '\\' => self.take_characters(2),
            '\'' => self.take_string("'", Escapes::None),
            '"' => self.open(Construct::DoubleQuotes, 1),
            '$' if self.rest.starts_with("$'") => self.take_string("$'", Escapes::Backslash),
            '$' if self.rest.starts_with("$(") => self.open_substitution(),
            '$' if self.rest.starts_with("${") => self.open(Construct::Braces, 2),
            '`' if self.open.last() == Some(&Construct::Backticks) => self.close(1),
            '`' => self.open(Construct::Backticks, 1),
            '}' if self.open.last() == Some(&Construct::Braces) => self.close(1),
            '(' | ')' => self.take_parenthesis(first),
            'c' | 'e' if self.is_at_word_start() => self.take_word(),
            '#' if self.is_at_word_start() => self.take_comment(),
            '<' if self.rest.starts_with("<<<") => self.take(3),
            '<' if self.rest.starts_with("<<") => self.take_here_document_operator(),
            '\n' => {
                self.take(1);
                self.take_here_documents();
            }
            _ => self.take_characters(1),
        }
    }

    fn open_substitution(&mut self) {
        self.open(Construct::Substitution(Parentheses::default()), 2);
    }

    fn take_parenthesis(&mut self, parenthesis: char) {
        if let Some(Construct::Substitution(parentheses)) = self.open.last_mut() {
            match parenthesis {
                '(' => parentheses.open += 1,
                _ => {
                    if let Closes::TheSubstitution = parentheses.close() {
                        return self.close(1);
                    }
                }
            }
        }
        self.take(1);
    }

    /// Copies a word that may begin or end a `case`.
    fn take_word(&mut self) {
        let length = self.rest.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let is_command = self.is_at_command();
        let word = self.rest.get(..length).unwrap_or_default();
        if let Some(Construct::Substitution(parentheses)) = self.open.last_mut() {
            match word {
                "case" if is_command => parentheses.before_cases.push(parentheses.open),
                "esac" => _ = parentheses.before_cases.pop(),
                _ => {}
            }
        }
        self.take(length);
    }

    /// Whether the next word is a command and not an argument.
    fn is_at_command(&self) -> bool {
        let before = self.out.trim_end_matches([' ', '\t']);
        before.is_empty()
            || before.ends_with(['(', ')', ';', '|', '&', '\n', '{', '!'])
            || ["then", "do", "else"].iter().any(|word| before.ends_with(word))
    }

    /// Copies this many bytes.
    fn take(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn take_characters(&mut self, count: usize) {
        let length = self.rest.chars().take(count).map(char::len_utf8).sum();
        self.take(length);
    }

    fn open(&mut self, construct: Construct, length: usize) {
        self.open.push(construct);
        self.take(length);
    }

    fn close(&mut self, length: usize) {
        self.open.pop();
        self.take(length);
    }

    /// Copies a string up to the next single quote.
    fn take_string(&mut self, start: &str, escapes: Escapes) {
        self.take(start.len());
        while let Some(next) = self.rest.chars().next() {
            match next {
                '\'' => return self.take(1),
                '\\' if escapes == Escapes::Backslash => self.take_characters(2),
                _ => self.take_characters(1),
            }
        }
    }

    fn is_at_word_start(&self) -> bool {
        self.out.chars().next_back().is_none_or(|before| before.is_ascii_whitespace() || ";&|()`".contains(before))
    }

    /// Copies a comment, in which quotes mean nothing.
    fn take_comment(&mut self) {
        let ends_with_backtick = self.open.contains(&Construct::Backticks);
        let is_end = |next: char| next == '\n' || next == '`' && ends_with_backtick;
        self.take(self.rest.find(is_end).unwrap_or(self.rest.len()));
    }

    /// Copies `<<` and the delimiter of a here-document. In `1 << 2` there is no delimiter.
    fn take_here_document_operator(&mut self) {
        self.take(2);
        let strips_tabs = self.rest.starts_with('-');
        self.take(usize::from(strips_tabs));
        self.take(self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len());
        let ends_word = |next: char| " \t\n;&|<>()`".contains(next);
        // A delimiter in quotes may contain blanks.
        let end = match self.rest.chars().next() {
            Some(quote @ ('\'' | '"')) => self.rest.match_indices(quote).nth(1).map(|(at, _)| at + 1),
            _ => self.rest.find(ends_word),
        };
        let end = end.unwrap_or(self.rest.len());
        let written = self.rest.get(..end).unwrap_or_default();
        let delimiter: String = written.chars().filter(|next| !"'\"\\".contains(*next)).collect();
        if delimiter.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            self.take(end);
            self.here_documents.push(HereDocument { delimiter, strips_tabs });
        }
    }

    /// Copies the texts of the here-documents that begin at this line. Quotes would be part of them.
    fn take_here_documents(&mut self) {
        for document in std::mem::take(&mut self.here_documents) {
            while !self.rest.is_empty() {
                let length = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
                let line = self.rest.get(..length).unwrap_or_default().trim_end_matches('\n');
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
                let is_last = line == document.delimiter;
                self.take(length);
                if is_last {
                    break;
                }
            }
        }
    }
}

/// Whether a backslash escapes in a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    Backslash,
}

/// The reference to the project that the text begins with.
fn project_reference(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$')?;
    let (name, signs) = match rest.strip_prefix('{') {
        Some(braced) => (braced.split_once('}')?.0, "${}".len()),
        None => {
            let is_other = |next: char| !(next.is_ascii_alphanumeric() || next == '_');
            (rest.split(is_other).next()?, "$".len())
        }
    };
    text.get(..name.len() + signs).filter(|_| PROJECT_VARIABLES.contains(&name))
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
