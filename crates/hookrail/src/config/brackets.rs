//! Says in an author's words why a text is not JSON: which bracket is open, where a comma is missing.

/// Explains the error at an offset; none if nothing better is known than that the text is not JSON.
pub(super) fn explain_syntax(text: &str, at: usize) -> Option<String> {
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
                    while let Some(inner) = letters.next() {
                        match inner {
                            '\\' => drop(letters.next()),
                            '"' | '\n' => break,
                            _ => {}
                        }
                    }
                    scan.value_at(line);
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
    use super::explain_syntax;

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
    }
}
