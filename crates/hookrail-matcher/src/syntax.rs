//! The syntax tree of an ECMAScript regular expression.

use super::class::UnitSet;

/// A regular expression or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegexNode {
    /// One code unit.
    Unit(u16),
    /// One code unit out of a set.
    Class(UnitSet),
    /// `^`, which without the `m` flag is the start of the subject.
    Start,
    /// `$`, which without the `m` flag is the end of the subject.
    End,
    /// `\b`, or `\B` if inverted.
    WordBoundary {
        /// Whether this is `\B`.
        inverted: bool,
    },
    /// A look-around assertion.
    Look {
        /// Whether it looks at the text before the position.
        behind: bool,
        /// Whether its body must not match.
        negative: bool,
        /// What it looks for.
        body: Box<RegexNode>,
    },
    /// A capturing group, by its number.
    Capture {
        /// The number, starting at 1.
        number: u32,
        /// The content.
        body: Box<RegexNode>,
    },
    /// A reference to a capturing group, by its number.
    BackReference(u32),
    /// A quantified term.
    Repeat {
        /// What is repeated.
        body: Box<RegexNode>,
        /// How often.
        quantifier: Quantifier,
    },
    /// Terms one after the other; the empty pattern if there are none.
    Sequence(Vec<RegexNode>),
    /// Alternatives, of which there are at least two.
    Alternatives(Vec<RegexNode>),
}

/// How often a term may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantifier {
    /// At least this often.
    pub(super) min: u32,
    /// At most this often, if there is an upper bound.
    pub(super) max: Option<u32>,
    /// Whether fewer repetitions are tried first.
    pub(super) lazy: bool,
}

impl RegexNode {
    /// Returns the direct children of this node.
    pub(super) fn children(&self) -> &[Self] {
        match self {
            Self::Unit(_)
            | Self::Class(_)
            | Self::Start
            | Self::End
            | Self::WordBoundary { .. }
            | Self::BackReference(_) => &[],
            Self::Look { body, .. } | Self::Capture { body, .. } | Self::Repeat { body, .. } => {
                std::slice::from_ref(body)
            }
            Self::Sequence(nodes) | Self::Alternatives(nodes) => nodes,
        }
    }
}
