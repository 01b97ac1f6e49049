//! Runs the grammar of tree-sitter over a masked text, within a limit.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::leaf::LeafReader;
use super::lower::Lowering;
use crate::scanner::{MaskKind, Scan};
use crate::syntax::Span;
use crate::syntax::{Fault, FaultKind, ShellScript};

/// The most steps of the parser, in hundreds, which is how often it asks. It is a number and no time, so that the same
/// line always has the same result; it takes about
/// two milliseconds.
const MOST_STEPS: u32 = 120;
/// How many of them one costs behind an error: what follows is a lower bound anyway, and recovery is slow.
const STEPS_BEHIND_ERROR: u32 = 60;

/// How many bytes the parser gets at once, and how often it may ask for more.
const READ_AT_ONCE: usize = 1024;
const MOST_READS: u32 = 512;

/// The head of a loop that the grammar knows with braces around its body.
pub(crate) const LOOP_WITHOUT_WORDS: &[u8] = b"((;;))";

thread_local! {
    /// One parser for each thread: making one costs more than most lines.
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Reads the structure of a text.
pub(super) fn read(reader: &mut LeafReader<'_>, found: &Scan, script: &mut ShellScript) {
    let masked = masked(reader.text, found);
    let whole = Span::new(0, reader.text.len());
    let Some(tree) = tree(&masked) else {
        script.faults.push(Fault { kind: FaultKind::TooSlow, span: whole });
        return;
    };
    let cursor = tree.walk();
    let mut lowering = Lowering { reader, masked: &masked, faults: Vec::new(), cursor };
    script.root = lowering.statements(tree.root_node(), 0);
    if tree.root_node().has_error() && lowering.faults.is_empty() {
        lowering.faults.push(Fault { kind: FaultKind::Syntax, span: whole });
    }
    script.faults.append(&mut lowering.faults);
}

fn tree(text: &[u8]) -> Option<Tree> {
    PARSER.with_borrow_mut(|slot| {
        let parser = slot.as_mut()?;
        let mut steps = 0_u32;
        let reads = Cell::new(0_u32);
        let mut callback = |state: &tree_sitter::ParseState| {
            steps += if state.has_error() { STEPS_BEHIND_ERROR } else { 1 };
            if steps > MOST_STEPS || reads.get() > MOST_READS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut callback);
        // A token can be looked for up to the end of the text, which is no step: what is read is counted too.
        let mut read = |at: usize, _| {
            reads.set(reads.get() + 1);
            let is_over = reads.get() > MOST_READS;
            let end = if is_over { at } else { text.len().min(at + READ_AT_ONCE) };
            text.get(at..end).unwrap_or_default()
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| reads.get() <= MOST_READS);
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// Returns the text with letters and blanks instead of what is no structure.
fn masked(text: &str, found: &Scan) -> Vec<u8> {
    let mut masked = text.as_bytes().to_vec();
    for here_document in &found.here_documents {
        fill(&mut masked, here_document.operator, b'x');
        if let Some(first) = masked.get_mut(here_document.operator.start as usize) {
            *first = b'<';
        }
        fill(&mut masked, here_document.whole, b' ');
    }
    for mask in &found.masks {
        match mask.kind {
            MaskKind::Letters => fill(&mut masked, mask.span, b'x'),
            MaskKind::Blanks => fill(&mut masked, mask.span, b' '),
            MaskKind::LoopHead => {
                fill(&mut masked, mask.span, b'x');
                let head = masked.get_mut(mask.span.start as usize + 1..mask.span.start as usize + 5);
                if let Some(head) = head {
                    head.copy_from_slice(b" in ");
                }
            }
            MaskKind::LoopWords => {
                fill(&mut masked, mask.span, b' ');
                let start = mask.span.start as usize;
                if let Some(head) = masked.get_mut(start..start + LOOP_WITHOUT_WORDS.len()) {
                    head.copy_from_slice(LOOP_WITHOUT_WORDS);
                }
            }
            MaskKind::Separator => fill(&mut masked, mask.span, b';'),
        }
    }
    for byte in &mut masked {
        // Letters of other alphabets, and what some systems have at the end of lines.
        match byte {
            0x80.. => *byte = b'x',
            b'\r' => *byte = b' ',
            0x00..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f => *byte = b'x',
            _ => {}
        }
    }
    masked
}

fn fill(bytes: &mut [u8], span: Span, with: u8) {
    if let Some(part) = bytes.get_mut(span.range()) {
        part.fill(with);
    }
}
