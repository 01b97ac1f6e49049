//! Secrets that stand in a place of their own instead of behind a name and a separator: in the block below a name in YAML, in an
//! element of XML, in a line of `.pgpass`, and on the standard input of a program.

use std::ops::Range;

use crate::secret_text::{FoundValue, TextReader, ValueQuote};
use crate::secret_values::length_of_redaction;

/// So far a command is followed back to what is written into it, and so far around `.pgpass` its lines are looked for.
const REACH: usize = 600;

/// Programs that write what they are called with.
const WRITERS: [&str; 2] = ["echo", "printf"];

const fn bare(range: Range<usize>) -> FoundValue {
    FoundValue { range, quote: ValueQuote::None, escaped: 0 }
}

/// The lines below `name: |`, if that begins a block of YAML. `name` is where the name begins, `at` the place of the bar.
pub(crate) fn yaml_block(text: TextReader<'_>, name: usize, at: usize) -> Option<FoundValue> {
    let (head, _) = text.from(at).split_once('\n')?;
    let is_head = head.starts_with(['|', '>']) && head.get(1..)?.bytes().all(|byte| b"+-0123456789 \r".contains(&byte));
    if !is_head {
        return None;
    }
    let line_begin = text.part(0..name).rfind('\n').map_or(0, |end| end + 1);
    let indent = text.part(line_begin..name).len() - text.part(line_begin..name).trim_start_matches([' ', '-']).len();
    let begin = at + head.len() + 1;
    let mut end = begin;
    for line in text.from(begin).split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if blanks <= indent && !line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    let block = text.part(begin..end);
    let first = begin + (block.len() - block.trim_start().len());
    (!block.trim().is_empty()).then(|| bare(first..first + block.trim().len()))
}

/// The content of `<name>…</name>`. `name` is the place of the name, which `>` follows.
pub(crate) fn element(text: TextReader<'_>, name: &Range<usize>) -> Option<FoundValue> {
    // A name may have a namespace before it.
    let is_tag = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let before = text.part(text.0.floor_char_boundary(name.start.saturating_sub(64))..name.start);
    let begins = before.trim_end_matches(|tag: char| tag.is_ascii() && is_tag(tag as u8)).ends_with('<');
    let begin = name.end + 1;
    let length = text.from(begin).bytes().take(4096).position(|byte| byte == b'<')?;
    (begins && length > 0 && text.from(begin + length).starts_with("</")).then(|| bare(begin..begin + length))
}

/// The password of a line of `.pgpass`: `host:port:database:user:password`. `port` is the place of the port.
pub(crate) fn pgpass_line(text: TextReader<'_>, port: &Range<usize>) -> Option<FoundValue> {
    let is_end = |end: char| end.is_whitespace() || matches!(end, '"' | '\'' | '`');
    let is_host =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'*' | b'/' | b'[' | b']');
    let before = text.part(text.0.floor_char_boundary(port.start.saturating_sub(256))..port.start).strip_suffix(':')?;
    let host = before.get(before.trim_end_matches(|host: char| host.is_ascii() && is_host(host as u8)).len()..)?;
    let is_first = before.len() == host.len() || before.strip_suffix(host)?.ends_with(is_end);
    let rest = text.from(port.end).strip_prefix(':')?.split(is_end).next()?;
    let mut fields = rest.splitn(3, ':');
    let (database, user, password) = (fields.next()?, fields.next()?, fields.next()?);
    // Names of resources in clouds, and lines of `/etc/passwd` and `/etc/shadow`, have as many colons.
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    let is_other = matches!(host, "" | "arn") || user.is_empty() || is_number(database) && is_number(user);
    let begin = port.end + 1 + database.len() + 1 + user.len() + 1;
    let is_removed = length_of_redaction(text.from(begin)).is_some();
    (is_first && !is_other && !is_removed && !password.is_empty()).then(|| bare(begin..begin + password.len()))
}

/// The password of the nearest line of `.pgpass`, around a place that names the file.
pub(crate) fn pgpass_near(text: TextReader<'_>, at: usize) -> Option<FoundValue> {
    let bytes = text.0.as_bytes();
    let around = at.saturating_sub(REACH)..bytes.len().min(at + REACH);
    let mut from = around.start;
    while from < around.end {
        let colon = from + bytes.get(from..around.end)?.iter().position(|byte| *byte == b':')?;
        let digits = bytes.get(colon + 1..around.end)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let port = colon + 1..colon + 1 + digits;
        if (1..6).contains(&digits)
            && let Some(found) = pgpass_line(text, &port)
        {
            return Some(found);
        }
        from = colon + 1;
    }
    None
}

/// What is written into the standard input of a command, of which a word is at that place: by `echo … |`, `printf … |`, or `<<<`.
pub(crate) fn standard_input(text: TextReader<'_>, at: usize) -> Option<FoundValue> {
    written_before(text, at).or_else(|| here_string(text, at))
}

fn written_before(text: TextReader<'_>, at: usize) -> Option<FoundValue> {
    let from = text.0.floor_char_boundary(at.saturating_sub(REACH));
    let pipe = from + text.part(from..at).rfind(['|', ';', '\n'])?;
    let writer = text.part(from..pipe);
    let is_pipe = text.byte(pipe) == b'|' && !writer.ends_with('|') && !text.part(pipe..at).contains("&&");
    let (begin, program) = WRITERS.iter().filter_map(|program| Some((last_call(writer, program)?, *program))).max()?;
    if !is_pipe {
        return None;
    }
    let end = from + writer.trim_end().len();
    let mut place = text.skip_blanks(from + begin + program.len());
    loop {
        let word = text.word_at(place)?;
        let given = text.part(word.range.clone());
        let behind = text.quote_at(word.range.end).filter(|_| word.quote != ValueQuote::None);
        let next = text.skip_blanks(behind.map_or(word.range.end, |(_, behind)| behind));
        let is_option = word.quote == ValueQuote::None && given.starts_with('-') && given.len() <= 3;
        let is_format = program == "printf" && given.contains('%');
        if next >= pipe {
            return Some(word);
        }
        if !is_option && !is_format {
            // Several words are one line, unless another command follows.
            return (!text.part(next..end).contains([';', '&', '|', '\n'])).then(|| bare(place..end));
        }
        place = next;
    }
}

/// Where the last call of a program begins.
fn last_call(commands: &str, program: &str) -> Option<usize> {
    let is_call = |at: usize| {
        let before = commands.get(..at).unwrap_or_default();
        let behind = commands.get(at + program.len()..).unwrap_or_default();
        let begins = before.is_empty() || before.ends_with([' ', '\t', '\n', ';', '|', '&', '(', '{', '/']);
        begins && behind.starts_with([' ', '\t'])
    };
    commands.rmatch_indices(program).map(|(at, _)| at).find(|at| is_call(*at))
}

fn here_string(text: TextReader<'_>, at: usize) -> Option<FoundValue> {
    let rest = text.part(at..text.0.floor_char_boundary(at + REACH));
    let line = rest.split(['\n', ';', '|']).next()?;
    let begin = at + line.find("<<<")? + 3;
    text.word_at(text.skip_blanks(begin))
}
