//! One pass over code that knows quotes, brackets, comments and here-documents, and nothing of commands.
//!
//! It finds where a substitution ends, which here-documents a text has, and which parts are no structure: the grammar
//! gets a text in which those are letters, so that it decides on structure only.

mod code;
mod here_documents;
mod quoted;
mod words;

use crate::syntax::Span;

pub(crate) use quoted::closes_twice;
#[cfg(feature = "syntax")]
pub(crate) use words::is_reserved;

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
    /// Whether a structure is open at the end.
    pub(crate) is_unfinished: bool,
    /// Whether an operator at the end wants a command.
    pub(crate) is_cut: bool,
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
    /// Whether a simple command has begun, so that words are its arguments.
    in_arguments: bool,
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
    /// The operator that came last, if it wants a command behind it.
    wants_command: Option<Span>,
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
        in_arguments: false,
        expects_in: false,
        expects_name: false,
        last_word: Span::default(),
        loop_words: None,
        structure_end: None,
        open_structures: 0,
        wants_command: None,
        scan: Scan { masks: Vec::with_capacity(if until == Until::End { 32 } else { 0 }), ..Scan::default() },
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
            self.scan.is_unfinished = !self.frames.is_empty() || self.open_structures > 0;
            // Without it the grammar reads the rest, and has no error to recover from.
            if let Some(span) = self.wants_command {
                self.scan.masks.push(Mask { span, kind: MaskKind::Blanks });
                self.scan.is_cut = true;
            }
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
        self.wants_command = None;
        self.begins_word = false;
        self.begins_command = false;
    }
}
