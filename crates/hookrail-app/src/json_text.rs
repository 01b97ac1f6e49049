//! JSON with line breaks and indentation, for people.

use std::fmt::Write as _;

use crate::text::is_hidden;

/// Adds line breaks and indentation to compact JSON. It works on the text, so that every number stays as it was
/// written. Characters that a terminal would interpret are escaped.
pub fn indented_json(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut characters = compact.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' if in_string => {
                out.push(character);
                out.extend(characters.next());
            }
            '"' => {
                in_string = !in_string;
                out.push(character);
            }
            _ if in_string && is_hidden(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ if in_string => out.push(character),
            '{' | '[' => {
                out.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::indented_json;

    #[test]
    fn numbers_and_strings_survive_and_empty_things_stay_on_their_line() {
        let text = indented_json(r#"{"a":[1.0,12345678901234567890],"b":{},"c":"x:,{\"}","d":[]}"#);
        insta::assert_snapshot!(text, @r#"
        {
          "a": [
            1.0,
            12345678901234567890
          ],
          "b": {},
          "c": "x:,{\"}",
          "d": []
        }
        "#);
    }

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        assert_eq!(indented_json("\"a\u{9b}b\u{202e}\""), r#""a\u009bb\u202e""#);
    }
}
