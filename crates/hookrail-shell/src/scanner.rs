//! One pass over code that knows quotes, brackets, comments and here-documents, and nothing of commands.
//!
//! It finds where a substitution ends, which here-documents a text has, and which parts are no structure: the grammar
//! gets a text in which those are letters, so that it decides on structure only.

use crate::syntax::Span;

/// The most brackets and quotes that may be open at a time.
const DEEPEST: usize = 128;

/// Where a scan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At the end of the text.
    End,
    /// At the bracket that closes a substitution.
    Parenthesis,
    /// Behind the two brackets that close an arithmetic expression, in which the scan begins.
    Arithmetic,
}

/// Why a scan did not reach its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanFault {
    /// A quote or bracket is not closed.
    Unclosed(usize),
    /// Too many are open.
    TooDeep(usize),
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundHereDocument {
    /// The operator with the word behind it.
    pub(crate) operator: Span,
    /// The text, without the line that ends it.
    pub(crate) body: Span,
    /// The text with that line.
    pub(crate) whole: Span,
    pub(crate) expands: bool,
    /// Whether tabs at the beginning of lines are removed.
    pub(crate) strips_tabs: bool,
    /// Whether the line that ends it exists.
    pub(crate) is_closed: bool,
}

/// How a part of the text is replaced for the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskKind {
    /// By letters: a part of a word.
    Letters,
    /// By blanks: a comment, a line that goes on, `time`.
    Blanks,
    /// By the head of a loop over words: `((…))` behind `for`.
    LoopHead,
    /// By a head without words: those of a loop whose body stands in braces.
    LoopWords,
    /// By a semicolon: the blank between the end of a structure and a reserved word.
    Separator,
}

/// A part of the text that is no structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    pub(crate) span: Span,
    pub(crate) kind: MaskKind,
}

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// The offset of the closing bracket, or of the end.
    pub(crate) end: usize,
    pub(crate) here_documents: Vec<FoundHereDocument>,
    pub(crate) masks: Vec<Mask>,
    /// Whether more than one simple command can stand here.
    pub(crate) is_structured: bool,
    /// How many brackets the structure has.
    pub(crate) brackets: u32,
    /// Where the last line began that is not inside of a quote or bracket.
    pub(crate) last_whole_line: usize,
    /// Whether a structure is open at the end, or an operator wants a command.
    pub(crate) is_unfinished: bool,
    pub(crate) fault: Option<ScanFault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// A subshell of the structure.
    Subshell,
    /// A substitution or an array.
    Parenthesis,
    Case,
    Double,
    Brace,
    Arithmetic {
        open: u32,
    },
    Test,
}

struct Pending {
    operator: Span,
    delimiter: Vec<u8>,
    expands: bool,
    strips_tabs: bool,
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    frames: Vec<Frame>,
    /// Where the outermost part that is no structure begins, and the number of frames around it.
    masked_since: Option<(usize, usize, MaskKind)>,
    pending: Vec<Pending>,
    /// Whether a command can begin here.
    begins_command: bool,
    /// Whether a word can begin here.
    begins_word: bool,
    /// Whether `in` is still to come: behind `for`, `select` and `case`.
    expects_in: bool,
    /// Whether the name of a function is still to come: behind `function`.
    expects_name: bool,
    last_word: Span,
    /// Where the words behind `for` begin, before its body.
    loop_words: Option<usize>,
    /// Where a structure ended, if only blanks follow so far.
    structure_end: Option<usize>,
    /// How many structures of words are open: `if`, `while`, `{`.
    open_structures: i32,
    /// Whether an operator came last that wants a command behind it.
    wants_command: bool,
    scan: Scan,
}

/// Scans code from an offset.
pub(crate) fn scan(text: &str, from: usize, until: Until) -> Scan {
    let mut scanner = Scanner {
        text: text.as_bytes(),
        at: from,
        frames: Vec::new(),
        masked_since: None,
        pending: Vec::new(),
        begins_command: true,
        begins_word: true,
        expects_in: false,
        expects_name: false,
        last_word: Span::default(),
        loop_words: None,
        structure_end: None,
        open_structures: 0,
        wants_command: false,
        scan: Scan::default(),
    };
    if until == Until::Arithmetic {
        scanner.push(Frame::Arithmetic { open: 0 }, from, MaskKind::Letters);
    }
    scanner.run(until);
    scanner.scan
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(prefix))
    }

    fn run(&mut self, until: Until) {
        while let Some(byte) = self.peek(0) {
            if self.frames.len() > DEEPEST {
                self.scan.fault = Some(ScanFault::TooDeep(self.at));
                break;
            }
            if self.frames.is_empty() && until == Until::Arithmetic {
                self.scan.end = self.at;
                return;
            }
            match self.frames.last().copied() {
                None | Some(Frame::Subshell | Frame::Parenthesis | Frame::Case) => {
                    if byte == b')' && self.frames.is_empty() && until == Until::Parenthesis {
                        self.scan.end = self.at;
                        return;
                    }
                    self.code(byte);
                }
                Some(Frame::Double) => self.double(byte),
                Some(Frame::Brace) => self.brace(byte),
                Some(Frame::Arithmetic { open }) => self.arithmetic(byte, open),
                Some(Frame::Test) => self.test(byte),
            }
            if self.scan.fault.is_some() {
                break;
            }
        }
        self.scan.end = self.at.min(self.text.len());
        if self.scan.fault.is_none() {
            self.scan.is_unfinished = !self.frames.is_empty() || self.open_structures > 0 || self.wants_command;
            let is_open = self.frames.iter().any(|frame| !matches!(frame, Frame::Subshell | Frame::Case));
            if is_open || until == Until::Parenthesis {
                self.scan.fault = Some(ScanFault::Unclosed(self.at));
            }
        }
        self.read_bodies();
    }

    fn push(&mut self, frame: Frame, from: usize, kind: MaskKind) {
        if self.masked_since.is_none() && frame != Frame::Subshell && frame != Frame::Case {
            self.masked_since = Some((from, self.frames.len(), kind));
        }
        self.frames.push(frame);
    }

    fn pop(&mut self) {
        self.frames.pop();
        if let Some((from, depth, kind)) = self.masked_since
            && self.frames.len() <= depth
        {
            self.masked_since = None;
            self.scan.masks.push(Mask { span: Span::new(from, self.at), kind });
        }
    }

    fn mask(&mut self, from: usize, kind: MaskKind) {
        if self.masked_since.is_none() && from < self.at {
            self.scan.masks.push(Mask { span: Span::new(from, self.at), kind });
        }
    }

    /// Whether no substitution is open, so that operators are structure.
    fn is_base(&self) -> bool {
        self.masked_since.is_none()
    }

    fn in_word(&mut self) {
        self.wants_command = false;
        self.begins_word = false;
        self.begins_command = false;
    }

    fn code(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.at += 1;
                self.operator();
                self.read_bodies();
                if self.frames.is_empty() {
                    self.scan.last_whole_line = self.at;
                }
            }
            b' ' | b'\t' | b'\r' => {
                self.at += 1;
                self.begins_word = true;
            }
            b'#' if self.begins_word => {
                let from = self.at;
                while self.peek(0).is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
                self.mask(from, MaskKind::Blanks);
            }
            b'&' if self.peek(1) == Some(b'>') => {
                self.at += 1;
                self.mask(self.at - 1, MaskKind::Blanks);
            }
            b';' | b'&' | b'|' => {
                self.at += 1;
                self.operator();
                // Of `&` and `;` only the doubled `&&` leaves a command to come.
                let is_double = self.peek(0) == Some(byte) || byte == b'|' && self.peek(0) == Some(b'&');
                if is_double {
                    self.at += 1;
                }
                self.wants_command = self.is_base() && (byte == b'|' || byte == b'&' && is_double);
            }
            b'<' if self.starts_with(b"<<<") => {
                // The grammar knows it behind simple commands only; for the structure it is any redirection.
                self.at += 3;
                self.mask(self.at - 2, MaskKind::Blanks);
                self.begins_word = true;
            }
            b'<' if self.starts_with(b"<<") => self.here_document(),
            b'<' | b'>' if self.peek(1) == Some(b'(') => {
                let from = self.at;
                self.at += 2;
                self.push(Frame::Parenthesis, from, MaskKind::Letters);
                self.in_substitution();
            }
            b'<' | b'>' => {
                self.at += 1;
                // The character behind belongs to the operator.
                if self.peek(0).is_some_and(|next| matches!(next, b'&' | b'|' | b'>')) {
                    self.at += 1;
                    self.mask(self.at - 1, MaskKind::Blanks);
                }
                self.begins_word = true;
            }
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(),
            _ => self.word_part(byte),
        }
    }

    fn in_substitution(&mut self) {
        self.begins_word = true;
        self.begins_command = true;
    }

    fn operator(&mut self) {
        if self.is_base() {
            self.scan.is_structured = true;
        }
        self.in_substitution();
    }

    fn open_parenthesis(&mut self) {
        let from = self.at;
        let behind_for = self.word_is(b"for");
        if self.peek(1) == Some(b'(') && (self.begins_command || behind_for) && closes_twice(self.text, self.at) {
            self.at += 2;
            let kind = if behind_for { MaskKind::LoopHead } else { MaskKind::Letters };
            if behind_for && self.is_base() {
                self.scan.is_structured = true;
            }
            self.push(Frame::Arithmetic { open: 0 }, from, kind);
            self.in_word();
            return;
        }
        let before = self.at.checked_sub(1).and_then(|index| self.text.get(index)).copied();
        let is_part_of_word =
            !self.begins_word && before.is_some_and(|byte| matches!(byte, b'=' | b'?' | b'*' | b'+' | b'@' | b'!'));
        self.at += 1;
        if is_part_of_word {
            self.push(Frame::Parenthesis, from, MaskKind::Letters);
            self.begins_word = true;
            self.begins_command = false;
            return;
        }
        if self.is_base() {
            self.scan.is_structured = true;
            self.scan.brackets += 1;
            self.frames.push(Frame::Subshell);
        } else {
            self.frames.push(Frame::Parenthesis);
        }
        self.in_substitution();
    }

    fn close_parenthesis(&mut self) {
        self.at += 1;
        match self.frames.last() {
            Some(Frame::Subshell | Frame::Parenthesis) => {
                let was_word = self.masked_since.is_some_and(|(_, depth, _)| self.frames.len() == depth + 1);
                self.pop();
                self.begins_command = !was_word;
                self.begins_word = !was_word;
            }
            // The end of a pattern, or one too many, which the grammar reports.
            _ => self.operator(),
        }
    }

    fn word_is(&self, word: &[u8]) -> bool {
        self.text.get(self.last_word.range()) == Some(word)
    }

    fn word_part(&mut self, byte: u8) {
        let from = self.at;
        match byte {
            b'\\' => {
                if self.peek(1) == Some(b'\n') {
                    self.at += 2;
                    self.mask(from, MaskKind::Blanks);
                    return;
                }
                self.at = (self.at + 2).min(self.text.len());
                while self.peek(0).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    self.at += 1;
                }
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            b'\'' => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
                self.in_word();
            }
            b'`' => self.backtick(),
            b'$' => self.dollar(),
            b'[' if self.begins_word && self.begins_command && self.is_test() => {
                self.at += 2;
                self.push(Frame::Test, from, MaskKind::Letters);
                self.in_word();
            }
            _ if self.begins_word => self.plain_word(),
            b'{' | b'}' | b'[' | b']' | b'*' | b'?' | b'~' | b'!' | b'=' | b'+' | b'@' | b'%' | b'^' | b'#' | b':'
            | b',' => {
                self.at += 1;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            _ => {
                self.at += 1;
                self.in_word();
            }
        }
    }

    fn is_test(&self) -> bool {
        self.starts_with(b"[[") && self.peek(2).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    /// Reads the beginning of a word up to a character that means something.
    fn plain_word(&mut self) {
        let from = self.at;
        while self.peek(0).is_some_and(|byte| !is_special(byte)) {
            self.at += 1;
        }
        if self.at == from {
            self.at += 1;
        }
        let ends = self.peek(0).is_none_or(|byte| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
        });
        let word = self.text.get(from..self.at).unwrap_or_default();
        let could_begin = self.begins_command;
        let structure_end = self.structure_end.take();
        self.last_word = Span::new(from, self.at);
        self.in_word();
        if !ends {
            if !word.iter().all(u8::is_ascii_alphanumeric) {
                self.mask(from, MaskKind::Letters);
            }
            return;
        }
        if std::mem::take(&mut self.expects_name) {
            self.begins_command = true;
        } else if could_begin {
            self.reserved_word(from, word.to_vec().as_slice(), structure_end);
        } else if word == b"in" && self.expects_in {
            self.expects_in = false;
            // `esac` can follow.
            self.begins_command = self.frames.last() == Some(&Frame::Case);
        } else if is_reserved(word)
            || !word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'))
        {
            self.mask(from, MaskKind::Letters);
        }
    }

    fn reserved_word(&mut self, from: usize, word: &[u8], structure_end: Option<usize>) {
        // A reserved word may follow the end of a structure at once; the grammar wants something between them.
        let between = structure_end.and_then(|end| Some((end, self.text.get(end..from)?)));
        if let Some((end, blanks)) = between
            && !blanks.is_empty()
            && blanks.iter().all(|byte| matches!(byte, b' ' | b'\t'))
            && matches!(word, b"fi" | b"done" | b"esac" | b"}" | b"then" | b"do" | b"else" | b"elif")
        {
            let span = Span::new(end, end + 1);
            self.scan.masks.push(Mask { span, kind: MaskKind::Separator });
        }
        let structured = match word {
            b"{" => {
                self.loop_in_braces(from);
                self.begins_command = true;
                true
            }
            b"!" => {
                self.begins_command = true;
                // The grammar knows it before commands only.
                if self.negates_structure() {
                    self.mask(from, MaskKind::Blanks);
                }
                true
            }
            b"if" | b"then" | b"elif" | b"else" | b"while" | b"until" | b"do" => {
                if word == b"do" {
                    self.loop_words = None;
                }
                self.begins_command = true;
                true
            }
            b"time" | b"coproc" => {
                self.begins_command = true;
                self.skip_prefix(word == b"coproc");
                self.mask(from, MaskKind::Blanks);
                true
            }
            b"case" => {
                self.frames.push(Frame::Case);
                self.expects_in = true;
                true
            }
            b"esac" => {
                if self.frames.last() == Some(&Frame::Case) {
                    self.frames.pop();
                }
                self.structure_end = Some(self.at);
                self.begins_command = true;
                true
            }
            b"for" | b"select" => {
                self.expects_in = true;
                self.loop_words = self.is_base().then_some(self.at);
                true
            }
            b"function" => {
                self.expects_name = true;
                true
            }
            b"fi" | b"done" | b"}" => {
                self.structure_end = Some(self.at);
                self.begins_command = true;
                true
            }
            _ => {
                if word.iter().any(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/')) {
                    self.mask(from, MaskKind::Letters);
                }
                false
            }
        };
        if structured && self.is_base() {
            self.scan.is_structured = true;
            self.open_structures += match word {
                b"if" | b"while" | b"until" | b"for" | b"select" | b"{" => 1,
                b"fi" | b"done" | b"}" => -1,
                _ => 0,
            };
        }
    }

    /// Whether a structure or another `!` follows.
    fn negates_structure(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default().trim_ascii_start();
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\n')).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        matches!(word, b"{" | b"!" | b"if" | b"while" | b"until" | b"for" | b"case" | b"select")
    }

    /// The words of a loop whose body stands in braces, `for x in a b; { … }`, which the grammar does not know.
    fn loop_in_braces(&mut self, brace: usize) {
        if !self.is_base() {
            return;
        }
        let Some(begin) = self.loop_words.take() else { return };
        // No `done` will come.
        self.open_structures -= 1;
        let head = self.text.get(begin..brace).unwrap_or_default();
        let blanks = head.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let end = head.iter().rposition(|byte| !byte.is_ascii_whitespace() && *byte != b';').map_or(0, |last| last + 1);
        let span = Span::new(begin + blanks, begin + end);
        let is_arithmetic = head.get(blanks..).is_some_and(|words| words.starts_with(b"(("));
        let is_for = self.text.get(..begin).is_some_and(|before| before.ends_with(b"for"));
        if end < blanks + 6 || is_arithmetic || !is_for {
            return;
        }
        self.scan.masks.push(Mask { span, kind: MaskKind::LoopWords });
    }

    /// Skips the option of `time`, or the name behind `coproc`.
    fn skip_prefix(&mut self, has_name: bool) {
        let blanks = |at: usize| {
            let rest = self.text.get(at..).unwrap_or_default();
            at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
        };
        let begin = blanks(self.at);
        let rest = self.text.get(begin..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
        let word = rest.get(..length).unwrap_or_default();
        let next = blanks(begin + length);
        let is_compound = self.text.get(next).is_some_and(|byte| matches!(byte, b'{' | b'('));
        if matches!(word, b"-p" | b"--") || (has_name && length > 0 && is_compound && !is_reserved(word)) {
            self.at = begin + length;
            self.begins_word = true;
            if word == b"-p" {
                self.skip_prefix(false);
            }
        }
    }

    fn single(&mut self, from: usize) {
        self.in_word();
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            self.scan.fault = Some(ScanFault::Unclosed(from));
            self.at = self.text.len();
            return;
        };
        self.at += length + 2;
        self.mask(from, MaskKind::Letters);
    }

    fn backtick(&mut self) {
        let from = self.at;
        self.in_word();
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.mask(from, MaskKind::Letters);
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        self.scan.fault = Some(ScanFault::Unclosed(from));
    }

    fn ansi_c(&mut self) {
        let from = self.at;
        self.in_word();
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'\'' => {
                    self.at += 1;
                    self.mask(from, MaskKind::Letters);
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        self.scan.fault = Some(ScanFault::Unclosed(from));
    }

    fn dollar(&mut self) {
        let from = self.at;
        let is_quoted = self.frames.last() == Some(&Frame::Double);
        match self.peek(1) {
            Some(b'(') if self.peek(2) == Some(b'(') && closes_twice(self.text, self.at + 1) => {
                self.at += 3;
                self.push(Frame::Arithmetic { open: 0 }, from, MaskKind::Letters);
                self.in_word();
            }
            Some(b'(') => {
                self.at += 2;
                self.push(Frame::Parenthesis, from, MaskKind::Letters);
                self.in_substitution();
            }
            Some(b'{') => {
                self.at += 2;
                self.push(Frame::Brace, from, MaskKind::Letters);
                self.in_word();
            }
            Some(b'\'') if !is_quoted => self.ansi_c(),
            Some(b'#' | b'$' | b'!' | b'?' | b'*' | b'@' | b'-') => {
                self.at += 2;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            _ => {
                self.at += 1;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
        }
    }

    fn double(&mut self, byte: u8) {
        match byte {
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'"' => {
                self.at += 1;
                self.pop();
                self.in_word();
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    fn brace(&mut self, byte: u8) {
        let is_quoted = self.frames.iter().rev().find(|frame| **frame != Frame::Brace) == Some(&Frame::Double);
        let from = self.at;
        match byte {
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'}' => {
                self.at += 1;
                self.pop();
                self.in_word();
            }
            b'\'' if !is_quoted => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    fn arithmetic(&mut self, byte: u8, open: u32) {
        match byte {
            b'(' => {
                self.at += 1;
                self.set_open(open + 1);
            }
            b')' if open > 0 => {
                self.at += 1;
                self.set_open(open - 1);
            }
            b')' => {
                self.at = (self.at + 2).min(self.text.len());
                self.pop();
                self.begins_word = false;
                self.begins_command = false;
            }
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'"' => {
                let from = self.at;
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    fn set_open(&mut self, open: u32) {
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Arithmetic { open };
        }
    }

    fn test(&mut self, byte: u8) {
        let from = self.at;
        let before = self.at.checked_sub(1).and_then(|index| self.text.get(index)).copied();
        match byte {
            b']' if self.starts_with(b"]]") && before.is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n')) => {
                self.at += 2;
                self.pop();
                self.in_word();
            }
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'\'' => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    fn here_document(&mut self) {
        let mut from = self.at;
        while from.checked_sub(1).and_then(|index| self.text.get(index)).is_some_and(u8::is_ascii_digit) {
            from -= 1;
        }
        if self.begins_word {
            from = self.at;
        }
        self.at += 2;
        let strips_tabs = self.peek(0) == Some(b'-');
        if strips_tabs {
            self.at += 1;
        }
        while self.peek(0).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let mut expands = true;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\\' => {
                    expands = false;
                    delimiter.extend(self.peek(1));
                    self.at += 2;
                }
                b'\'' | b'"' => {
                    expands = false;
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    let Some(length) = rest.iter().position(|other| *other == byte) else {
                        self.scan.fault = Some(ScanFault::Unclosed(self.at));
                        return;
                    };
                    delimiter.extend(rest.get(..length).unwrap_or_default());
                    self.at += length + 2;
                }
                b'$' if self.peek(1).is_some_and(|next| matches!(next, b'\'' | b'"')) => self.at += 1,
                _ => {
                    delimiter.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        self.begins_word = false;
        self.pending.push(Pending { operator: Span::new(from, self.at), delimiter, expands, strips_tabs });
    }

    /// Reads the bodies of the here-documents of a line that has ended.
    fn read_bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let body_start = self.at;
            let mut body_end = None;
            while self.at < self.text.len() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                let tabs = if pending.strips_tabs { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
                let line_start = self.at;
                if line.get(tabs..) == Some(pending.delimiter.as_slice()) {
                    // The line break stays: it ends the command behind.
                    self.at += length;
                    body_end = Some(line_start);
                    break;
                }
                self.at = (self.at + length + 1).min(self.text.len());
            }
            self.scan.here_documents.push(FoundHereDocument {
                operator: pending.operator,
                body: Span::new(body_start, body_end.unwrap_or(self.at)),
                whole: Span::new(body_start, self.at),
                expands: pending.expands,
                strips_tabs: pending.strips_tabs,
                is_closed: body_end.is_some(),
            });
            // Behind a body the next one begins on the next line.
            if self.peek(0) == Some(b'\n') {
                self.at += 1;
            }
        }
    }
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\r'
            | b';'
            | b'&'
            | b'|'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'\\'
            | b'\''
            | b'"'
            | b'`'
            | b'$'
    )
}

pub(crate) fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"then"
            | b"elif"
            | b"else"
            | b"fi"
            | b"for"
            | b"while"
            | b"until"
            | b"do"
            | b"done"
            | b"case"
            | b"esac"
            | b"select"
            | b"function"
            | b"{"
            | b"}"
            | b"!"
            | b"time"
            | b"coproc"
            | b"in"
    )
}

/// Whether the two brackets at an offset are closed by two that stand together, which makes them arithmetic.
pub(crate) fn closes_twice(text: &[u8], at: usize) -> bool {
    let mut open = 0_usize;
    let mut index = at;
    let mut quote = None;
    while let Some(byte) = text.get(index).copied() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(mark), _) if mark == byte => quote = None,
            (None | Some(b'"'), b'\\') => index += 1,
            (None, b'(') => open += 1,
            (None, b')') => {
                open = open.saturating_sub(1);
                if open == 1 {
                    return text.get(index + 1) == Some(&b')');
                }
                if open == 0 {
                    return false;
                }
            }
            _ => {}
        }
        index += 1;
    }
    false
}
