//! Reading a shell command far enough to know in which quotes a `${…}` stands, and writing in its place something
//! that fits those quotes.
//!
//! Nothing here knows which names there are. A mistake about quotes can at worst split a value into words: a plain value
//! means the same in all quotes, and any other is only ever referred to. `code_words` finds what a program would read as
//! code.
//!
//! It does not stand on the readers of `hookrail-shell`: X-Code fills a `${…}` wherever it stands, also in single quotes,
//! here-documents and comments and behind a `$` or a backslash, where a shell has no parameter.

mod here_documents;
mod nested_code;
mod notes;

use super::code_words::{CommandWords, UnsafeUse, is_assignment};
use super::quotes::{Quotes, Value};
use here_documents::Document;
use notes::Notes;

/// What a `${…}` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable of the dialect, with this value.
    Known(Value),
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
    /// What keeps a value from being inserted safely, if anything does.
    pub(super) unsafe_use: Option<UnsafeUse>,
}

/// Replaces every `${…}` as its meaning and its quotes ask for.
pub(super) fn translate(command: &str, ask: &mut Ask<'_>) -> Translated {
    let mut scan = Scan::new(command.chars().collect(), 0, ask);
    scan.plain(Until::End);
    scan.notes.conclude();
    Translated { text: scan.out, unsafe_use: scan.notes.unsafe_use }
}

/// Where a stretch of unquoted text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    Backtick,
}

struct Scan<'s, 'a> {
    text: Vec<char>,
    at: usize,
    out: String,
    /// The same as `out` with values in the place of references: what programs are given, as far as it is known.
    seen: String,
    ask: &'s mut Ask<'a>,
    /// The words of the current command so far.
    words: CommandWords,
    /// Where in `seen` the current word begins.
    word_begins: usize,
    documents: Vec<Document>,
    /// How many substitutions, expansions and pieces of code this place is inside of.
    depth: usize,
    /// Whether what comes here is a piece of code for another shell.
    in_code: bool,
    /// Why a value is unsafe here because of the words around this place.
    in_unsafe_word: Option<UnsafeUse>,
    /// The word in which an expansion of the shell was judged last.
    insertion_judged: Option<usize>,
    /// How many arithmetic expressions this place is inside of.
    arithmetic: usize,
    /// Whether the current simple command refers to a value.
    command_refers: bool,
    /// Whether a plain value that is no number was written into the current simple command.
    command_has_name: bool,
    notes: Notes,
}

/// No real command nests deeper than this, and what is there is left to the shell as it is.
const DEEPEST: usize = 100;

/// The most words of a simple command that are checked. No value is passed to a word after that.
const MOST_WORDS: usize = 256;

/// No name of a variable is longer.
const LONGEST_NAME: usize = 1024;

impl<'s, 'a> Scan<'s, 'a> {
    fn new(text: Vec<char>, depth: usize, ask: &'s mut Ask<'a>) -> Self {
        Self {
            out: String::with_capacity(text.len() + 32),
            text,
            at: 0,
            seen: String::new(),
            ask,
            words: CommandWords::default(),
            word_begins: 0,
            documents: Vec::new(),
            depth,
            in_code: false,
            in_unsafe_word: None,
            insertion_judged: None,
            arithmetic: 0,
            command_refers: false,
            command_has_name: false,
            notes: Notes::default(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    /// Writes text that a program is given as `seen`.
    fn push(&mut self, written: &str, seen: &str) {
        self.out.push_str(written);
        self.seen.push_str(seen);
    }

    /// Copies so many characters.
    fn copy(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(next) = self.peek(0) {
                self.out.push(next);
                self.seen.push(next);
            }
            self.at += 1;
        }
    }

    /// What the current word begins with.
    fn word(&self) -> &str {
        self.seen.get(self.word_begins..).unwrap_or_default()
    }

    /// Ends the current word.
    fn end_word(&mut self) {
        let word = self.seen.get(self.word_begins..).unwrap_or_default();
        if !word.is_empty() {
            self.words.push(word);
        }
        self.word_begins = self.seen.len();
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

    /// Why a value would be read as code here.
    fn why_unsafe(&self) -> Option<UnsafeUse> {
        if self.in_code {
            Some(UnsafeUse::PieceOfCode)
        } else if self.arithmetic > 0 {
            Some(UnsafeUse::Arithmetic)
        } else {
            self.in_unsafe_word.or_else(|| self.words.why_next_is_unsafe(self.word()))
        }
    }

    /// Notes that a value which is not plain is referred to here, outside of quoted code for a shell.
    fn refer(&mut self) {
        self.notes.refers = true;
        self.notes.refers_outside_code = true;
        self.command_refers = true;
        if let Some(why) = self.why_unsafe() {
            self.notes.refuse(why);
        }
        self.notes.fills_variables |= self.words.fills_variables() || is_assignment(self.word());
    }

    /// Notes that the shell inserts something here that is not known. A word is judged once.
    fn shell_inserts(&mut self, first: Option<char>) {
        let is_judged = self.insertion_judged == Some(self.word_begins);
        self.insertion_judged = Some(self.word_begins);
        if self.in_code || (!is_judged && self.why_unsafe().is_some()) {
            self.notes.has_open_code = true;
            self.notes.has_code_with_arguments |=
                first.is_some_and(|first| first.is_ascii_digit() || matches!(first, '@' | '*'));
        }
    }

    /// Inserts a value into these quotes.
    fn insert(&mut self, value: &Value, quotes: Quotes) {
        if quotes == Quotes::None && value.is_blank() && self.is_whole_word() {
            return;
        }
        if !value.is_plain() {
            self.refer();
            return self.push(&quotes.reference(&value.variable), &value.text);
        }
        if !value.is_number() {
            self.command_has_name = true;
            if self.arithmetic > 0 || self.why_unsafe() == Some(UnsafeUse::Arithmetic) {
                self.notes.refuse(UnsafeUse::Arithmetic);
            }
        }
        // Quotes are no part of an arithmetic expression.
        let quotes = if self.arithmetic > 0 { Quotes::Double } else { quotes };
        self.push(&quotes.plain(&value.text), &value.text);
    }

    /// Whether the variable before this place is all of a word.
    fn is_whole_word(&self) -> bool {
        self.word().is_empty() && self.peek(0).is_none_or(|next| " \t\n;|&<>()".contains(next))
    }

    /// Looks at a simple command when it is complete.
    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if words.count() > MOST_WORDS {
            self.notes.has_code = true;
            return;
        }
        self.notes.feeds_an_interpreter |= words.reads_program_from_stdin();
        self.notes.has_code |= words.has_code_for_a_shell();
        self.notes.reads_variables |= words.reads_variables();
        let (refers, has_name) = (std::mem::take(&mut self.command_refers), std::mem::take(&mut self.command_has_name));
        match words.why_command_is_unsafe() {
            Some(why) if refers => self.notes.refuse(why),
            Some(UnsafeUse::Arithmetic) if has_name => self.notes.refuse(UnsafeUse::Arithmetic),
            _ => {}
        }
    }

    fn plain(&mut self, until: Until) {
        let outer_words = std::mem::take(&mut self.words);
        let outer_word_begins = std::mem::replace(&mut self.word_begins, self.seen.len());
        let outer_code = self.in_code;
        let outer_refers = std::mem::take(&mut self.command_refers);
        let outer_has_name = std::mem::take(&mut self.command_has_name);
        let mut is_code = false;
        while let Some(next) = self.peek(0) {
            match (next, until) {
                (')', Until::Parenthesis) | ('`', Until::Backtick) => break,
                _ => {}
            }
            // What a word is depends on those before it, so it is asked once for each word.
            let begins_word = self.word().is_empty();
            if begins_word {
                is_code = self.words.count() > MOST_WORDS || self.words.next_is_code_for_a_shell();
                self.in_code = outer_code || is_code;
            }
            let referred = self.notes.refers;
            match next {
                '\\' => self.backslash(Quotes::None),
                '\'' | '"' if begins_word && is_code => self.nested(next),
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(Quotes::None, false),
                '`' => self.backtick(),
                '(' => self.parenthesis(),
                '#' if begins_word => {
                    // The shell looks for the second backtick before it reads what is between them.
                    let ends = |next: char| next == '\n' || (next == '`' && until == Until::Backtick);
                    while self.peek(0).is_some_and(|next| !ends(next)) {
                        self.copy(1);
                    }
                    self.word_begins = self.seen.len();
                }
                '<' if self.peek(1) == Some('<') && self.peek(2) != Some('<') => self.here_document(),
                ' ' | '\t' | ';' | '|' | '&' | '\n' | ')' | '{' | '}' => {
                    match next {
                        ' ' | '\t' => self.end_word(),
                        _ => self.end_command(),
                    }
                    self.copy(1);
                    self.word_begins = self.seen.len();
                }
                _ => self.copy(1),
            }
            if self.notes.refers && !referred {
                self.notes.assigns |= is_assignment(self.word());
            }
            if next == '(' {
                self.end_command();
            }
            if next == '\n' {
                self.bodies();
                self.word_begins = self.seen.len();
            }
        }
        self.end_command();
        self.words = outer_words;
        self.word_begins = outer_word_begins;
        self.in_code = outer_code;
        (self.command_refers, self.command_has_name) = (outer_refers, outer_has_name);
    }

    /// A subshell or a substitution.
    fn parenthesis(&mut self) {
        // `source <(…)`, `bash <(…)`
        let is_run = self.words.is_source_command() || (self.word().ends_with('<') && self.words.runs_files());
        self.copy(1);
        // `((…))`, `$((…))`
        let arithmetic = usize::from(self.peek(0) == Some('('));
        let outer = self.in_code;
        self.in_code |= is_run;
        self.arithmetic += arithmetic;
        self.substitution(Until::Parenthesis);
        self.arithmetic -= arithmetic;
        self.in_code = outer;
        self.copy(1);
    }

    fn backtick(&mut self) {
        self.copy(1);
        self.substitution(Until::Backtick);
        self.copy(1);
    }

    /// Commands whose output is a part of the current word.
    fn substitution(&mut self, until: Until) {
        let of_word = self.in_unsafe_word.or_else(|| self.words.why_next_is_unsafe(self.word()));
        let outer = std::mem::replace(&mut self.in_unsafe_word, of_word);
        self.deeper(|scan| scan.plain(until));
        self.in_unsafe_word = outer;
    }

    /// What stands between quotes, or in an expansion of the shell's own, up to its end.
    fn quoted(&mut self, quotes: Quotes, end: char, in_expansion: bool) {
        while let Some(next) = self.peek(0) {
            match next {
                _ if next == end => return self.copy(1),
                '\\' if quotes != Quotes::Single => self.backslash(quotes),
                '$' => self.dollar(quotes, in_expansion),
                '`' if !quotes.is_single() => {
                    self.shell_inserts(None);
                    self.backtick();
                }
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
            _ if quotes.is_single() => self.copy(1),
            Some('$') => self.two_dollars(quotes),
            Some('(') => {
                self.shell_inserts(None);
                self.copy(1);
                self.parenthesis();
            }
            Some('\'') if quotes == Quotes::None => self.escaped(),
            next => {
                self.shell_inserts(next);
                self.copy(1);
            }
        }
    }

    /// `$$` is the number of the shell's process. A `$` before a variable of the dialect makes, as in the original, an
    /// expansion of what the value says; it is text if the value is not plain.
    fn two_dollars(&mut self, quotes: Quotes) {
        let Some((value, length)) = self.known_at(1) else { return self.copy(2) };
        self.at += 1 + length;
        if !value.is_plain() {
            self.refer();
            let reference = quotes.reference(&value.variable);
            return self.push(&format!("\\${reference}"), &value.text);
        }
        if let Some(why) = self.why_unsafe() {
            self.notes.refuse(why);
        }
        self.push(&format!("${}", value.text), &format!("${}", value.text));
    }

    /// A backslash. As in the original, what it stands before is a value's first character where a variable follows.
    fn backslash(&mut self, quotes: Quotes) {
        let mut length = 1;
        while let Some((value, more)) = self.known_at(length) {
            length += more;
            if value.text.is_empty() {
                continue;
            }
            self.at += length;
            if value.is_plain() {
                return self.push(&format!("\\{}", value.text), &value.text);
            }
            if quotes != Quotes::None {
                self.push("\\\\", "\\");
            }
            return self.insert(&value, quotes);
        }
        self.copy(1);
        self.at += length - 1;
        self.copy(1);
    }

    /// What stands between `${` and the next `}`, when it is one plain piece that begins so many characters ahead.
    fn content(&self, ahead: usize) -> Option<String> {
        let rest = self.text.get(self.at + ahead..)?.strip_prefix(&['$', '{'])?;
        let end = rest.iter().take(LONGEST_NAME).position(|next| *next == '}')?;
        let content: String = rest.get(..end)?.iter().collect();
        let plain = !content.contains(['$', '{', '\'', '"', '`', '\\', '\n']);
        plain.then_some(content)
    }

    /// The value and the length of the variable of the dialect that begins so many characters ahead.
    fn known_at(&mut self, ahead: usize) -> Option<(Value, usize)> {
        let content = self.content(ahead)?;
        match (self.ask)(&content) {
            Meaning::Known(value) => Some((value, content.chars().count() + 3)),
            Meaning::Verbatim | Meaning::Shell => None,
        }
    }

    fn braces(&mut self, quotes: Quotes, in_expansion: bool) {
        let Some(content) = self.content(0) else { return self.expansion(quotes) };
        let length = content.chars().count() + 3;
        match (self.ask)(&content) {
            Meaning::Known(value) => {
                self.at += length;
                self.insert(&value, quotes);
            }
            Meaning::Verbatim => {
                self.at += length;
                self.push(&quotes.verbatim(&content, in_expansion), &content);
            }
            Meaning::Shell => self.expansion(quotes),
        }
    }

    /// An expansion of the shell's own, in which others may stand.
    fn expansion(&mut self, quotes: Quotes) {
        if quotes.is_single() {
            return self.copy(2);
        }
        self.shell_inserts(self.peek(2));
        let after_name = (2..).find(|ahead| {
            !self.peek(*ahead).is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '#' | '!'))
        });
        let after_name = after_name.unwrap_or_default();
        // `${x[…]}` and `${x:…}`, but not `${x:-…}`
        let arithmetic = match self.peek(after_name) {
            Some('[') => true,
            Some(':') => !matches!(self.peek(after_name + 1), Some('-' | '=' | '?' | '+')),
            _ => false,
        };
        self.copy(2);
        self.arithmetic += usize::from(arithmetic);
        self.deeper(|scan| scan.quoted(quotes, '}', true));
        self.arithmetic -= usize::from(arithmetic);
    }
}
