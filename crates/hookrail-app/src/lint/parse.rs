//! The parsers of shell code and Python that the lints share. What the trees mean is up to each lint.

use std::ops::Range;

use tree_sitter::{Language, Node, Parser, Tree};

/// Parses a shell's code.
pub(super) fn parse_shell(text: &str) -> Option<Tree> {
    if !is_plausible(text) {
        return None;
    }
    parse(tree_sitter_bash::LANGUAGE.into(), text)
}

/// Parses Python's code.
pub(super) fn parse_python(text: &str) -> Option<Tree> {
    parse(tree_sitter_python::LANGUAGE.into(), text)
}

fn parse(language: Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language).ok()?;
    parser.parse(text, None)
}

/// Whether an author could have written a text. Parsers need a stack for what is nested, and much longer for brackets
/// without an end than the length of a text says, and a project may bring any text.
fn is_plausible(text: &str) -> bool {
    const LONGEST: usize = 64 * 1024;
    const DEEPEST: usize = 16;
    const MOST_OPEN_BLOCKS: usize = 40;
    const MOST_MARKS: usize = 200;
    if text.len() > LONGEST || ["`", "<<"].iter().any(|mark| text.matches(mark).count() > MOST_MARKS) {
        return false;
    }
    let mut depth = 0_usize;
    let brackets_fit = text.chars().all(|character| {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth <= DEEPEST
    });
    let mut open = 0_usize;
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    brackets_fit
        && words.into_iter().all(|word| {
            match word {
                "if" | "while" | "until" | "for" | "case" | "select" => open += 1,
                "fi" | "done" | "esac" => open = open.saturating_sub(1),
                _ => {}
            }
            open <= MOST_OPEN_BLOCKS
        })
}

/// Every node of a tree, parents first.
pub(super) fn nodes(tree: &Tree) -> impl Iterator<Item = Node<'_>> {
    let mut waiting = vec![tree.root_node()];
    std::iter::from_fn(move || {
        let node = waiting.pop()?;
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        waiting.extend(children.into_iter().rev());
        Some(node)
    })
}

/// The first error of a tree, and the token that is missing if the parser knows it.
pub(super) fn first_error(tree: &Tree) -> Option<(Range<usize>, Option<String>)> {
    if !tree.root_node().has_error() {
        return None;
    }
    let first =
        nodes(tree).filter(|node: &Node<'_>| node.is_error() || node.is_missing()).min_by_key(Node::start_byte)?;
    let expected = first.is_missing().then(|| first.kind().to_owned());
    // An error may span the rest of the file; its beginning is what helps.
    let start = first.start_byte();
    Some((start..first.end_byte().min(start + 1).max(start), expected))
}
