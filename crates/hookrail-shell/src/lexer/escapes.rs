//! The escapes of `$'…'`.

/// Whether a character stands for something else where words are worked out. No text of a line may have it.
pub(crate) fn is_mark(letter: char) -> bool {
    ('\u{fdd0}'..='\u{fdef}').contains(&letter)
}

/// Decodes the escapes of `$'…'`.
pub(crate) fn decode_ansi_c(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(index) = rest.find('\\') {
        out.extend_from_slice(rest.get(..index).unwrap_or_default().as_bytes());
        rest = rest.get(index + 1..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else {
            out.push(b'\\');
            break;
        };
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        let simple = match letter {
            'n' => Some(b'\n'),
            't' => Some(b'\t'),
            'r' => Some(b'\r'),
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => u8::try_from(letter).ok(),
            _ => None,
        };
        if let Some(byte) = simple {
            out.push(byte);
            continue;
        }
        match letter {
            'x' => out.extend(number(&mut rest, 16, 2).and_then(|value| u8::try_from(value).ok())),
            'u' => push_char(number(&mut rest, 16, 4), &mut out),
            'U' => push_char(number(&mut rest, 16, 8), &mut out),
            'c' => {
                if let Some(control) = rest.chars().next() {
                    rest = rest.get(control.len_utf8()..).unwrap_or_default();
                    out.push(u8::try_from(u32::from(control) & 0x1f).unwrap_or_default());
                }
            }
            '0'..='7' => {
                let mut digits = text.get(text.len() - rest.len() - 1..).unwrap_or_default();
                let value = number(&mut digits, 8, 3);
                rest = digits;
                out.extend(value.map(|value| u8::try_from(value & 0xff).unwrap_or_default()));
            }
            _ => {
                out.push(b'\\');
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    // A NUL ends the text, as in the shell.
    out.truncate(out.iter().position(|byte| *byte == 0).unwrap_or(out.len()));
    let text = String::from_utf8_lossy(&out);
    text.replace(is_mark, "\u{fffd}")
}

fn push_char(value: Option<u32>, out: &mut Vec<u8>) {
    if let Some(letter) = value.and_then(char::from_u32) {
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn number(rest: &mut &str, radix: u32, most: usize) -> Option<u32> {
    let digits = rest.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let value = u32::from_str_radix(rest.get(..digits)?, radix).ok();
    *rest = rest.get(digits..)?;
    value
}
