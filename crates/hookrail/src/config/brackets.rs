//! Says in an author's words why a text is not JSON: which bracket is open, where a comma is missing.

/// Explains why a text is not JSON, given the error of the parser; none if nothing better is known than that.
pub(crate) fn explain_json_error(text: &str, error: &serde_json::Error) -> Option<String> {
    if error.is_eof() {
        return explain_syntax(text, text.len());
    }
    // The parser counts columns in bytes, from one, and names the last byte that it has read.
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    explain_syntax(text, text.floor_char_boundary(line_start + error.column().saturating_sub(1)))
}

/// Explains why a text is not JSON, given the byte at which a parser stopped; none if nothing better is known than that the text is not JSON.
#[must_use]
pub fn explain_syntax(text: &str, at: usize) -> Option<String> {
    let before = Scan::of(text.get(..at)?);
    let rest = text.get(at..)?;
    match (rest.chars().next(), before.open.last()) {
        (Some('\''), _) => Some("strings have double quotes in JSON".to_owned()),
        (Some(close @ ('}' | ']')), Some((open, line))) if closing(*open) != close => {
            Some(format!("`{open}` of line {line} is still open; close it with `{}` first", closing(*open)))
        }
        (Some('}' | ']'), None) => Some("there is one closing bracket too many".to_owned()),
        (Some('"' | '{' | '['), _) if before.ends_with_value => {
            Some(format!("a comma is missing before this, at the end of line {}", before.value_line))
        }
        _ => {
            // What the parser stops at may be right, and a bracket further up is not closed.
            let whole = Scan::of(text);
            if let Some(line) = whole.open_string {
                return Some(format!("the string that begins in line {line} is not closed; add `\"`"));
            }
            let (open, line) = whole.open.last()?;
            Some(format!("`{open}` of line {line} is not closed; add `{}`", closing(*open)))
        }
    }
}

fn closing(open: char) -> char {
    if open == '[' { ']' } else { '}' }
}

/// What is open at the end of a text.
#[derive(Default)]
struct Scan {
    open: Vec<(char, usize)>,
    /// The line of a string that reaches to the end.
    open_string: Option<usize>,
    ends_with_value: bool,
    value_line: usize,
}

impl Scan {
    fn of(text: &str) -> Self {
        let mut scan = Self::default();
        let mut line = 1;
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' => line += 1,
                '"' => {
                    scan.open_string = Some(line);
                    scan.value_at(line);
                    while let Some(inner) = letters.next() {
                        match inner {
                            '\\' => drop(letters.next()),
                            '"' | '\n' => {
                                line += usize::from(inner == '\n');
                                scan.open_string = None;
                                break;
                            }
                            _ => {}
                        }
                    }
                }
                '/' if letters.peek() == Some(&'/') => while letters.next_if(|inner| *inner != '\n').is_some() {},
                '/' if letters.peek() == Some(&'*') => {
                    letters.next();
                    let mut last = ' ';
                    for inner in letters.by_ref() {
                        line += usize::from(inner == '\n');
                        if (last, inner) == ('*', '/') {
                            break;
                        }
                        last = inner;
                    }
                }
                '{' | '[' => {
                    scan.open.push((letter, line));
                    scan.ends_with_value = false;
                }
                '}' | ']' => {
                    scan.open.pop();
                    scan.value_at(line);
                }
                ',' | ':' => scan.ends_with_value = false,
                _ if letter.is_whitespace() => {}
                _ => scan.value_at(line),
            }
        }
        scan
    }

    fn value_at(&mut self, line: usize) {
        (self.ends_with_value, self.value_line) = (true, line);
    }
}

#[cfg(test)]
mod tests {
    use super::{explain_json_error, explain_syntax};

    fn explained(text: &str) -> String {
        explain_syntax(&text.replace('^', ""), text.find('^').unwrap()).unwrap_or_default()
    }

    #[test]
    fn the_bracket_or_the_comma_is_named() {
        assert_eq!(explained("{\n \"a\": [^}\n"), "`[` of line 2 is still open; close it with `]` first");
        assert_eq!(explained("{\n \"a\": 1 // x\n ^\"b\": 2}"), "a comma is missing before this, at the end of line 2");
        assert_eq!(explained("{\n \"a\": {\n  \"b\": 1\n^"), "`{` of line 2 is not closed; add `}`");
        assert_eq!(explained("{^'a': 1}"), "strings have double quotes in JSON");
        assert_eq!(explained("{}\n^}"), "there is one closing bracket too many");
        assert_eq!(explained("{\n \"a\": \"b}^"), "the string that begins in line 2 is not closed; add `\"`");
    }

    #[test]
    fn the_error_of_the_parser_is_explained() {
        for (text, why) in [
            ("{\"a\": \"b\"", "`{` of line 1 is not closed; add `}`"),
            ("{\"a\": {\n\"b\": 1\n}", "`{` of line 1 is not closed; add `}`"),
            ("{\"a\": [1, 2}", "`[` of line 1 is still open; close it with `]` first"),
            ("{\"a\": 1 \"b\": 2}", "a comma is missing before this, at the end of line 1"),
            ("{\"a\": 1}}", "there is one closing bracket too many"),
            ("{'a': 1}", "strings have double quotes in JSON"),
            ("{\"a\": \"ä", "the string that begins in line 1 is not closed; add `\"`"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert_eq!(explain_json_error(text, &error).as_deref(), Some(why), "{text}");
        }
    }
}
