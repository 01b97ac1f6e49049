//! Says in an author's words why a text is not JSON: which bracket is open, where a comma is missing.

use std::ops::Range;

/// Explains why a text is not JSON, given the error of the parser; none if nothing better is known than that.
pub(crate) fn explain_json_error(text: &str, error: &serde_json::Error) -> Option<String> {
    if error.is_eof() {
        return explain_open(text);
    }
    // The parser counts columns in bytes, from one, and names the last byte that it has read.
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    explain_syntax(text, text.floor_char_boundary(line_start + error.column().saturating_sub(1)))
}

/// Explains why a text is not JSON, given the byte at which a parser stopped; none if nothing better is known than that.
#[must_use]
pub fn explain_syntax(text: &str, at: usize) -> Option<String> {
    let before = Scan::of(text.get(..at)?);
    let rest = text.get(at..)?;
    match (rest.chars().next(), before.open.last()) {
        (Some('\''), _) => Some("strings have double quotes in JSON".to_owned()),
        (Some(close @ ('}' | ']')), Some(OpenBracket { bracket, line, .. })) if closing(*bracket) != close => {
            Some(format!("`{bracket}` of line {line} is still open; close it with `{}` first", closing(*bracket)))
        }
        (Some('}' | ']'), None) => Some("there is one closing bracket too many".to_owned()),
        (Some('"' | '{' | '['), _) if before.ends_with_value => {
            Some(format!("a comma is missing before this, at the end of line {}", before.value_line))
        }
        // What the parser stops at may be right, and a bracket further up is not closed.
        _ => explain_open(text),
    }
}

/// Explains a word of another language in place of a value.
pub(super) fn explain_word(text: &str, noticed: &Range<usize>) -> Option<String> {
    let rest = text.get(noticed.start..)?;
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let meant = match rest.get(..end)? {
        "True" | "TRUE" | "yes" | "on" => "true",
        "False" | "FALSE" | "no" | "off" => "false",
        "None" | "nil" | "undefined" | "NULL" => "null",
        _ => return None,
    };
    Some(format!("write `{meant}`"))
}

/// Names the string or the bracket that is not closed at the end of a text.
pub(super) fn explain_open(text: &str) -> Option<String> {
    let scan = Scan::of(text);
    if let Some(string) = &scan.unclosed_string {
        let line = text.get(..string.start)?.matches('\n').count() + 1;
        return Some(format!("the string that begins in line {line} is not closed; add `\"`"));
    }
    let last = scan.open.last()?;
    let OpenBracket { bracket, line, .. } = scan.suspect.unwrap_or(*last);
    Some(format!("`{bracket}` of line {line} is not closed; add `{}`", closing(bracket)))
}

fn closing(open: char) -> char {
    if open == '[' { ']' } else { '}' }
}

/// What an author has to look at if the parser noticed an error only later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SyntaxCause {
    /// A string that is not closed on its line.
    OpenString(Range<usize>),
    /// A bracket whose closing bracket is missing, or the end of the text.
    OpenBracket(Range<usize>),
}

/// Returns the cause of an error that the parser noticed at a place.
pub(super) fn find_cause(text: &str, noticed: &Range<usize>, is_unterminated: bool) -> Option<SyntaxCause> {
    let scan = Scan::of(text);
    if let Some(string) = scan.unclosed_string.clone().filter(|string| string.start <= noticed.end) {
        return Some(SyntaxCause::OpenString(string));
    }
    if !is_unterminated {
        return None;
    }
    let end = text.trim_end().len();
    let last = text.get(..end)?.char_indices().next_back().map_or(0, |(at, _)| at);
    let place = scan.suspect.map_or(last..end, |suspect| suspect.at..suspect.at + 1);
    Some(SyntaxCause::OpenBracket(place))
}

/// What is open at the end of a text.
#[derive(Default)]
struct Scan {
    open: Vec<OpenBracket>,
    ends_with_value: bool,
    value_line: usize,
    /// The first string that goes on behind the end of its line.
    unclosed_string: Option<Range<usize>>,
    /// The first bracket whose closing bracket is indented as that of another one.
    suspect: Option<OpenBracket>,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct OpenBracket {
    bracket: char,
    line: usize,
    at: usize,
    /// The indentation of its line.
    indentation: usize,
}

impl Scan {
    fn of(text: &str) -> Self {
        let mut scan = Self::default();
        let mut line = 1;
        let mut indentation = Indentation::default();
        let mut letters = text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\n' => {
                    line += 1;
                    indentation = Indentation::default();
                    continue;
                }
                _ if letter.is_whitespace() => {
                    indentation.blank();
                    continue;
                }
                '"' => {
                    let mut end = at + 1;
                    let mut is_closed = false;
                    while let Some((inner_at, inner)) = letters.next_if(|(_, inner)| *inner != '\n') {
                        end = inner_at + inner.len_utf8();
                        match inner {
                            '\\' => drop(letters.next_if(|(_, inner)| *inner != '\n')),
                            '"' => {
                                is_closed = true;
                                break;
                            }
                            _ => {}
                        }
                    }
                    if !is_closed {
                        scan.unclosed_string.get_or_insert(at..end);
                    }
                    scan.value_at(line);
                }
                '/' if letters.peek().is_some_and(|(_, next)| *next == '/') => {
                    while letters.next_if(|(_, inner)| *inner != '\n').is_some() {}
                }
                '/' if letters.peek().is_some_and(|(_, next)| *next == '*') => {
                    letters.next();
                    let mut last = ' ';
                    for (_, inner) in letters.by_ref() {
                        line += usize::from(inner == '\n');
                        if (last, inner) == ('*', '/') {
                            break;
                        }
                        last = inner;
                    }
                }
                '{' | '[' => {
                    scan.open.push(OpenBracket { bracket: letter, line, at, indentation: indentation.width });
                    scan.ends_with_value = false;
                }
                '}' | ']' => {
                    let opened = scan.open.pop();
                    // Only a bracket that begins its line shows where its author thinks that it belongs.
                    if let Some(opened) = opened
                        && !indentation.has_code
                        && opened.line != line
                        && opened.indentation > indentation.width
                    {
                        scan.suspect.get_or_insert(opened);
                    }
                    scan.value_at(line);
                }
                ',' | ':' => scan.ends_with_value = false,
                _ => scan.value_at(line),
            }
            indentation.has_code = true;
        }
        scan
    }

    fn value_at(&mut self, line: usize) {
        (self.ends_with_value, self.value_line) = (true, line);
    }
}

/// The blanks at the beginning of a line.
#[derive(Default)]
struct Indentation {
    width: usize,
    has_code: bool,
}

impl Indentation {
    fn blank(&mut self) {
        if !self.has_code {
            self.width += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SyntaxCause, explain_json_error, explain_syntax, explain_word, find_cause};

    #[test]
    fn words_of_other_languages_are_translated() {
        assert_eq!(explain_word("{\"a\": True}", &(6..7)).as_deref(), Some("write `true`"));
        assert_eq!(explain_word("{\"a\": Truely}", &(6..7)), None);
    }

    #[test]
    fn the_place_is_the_bracket_or_the_quote_that_is_not_closed() {
        for (text, shown) in [
            ("{\n  \"a\": {\"b\": 1,\n  \"c\": {\n    \"d\": 1\n  }\n}\n", (2, "{")),
            ("{\n  \"a\": [\n    {\n      \"b\": 1\n  ]\n}\n", (5, "]")),
            ("{\n  \"a\": {\n    \"b\": 1\n", (3, "1")),
            ("{\n  \"a\": \"x,\n  \"b\": \"y\"\n}\n", (2, "\"x,")),
        ] {
            let is_unterminated = !text.contains(']');
            let noticed = if is_unterminated { 0..text.len() } else { text.find(']').unwrap()..text.len() };
            let place = match find_cause(text, &noticed, is_unterminated) {
                Some(SyntaxCause::OpenString(place) | SyntaxCause::OpenBracket(place)) => place,
                None => noticed.start..noticed.start + 1,
            };
            let line = text[..place.start].matches('\n').count() + 1;
            assert_eq!((line, &text[place]), shown, "{text}");
        }
    }

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
