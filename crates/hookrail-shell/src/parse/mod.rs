//! Syntax trees of shell lines.
//!
//! The grammar of tree-sitter decides on structure: which commands there are and how they follow each other. It gets a
//! text in which quoted parts, substitutions and here-documents are letters, because it loses commands in some of them
//! without an error. What those parts are, the reader of words decides, and code in them is parsed on its own.

mod grammar;
mod kind;
mod leaf;
mod lower;

use std::cell::Cell;

use crate::lexer::is_mark;
use crate::scanner::{ScanFault, Until, scan};
use crate::syntax::{Fault, FaultKind, Node, ShellScript, Span};

/// The longest line in bytes, and the longest text that is worked out. A longer one is not looked at.
pub(crate) const LONGEST_LINE: usize = 128 * 1024;
/// The most words of a line, with its assignments and redirections.
const MOST_WORDS: u32 = 16 * 1024;
/// The most brackets of structure of a line: the grammar takes very long for some that make no sense.
const MOST_BRACKETS: u32 = 512;
/// The most faults that are named.
const MOST_FAULTS: usize = 16;
/// The most substitutions of a line.
const MOST_SUBSTITUTIONS: u32 = 512;
/// The most bytes of them, each counted once for every substitution around it.
const MOST_BYTES: usize = LONGEST_LINE;
/// How deep substitutions may stand in each other.
const DEEPEST_CODE: u32 = 16;

/// Reads a line. It never fails: what is not understood is among the faults of the result.
#[must_use]
pub fn parse(text: &str) -> ShellScript {
    // A line that is too long is not looked at.
    let forbidden = if text.len() <= LONGEST_LINE { text.find(is_forbidden) } else { None };
    let Some(index) = forbidden else { return parse_code(text, Some(0), 0) };
    // The shell takes them for letters. The characters that stand for what is not known are as long as the one in their place.
    let readable = text.replace(is_mark, "\u{fffd}");
    let mut script = parse_code(&readable, Some(0), 0);
    let fault = Fault { kind: FaultKind::ControlCharacter, span: Span::new(index, index + 1) };
    script.faults.insert(0, fault);
    script
}

/// Reads code that stands in a text of a command.
pub(crate) fn parse_code(text: &str, base: Option<u32>, depth: u32) -> ShellScript {
    let budget = Budget {
        words: Cell::new(MOST_WORDS),
        substitutions: Cell::new(MOST_SUBSTITUTIONS),
        bytes: Cell::new(MOST_BYTES),
    };
    parse_part(text, base, depth, &budget)
}

/// What may still be read of a line.
struct Budget {
    words: Cell<u32>,
    substitutions: Cell<u32>,
    bytes: Cell<usize>,
}

impl Budget {
    /// Takes one word from it, if there is one left.
    fn take_word(&self) -> bool {
        let left = self.words.get().checked_sub(1);
        self.words.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Takes one substitution from it, if there is room for it.
    fn take_substitution(&self, length: usize) -> bool {
        let left = self.substitutions.get().checked_sub(1).zip(self.bytes.get().checked_sub(length));
        if let Some((substitutions, bytes)) = left {
            self.substitutions.set(substitutions);
            self.bytes.set(bytes);
        }
        left.is_some()
    }
}

fn parse_part(text: &str, base: Option<u32>, depth: u32, budget: &Budget) -> ShellScript {
    let mut script = ShellScript { root: Node::Nothing, faults: Vec::new(), base };
    let whole = Span::new(0, text.len());
    if text.len() > LONGEST_LINE {
        script.faults.push(Fault { kind: FaultKind::TooLong, span: whole });
        return script;
    }
    if depth > DEEPEST_CODE {
        script.faults.push(Fault { kind: FaultKind::TooDeep, span: whole });
        return script;
    }
    let mut found = scan(text, 0, Until::End);
    found.here_documents.sort_by_key(|found| found.operator.start);
    for here_document in &found.here_documents {
        if !here_document.is_closed {
            script.faults.push(Fault { kind: FaultKind::OpenHereDocument, span: here_document.operator });
        }
    }
    match found.fault {
        Some(ScanFault::Unclosed(at)) => {
            // A shell runs the lines before the one that does not end.
            let before = text.get(..found.last_whole_line).filter(|before| !before.trim().is_empty());
            if let Some(before) = before {
                script = parse_part(before, base, depth, budget);
            }
            script.faults.push(Fault { kind: FaultKind::Unclosed, span: Span::new(at, text.len()) });
        }
        Some(ScanFault::TooDeep(at)) => {
            script.faults.push(Fault { kind: FaultKind::TooDeep, span: Span::new(at, text.len()) });
        }
        None => {
            let mut reader = leaf::LeafReader {
                text,
                here_documents: &found.here_documents,
                depth,
                base,
                faults: Vec::new(),
                budget,
            };
            if found.brackets > MOST_BRACKETS {
                script.faults.push(Fault { kind: FaultKind::TooSlow, span: whole });
            } else if found.is_structured {
                grammar::read(&mut reader, &found, &mut script);
                if found.is_cut {
                    script.faults.push(Fault { kind: FaultKind::Unclosed, span: whole });
                }
                if found.is_unfinished || found.is_cut {
                    for fault in script.faults.iter_mut().filter(|fault| fault.kind == FaultKind::Syntax) {
                        fault.kind = FaultKind::Unclosed;
                    }
                }
            } else {
                script.root = reader.leaf(0, text.len());
            }
            script.faults.append(&mut reader.faults);
        }
    }
    // One is enough to know that a line is not understood, and another one that a limit was met.
    let more = script.faults.split_off(MOST_FAULTS.min(script.faults.len()));
    script.faults.extend(more.into_iter().find(|fault| fault.kind.is_limit()));
    script
}

/// Characters that no line of a person or a program has: the terminal's, and those that are no characters.
fn is_forbidden(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t' | '\r')) || is_mark(letter)
}
