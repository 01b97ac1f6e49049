//! Which values are no secrets, whatever their name says: references, paths, names of types, and what redaction left.

/// Words that stand for a type, a choice, or the absence of a value.
const PLAIN_WORDS: [&str; 44] = [
    "string",
    "str",
    "number",
    "boolean",
    "bool",
    "int",
    "integer",
    "float",
    "double",
    "object",
    "any",
    "unknown",
    "void",
    "null",
    "undefined",
    "none",
    "nil",
    "bytes",
    "byte",
    "text",
    "char",
    "varchar",
    "uuid",
    "array",
    "list",
    "dict",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "same-origin",
    "include",
    "omit",
    "inherit",
    "await",
    "new",
    "async",
    "function",
    "lambda",
    "self",
];

/// Types that are written with others in brackets.
const TYPES_OF_OTHERS: [&str; 18] = [
    "Option", "Optional", "Vec", "Result", "Box", "Arc", "Rc", "Cow", "List", "Set", "Map", "Promise", "Array",
    "Record", "Partial", "Union", "Secret", "Maybe",
];

/// What variables that hold settings are called.
const ROOTS: [&str; 18] = [
    "process", "os", "env", "self", "this", "config", "args", "settings", "std", "request", "req", "import", "ctx",
    "props", "params", "options", "var", "secrets",
];

/// The schemes of `Authorization` headers that are written in one word and followed by credentials.
const SCHEMES: [&str; 12] = [
    "bearer",
    "basic",
    "token",
    "digest",
    "apikey",
    "apitoken",
    "negotiate",
    "hawk",
    "oauth",
    "aws4-hmac-sha256",
    "ntlm",
    "key",
];

/// Longer references are not looked at to their end, so that many without an end take no longer.
const LONGEST_REFERENCE: usize = 2000;

/// Whether a value is no secret.
pub(crate) fn is_harmless(value: &str) -> bool {
    let word = value.trim_end_matches([',', ';', ')', '?', '|', ' ']).trim_start_matches(['&', '*']);
    let is_mask = value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b' '));
    is_mask
        || PLAIN_WORDS.iter().any(|plain| word.eq_ignore_ascii_case(plain))
        || is_reference(value)
        || is_path(value)
        || is_left_by_redaction(value)
}

/// Whether the value of an `Authorization` header is no secret. A scheme may stand before it.
pub(crate) fn is_header_harmless(value: &str) -> bool {
    let value = value.trim();
    let secret = value.split_once(char::is_whitespace).map_or(value, |(_, secret)| secret.trim());
    is_harmless(value) || is_harmless(secret) || is_scheme(value)
}

pub(crate) fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// The length of `[redacted HASH N bytes]`, if the text begins with it.
pub(crate) fn length_of_redaction(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("[redacted ")?;
    let (hash, rest) = rest.split_at_checked(32)?;
    let digits = rest.strip_prefix(' ')?;
    let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let count = digits.len() - rest.len();
    let rest = rest.strip_prefix(" bytes]")?;
    (hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && (1..20).contains(&count)).then_some(text.len() - rest.len())
}

fn is_left_by_redaction(value: &str) -> bool {
    length_of_redaction(value) == Some(value.len())
}

/// Whether a value consists of references to variables and of the output of commands.
fn is_reference(value: &str) -> bool {
    let mut rest = value;
    let mut found = false;
    loop {
        rest = rest.trim_start_matches([':', '/', '@', '.', '-', '_', ',', ' ']);
        if rest.is_empty() {
            return found;
        }
        let Some(length) = length_of_reference(rest) else { return false };
        rest = rest.get(length..).unwrap_or_default();
        found = true;
    }
}

/// The length of the reference that a text begins with: `$NAME`, `${NAME}`, `$(command)`, `` `command` ``, `%NAME%`,
/// `{{ name }}` or `<name>`.
pub(crate) fn length_of_reference(text: &str) -> Option<usize> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let until = |open: usize, close: &str| {
        let end = text.len().min(open + LONGEST_REFERENCE);
        let length = memchr::memmem::find(text.as_bytes().get(open..end)?, close.as_bytes())?;
        Some((text.get(open..open + length)?, open + length + close.len()))
    };
    if text.starts_with("$(") {
        return Some(end_of_command(text.as_bytes()));
    }
    if text.starts_with("${{") {
        return until(3, "}}").map(|(_, end)| end);
    }
    if text.starts_with("{{") {
        return until(2, "}}").map(|(_, end)| end);
    }
    if text.starts_with("${") {
        return until(2, "}").filter(|(inside, _)| !has_value(inside)).map(|(_, end)| end);
    }
    if text.starts_with('$') {
        let length = text.bytes().skip(1).take_while(|byte| is_name(byte)).count();
        return (length > 0).then_some(length + 1);
    }
    if text.starts_with('`') {
        // One word may be a text of JavaScript as well, and what redaction left of one has blanks.
        let is_command = |inside: &str| inside.contains([' ', '$']) && !inside.starts_with("[redacted ");
        return until(1, "`").filter(|(inside, _)| is_command(inside)).map(|(_, end)| end);
    }
    let (close, is_inside): (&str, fn(u8) -> bool) = match text.bytes().next()? {
        b'%' => ("%", |byte| byte.is_ascii_uppercase() || byte == b'_'),
        b'<' => (">", |byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b' ')),
        _ => return None,
    };
    let (inside, end) = until(1, close)?;
    (!inside.is_empty() && inside.bytes().all(is_inside)).then_some(end)
}

/// Whether a reference in braces has a value of its own: `${NAME:-value}`.
fn has_value(inside: &str) -> bool {
    let rest = inside.trim_start_matches(|first: char| first.is_ascii_alphanumeric() || first == '_');
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(['-', '=', '+']).is_some_and(|value| !value.is_empty() && !is_reference(value))
}

/// The place behind the command that `$(` begins; one without an end goes on to the end of the text.
fn end_of_command(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().take(LONGEST_REFERENCE) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return at + 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Whether a value is a path. Base64 may begin with `/` too, so the first folder has to look like one.
fn is_path(value: &str) -> bool {
    if value.contains(['\n', '=', '+']) {
        return false;
    }
    if ["~/", "./", "../", "file:/"].iter().any(|begin| value.starts_with(begin)) {
        return true;
    }
    let mut begin = value.bytes();
    if let (Some(drive), Some(b':'), Some(b'\\')) = (begin.next(), begin.next(), begin.next()) {
        return drive.is_ascii_alphabetic();
    }
    let Some(folder) = value.strip_prefix('/').and_then(|path| path.split('/').next()) else { return false };
    let is_folder = folder.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.'));
    is_folder && (2..16).contains(&folder.len()) && value.len() > folder.len() + 2
        || matches!(folder, "Users" | "Library" | "Applications" | "Volumes")
}

/// Whether a value without quotes is a part of source code: a call, a field, or a type. `follows` is what stands behind it.
pub(crate) fn is_code(value: &str, name: &str, follows: &str) -> bool {
    let word = value.trim_start_matches(['&', '*', '?', '(']);
    let word_end = word.find(|end: char| !(end.is_ascii_alphanumeric() || end == '_')).unwrap_or(word.len());
    let (first, rest) = word.split_at(word_end);
    if first.is_empty() || first.starts_with(|digit: char| digit.is_ascii_digit()) {
        return false;
    }
    let is_letters = first.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if rest.starts_with(['<', '[']) && TYPES_OF_OTHERS.contains(&first) {
        return true;
    }
    if rest.starts_with('(') || rest.starts_with("::") || rest.starts_with("->") {
        return is_letters;
    }
    if rest.starts_with('.') || rest.starts_with("?.") {
        let is_field = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'?');
        let fields = rest.find(|end: char| !(end.is_ascii() && is_field(end as u8))).unwrap_or(rest.len());
        let (fields, rest) = rest.split_at(fields);
        let is_whole = rest.is_empty() || rest.starts_with([',', ';', ')', '}', ']', '!']);
        return rest.starts_with(['(', '[']) || is_whole && (ROOTS.contains(&first) || names_secret(fields));
    }
    // A variable is often called as what it is passed for.
    let is_followed = rest.starts_with([',', ';', ')', '}', ']'])
        || rest.is_empty() && follows.trim_start_matches([' ', '\t']).starts_with([',', ')', '}', ']']);
    is_letters && (first == name && rest.is_empty() || is_followed && names_secret(first))
}

fn names_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["token", "secret", "password", "passwd", "credential", "key", "auth"].iter().any(|word| text.contains(word))
}

/// Whether a word begins a sentence: it and the next one are words in small letters.
pub(crate) fn is_sentence(value: &str, follows: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let next = follows.strip_prefix(' ').and_then(|rest| rest.split([' ', '\n', '"', '\'', '.', ',']).next());
    is_word(value) && next.is_some_and(is_word)
}
