//! Reading a shell command far enough to know in which quotes a `${…}` stands, and writing in its place something
//! that fits those quotes.
//!
//! Nothing here knows which names there are. A mistake about quotes can at worst split a value into words: a value
//! is only ever referred to, never pasted. `code_words` finds what a program would read as code.

use super::code_words::{CommandWords, UnsafeUse};

/// What a `${…}` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The value of this environment variable.
    Known(String),
    /// Text for the program, as it is written.
    Verbatim,
    /// An expansion that the shell evaluates.
    Shell,
}

/// Asks what a `${…}` is.
type Ask<'a> = dyn FnMut(&str) -> Meaning + 'a;

/// A command that was translated.
pub(super) struct Translated {
    /// The command with every `${…}` replaced as its meaning and its quotes ask for.
    pub(super) text: String,
    /// What keeps a value from being handed over safely, if anything does.
    pub(super) unsafe_use: Option<UnsafeUse>,
}

/// Replaces every `${…}` as its meaning and its quotes ask for.
pub(super) fn translate(command: &str, ask: &mut Ask<'_>) -> Translated {
    let mut scan = Scan {
        text: command.chars().collect(),
        at: 0,
        out: String::with_capacity(command.len() + 32),
        ask,
        words: Vec::new(),
        documents: Vec::new(),
        depth: 0,
        in_code: false,
        arithmetic: 0,
        refers: false,
        assigns: false,
        has_code: false,
        feeds_an_interpreter: false,
        command_refers: false,
        unsafe_use: None,
    };
    scan.plain(Until::End);
    scan.conclude()
}

/// The quotes something stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    Single,
    /// `$'…'`
    Escaped,
    /// The body of a here-document.
    Document,
}

impl Quotes {
    /// Whether the shell takes everything in them for text.
    fn is_single(self) -> bool {
        matches!(self, Self::Single | Self::Escaped)
    }

    /// A reference that gives the whole value as one word, whatever is in it.
    #[cfg(not(windows))]
    fn reference(self, variable: &str) -> String {
        match self {
            Self::None => format!("\"${{{variable}}}\""),
            Self::Double | Self::Document => format!("${{{variable}}}"),
            Self::Single => format!("'\"${{{variable}}}\"'"),
            Self::Escaped => format!("'\"${{{variable}}}\"$'"),
        }
    }

    /// A reference in the words of the shell that is used on Windows.
    #[cfg(windows)]
    fn reference(self, variable: &str) -> String {
        format!("${{env:{variable}}}")
    }

    /// Text that reaches the program as it is.
    fn verbatim(self, content: &str, in_expansion: bool) -> String {
        match self {
            Self::None => format!("'${{{content}}}'"),
            // The brace must not end the expansion it stands in.
            Self::Double | Self::Document if in_expansion => format!("\\${{{content}\\}}"),
            Self::Double | Self::Document => format!("\\${{{content}}}"),
            Self::Single | Self::Escaped => format!("${{{content}}}"),
        }
    }
}

/// Where a stretch of unquoted text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    Backtick,
}

/// A here-document whose body is still to come.
struct Document {
    end: String,
    /// Whether leading tabs do not count.
    tabs: bool,
    /// Whether its text was meant as it stands.
    raw: bool,
}

struct Scan<'s> {
    text: Vec<char>,
    at: usize,
    out: String,
    ask: &'s mut Ask<'s>,
    /// The words of the current command so far.
    words: Vec<String>,
    documents: Vec<Document>,
    /// How many substitutions and expansions this place is inside of.
    depth: usize,
    /// Whether what comes here is a piece of code for another shell.
    in_code: bool,
    /// How many arithmetic expressions this place is inside of.
    arithmetic: usize,
    /// Whether the command refers to a value at all.
    refers: bool,
    /// Whether a variable of the shell gets a value.
    assigns: bool,
    /// Whether there is code for another shell anywhere.
    has_code: bool,
    /// Whether an interpreter reads its program from standard input.
    feeds_an_interpreter: bool,
    /// Whether the current simple command refers to a value.
    command_refers: bool,
    unsafe_use: Option<UnsafeUse>,
}

/// No real command nests deeper than this, and what is there is left to the shell as it is.
const DEEPEST: usize = 100;

/// The most words of a simple command that are checked. No value is passed to a word after that.
const MOST_WORDS: usize = 256;

/// No name of a variable is longer.
const LONGEST_NAME: usize = 1024;

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    /// Copies so many characters.
    fn copy(&mut self, count: usize) {
        for _ in 0..count {
            self.out.extend(self.peek(0));
            self.at += 1;
        }
    }

    /// Reads on inside of something.
    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.copy(self.text.len() - self.at);
        } else {
            read(self);
        }
        self.depth -= 1;
    }

    /// The result, with what can only be said about the command as a whole.
    fn conclude(mut self) -> Translated {
        if self.refers && self.feeds_an_interpreter {
            self.refuse(UnsafeUse::StandardInput);
        }
        if self.assigns && self.has_code {
            self.refuse(UnsafeUse::Assigned);
        }
        Translated { text: self.out, unsafe_use: self.unsafe_use }
    }

    fn refuse(&mut self, why: UnsafeUse) {
        self.unsafe_use.get_or_insert(why);
    }

    /// Notes that a value is referred to here, outside of quoted code for a shell.
    fn refer(&mut self) {
        self.refers = true;
        self.command_refers = true;
        if self.in_code {
            self.refuse(UnsafeUse::PieceOfCode);
        }
        if self.arithmetic > 0 {
            self.refuse(UnsafeUse::Arithmetic);
        }
        if let Some(why) = CommandWords::new(&self.words).why_next_is_unsafe() {
            self.refuse(why);
        }
    }

    /// Looks at a simple command when it is complete.
    fn end_command(&mut self, last: &str) {
        let mut all = std::mem::take(&mut self.words);
        if !last.is_empty() {
            all.push(last.to_owned());
        }
        if all.len() > MOST_WORDS {
            self.has_code = true;
            return;
        }
        let words = CommandWords::new(&all);
        self.feeds_an_interpreter |= words.reads_program_from_stdin();
        self.has_code |= words.has_code_for_a_shell();
        if std::mem::take(&mut self.command_refers)
            && let Some(why) = words.why_command_is_unsafe()
        {
            self.refuse(why);
        }
    }

    fn plain(&mut self, until: Until) {
        let outer = std::mem::take(&mut self.words);
        let (outer_code, outer_refers) = (self.in_code, std::mem::take(&mut self.command_refers));
        let mut word = String::new();
        let mut is_code = false;
        while let Some(next) = self.peek(0) {
            match (next, until) {
                (')', Until::Parenthesis) | ('`', Until::Backtick) => break,
                _ => {}
            }
            let begin = self.at;
            let referred = self.refers;
            // What a word is depends on those before it, so it is asked once for each word.
            if word.is_empty() {
                is_code = self.words.len() > MOST_WORDS || CommandWords::new(&self.words).next_is_code_for_a_shell();
                self.in_code = outer_code || is_code;
            }
            match next {
                '\\' => self.copy(2),
                '\'' | '"' if word.is_empty() && is_code => self.nested(next),
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(Quotes::None, false),
                '`' => self.backtick(),
                '(' => self.parenthesis(),
                '#' if word.is_empty() => {
                    while self.peek(0).is_some_and(|next| next != '\n') {
                        self.copy(1);
                    }
                }
                '<' if self.peek(1) == Some('<') && self.peek(2) != Some('<') => self.here_document(),
                _ => self.copy(1),
            }
            match next {
                ' ' | '\t' if !word.is_empty() => self.words.push(std::mem::take(&mut word)),
                ' ' | '\t' => {}
                ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}' | '`' => {
                    self.end_command(&std::mem::take(&mut word));
                }
                _ => {
                    word.extend(self.text.get(begin..self.at).unwrap_or_default());
                    self.assigns |= self.refers && !referred && is_assignment(&word);
                }
            }
            if next == '\n' {
                self.bodies();
            }
        }
        self.end_command(&word);
        self.words = outer;
        (self.in_code, self.command_refers) = (outer_code, outer_refers);
    }

    fn parenthesis(&mut self) {
        self.copy(1);
        // `((…))`, `$((…))`
        let arithmetic = usize::from(self.peek(0) == Some('('));
        // `source <(…)`
        let code = self.in_code || CommandWords::new(&self.words).is_source_command();
        let outer = std::mem::replace(&mut self.in_code, code);
        self.arithmetic += arithmetic;
        self.deeper(|scan| scan.plain(Until::Parenthesis));
        self.arithmetic -= arithmetic;
        self.in_code = outer;
        self.copy(1);
    }

    fn backtick(&mut self) {
        self.copy(1);
        self.deeper(|scan| scan.plain(Until::Backtick));
        self.copy(1);
    }

    /// What stands between quotes, or in an expansion of the shell's own, up to its end.
    fn quoted(&mut self, quotes: Quotes, end: char, in_expansion: bool) {
        while let Some(next) = self.peek(0) {
            match next {
                _ if next == end => return self.copy(1),
                '\\' if quotes != Quotes::Single => self.copy(2),
                '$' => self.dollar(quotes, in_expansion),
                '`' if !quotes.is_single() => self.backtick(),
                '\'' if in_expansion && quotes == Quotes::None => self.single(),
                '"' if in_expansion && quotes != Quotes::Document => self.double(),
                _ => self.copy(1),
            }
        }
    }

    fn single(&mut self) {
        self.copy(1);
        self.quoted(Quotes::Single, '\'', false);
    }

    fn double(&mut self) {
        self.copy(1);
        self.quoted(Quotes::Double, '"', false);
    }

    /// `$'…'`
    fn escaped(&mut self) {
        self.copy(2);
        self.quoted(Quotes::Escaped, '\'', false);
    }

    fn dollar(&mut self, quotes: Quotes, in_expansion: bool) {
        match self.peek(1) {
            Some('{') => self.braces(quotes, in_expansion),
            Some('(') if !quotes.is_single() => {
                self.copy(1);
                self.parenthesis();
            }
            Some('\'') if quotes == Quotes::None => self.escaped(),
            _ => self.copy(1),
        }
    }

    /// What stands between `${` and the next `}`, when it is one plain piece.
    fn content(&self) -> Option<String> {
        let rest = self.text.get(self.at + 2..)?;
        let end = rest.iter().take(LONGEST_NAME).position(|next| *next == '}')?;
        let content: String = rest.get(..end)?.iter().collect();
        let plain = !content.contains(['$', '{', '\'', '"', '`', '\\', '\n']);
        plain.then_some(content)
    }

    fn braces(&mut self, quotes: Quotes, in_expansion: bool) {
        let Some(content) = self.content() else { return self.expansion(quotes) };
        match (self.ask)(&content) {
            Meaning::Known(variable) => {
                self.refer();
                self.out.push_str(&quotes.reference(&variable));
            }
            Meaning::Verbatim => self.out.push_str(&quotes.verbatim(&content, in_expansion)),
            Meaning::Shell => return self.expansion(quotes),
        }
        self.at += content.chars().count() + 3;
    }

    /// An expansion of the shell's own, in which others may stand.
    fn expansion(&mut self, quotes: Quotes) {
        self.copy(2);
        if !quotes.is_single() {
            self.deeper(|scan| scan.quoted(quotes, '}', true));
        }
    }

    /// A program for another shell: references are left for that shell to resolve, in the quotes they have there.
    fn nested(&mut self, quote: char) {
        self.copy(1);
        let mut inner = Quotes::None;
        while let Some(next) = self.peek(0) {
            if next == quote {
                return self.copy(1);
            }
            let is_escaped_quote = quote == '"' && next == '\\' && self.peek(1) == Some('"');
            inner = match (if is_escaped_quote { '"' } else { next }, inner) {
                ('\'', Quotes::None) => Quotes::Single,
                ('"', Quotes::None) => Quotes::Double,
                ('\'', Quotes::Single) | ('"', Quotes::Double) => Quotes::None,
                _ => inner,
            };
            match next {
                '$' if self.peek(1) == Some('{') => self.nested_braces(quote, inner),
                '\\' if quote == '"' || inner != Quotes::Single => self.copy(2),
                _ => self.copy(1),
            }
        }
    }

    fn nested_braces(&mut self, quote: char, inner: Quotes) {
        let Some(content) = self.content() else { return self.copy(2) };
        let text = match (self.ask)(&content) {
            Meaning::Known(variable) => {
                self.refers = true;
                inner.reference(&variable)
            }
            Meaning::Verbatim => inner.verbatim(&content, false),
            Meaning::Shell => return self.copy(2),
        };
        self.at += content.chars().count() + 3;
        let fitted = match quote {
            '\'' => text.replace('\'', "'\\''"),
            _ => text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$"),
        };
        self.out.push_str(&fitted);
    }

    /// `<<WORD`: remembers that a body follows the line.
    fn here_document(&mut self) {
        self.copy(2);
        let tabs = self.peek(0) == Some('-');
        if tabs {
            self.copy(1);
        }
        while self.peek(0).is_some_and(|next| next == ' ' || next == '\t') {
            self.copy(1);
        }
        let quote = self.peek(0).filter(|next| matches!(next, '\'' | '"'));
        let from = self.at + usize::from(quote.is_some());
        let rest = self.text.get(from..).unwrap_or_default();
        let end: String = rest.iter().take_while(|next| next.is_ascii_alphanumeric() || **next == '_').collect();
        let length = end.chars().count();
        let closed = quote.is_none_or(|quote| rest.get(length) == Some(&quote));
        if end.is_empty() || !closed {
            return;
        }
        // The body of a quoted document is written anew with everything escaped, so that a reference can stand in it.
        self.out.push_str(&end);
        self.at = from + length + usize::from(quote.is_some());
        self.documents.push(Document { end, tabs, raw: quote.is_some() });
    }

    fn bodies(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            while self.at < self.text.len() && !self.ends(&document) {
                self.body_line(document.raw);
            }
            while self.peek(0).is_some_and(|next| next != '\n') {
                self.copy(1);
            }
        }
    }

    fn ends(&self, document: &Document) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let line: String = rest.iter().take_while(|next| **next != '\n').collect();
        let line = if document.tabs { line.trim_start_matches('\t') } else { &line };
        line == document.end
    }

    fn body_line(&mut self, raw: bool) {
        while let Some(next) = self.peek(0) {
            match next {
                '\n' => return self.copy(1),
                '$' if self.peek(1) == Some('{') && raw => self.raw_braces(),
                '$' if !raw => self.dollar(Quotes::Document, false),
                '`' if !raw => self.backtick(),
                '\\' if !raw => self.copy(2),
                '$' | '`' | '\\' => {
                    self.out.push('\\');
                    self.copy(1);
                }
                _ => self.copy(1),
            }
        }
    }

    fn raw_braces(&mut self) {
        if let Some(content) = self.content()
            && let Meaning::Known(variable) = (self.ask)(&content)
        {
            self.refer();
            self.out.push_str(&Quotes::Document.reference(&variable));
            self.at += content.chars().count() + 3;
            return;
        }
        self.out.push('\\');
        self.copy(1);
    }
}

/// Whether a word gives a value to a variable of the shell.
fn is_assignment(word: &str) -> bool {
    let name = word.split(['=', '+', '[']).next().unwrap_or_default();
    word.contains('=')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
