//! Compiles a syntax tree for the backtracking engine.
//!
//! The instructions follow the semantics of ECMA-262 one by one, which is what
//! back-references and look-around need: a group is forgotten at the start of
//! each round of a repetition around it, an optional round that matches nothing
//! is undone, and a look-behind runs from right to left. Repetitions count
//! instead of being unrolled, so a program is never much larger than its
//! pattern.

use super::class::UnitSet;
use super::syntax::{Quantifier, RegexNode};
use super::types::MatchScope;

/// The index of an instruction.
pub(super) type Address = usize;

/// The index of a register.
pub(super) type Register = usize;

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Consumes one code unit out of a set.
    Class {
        /// The set.
        set: UnitSet,
        /// Whether it is read from right to left.
        backward: bool,
    },
    /// Consumes the text of a group, or nothing if the group has not matched.
    BackReference {
        /// The group's number.
        group: u32,
        /// Whether it is read from right to left.
        backward: bool,
    },
    /// Continues only at the start of the subject.
    Start,
    /// Continues only at the end of the subject.
    End,
    /// Continues only at a word boundary, or only elsewhere if inverted.
    WordBoundary {
        /// Whether this is `\B`.
        inverted: bool,
    },
    /// Sets a register to the position.
    Save(Register),
    /// Continues with the next instruction, and if that fails, at the other one.
    Try(Address),
    /// Continues at another instruction.
    Jump(Address),
    /// Sets the counter of a repetition to zero.
    LoopEnter(Register),
    /// Decides whether there is another round, which starts at the next
    /// instruction.
    LoopHead(Loop),
    /// Starts a round.
    LoopRound(Loop),
    /// Goes back to the head after a round, unless the round was optional and
    /// consumed nothing.
    LoopBack {
        /// The address of the head.
        head: Address,
        /// The repetition.
        looping: Loop,
    },
    /// Runs the instructions up to the end of the look-around separately and
    /// continues after it.
    Look {
        /// Whether the body must not match.
        negative: bool,
        /// The address after the body.
        end: Address,
    },
    /// The end of a look-around's body or of the program.
    Accept,
}

/// The data of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// How often the body may occur.
    pub(super) quantifier: Quantifier,
    /// The register with the number of rounds.
    pub(super) counter: Register,
    /// The register with the position where the round started.
    pub(super) started: Register,
    /// The registers of the groups inside, from the first to before the last.
    pub(super) groups: (Register, Register),
    /// The address after the repetition.
    pub(super) exit: Address,
}

/// A pattern for the backtracking engine.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// The number of registers. Group `n` has the registers `2n - 2` and
    /// `2n - 1`; those of the repetitions come after all groups.
    pub(super) registers: usize,
}

impl Program {
    /// Compiles a pattern.
    pub(super) fn new(root: &RegexNode, scope: MatchScope) -> Self {
        let mut program = Self { instructions: Vec::new(), registers: 2 * group_count(root) };
        if scope == MatchScope::Whole {
            program.push(Instruction::Start);
        }
        program.node(root, false);
        if scope == MatchScope::Whole {
            program.push(Instruction::End);
        }
        program.push(Instruction::Accept);
        program
    }

    fn here(&self) -> Address {
        self.instructions.len()
    }

    fn push(&mut self, instruction: Instruction) -> Address {
        let address = self.here();
        self.instructions.push(instruction);
        address
    }

    /// Completes an instruction that was pushed before its target was known.
    fn patch(&mut self, address: Address, instruction: Instruction) {
        if let Some(place) = self.instructions.get_mut(address) {
            *place = instruction;
        }
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    fn node(&mut self, node: &RegexNode, backward: bool) {
        match node {
            RegexNode::Unit(unit) => {
                let mut set = UnitSet::default();
                set.add(*unit, *unit);
                self.push(Instruction::Class { set, backward });
            }
            RegexNode::Class(set) => {
                let set = set.clone();
                self.push(Instruction::Class { set, backward });
            }
            RegexNode::Start => {
                self.push(Instruction::Start);
            }
            RegexNode::End => {
                self.push(Instruction::End);
            }
            RegexNode::WordBoundary { inverted } => {
                let inverted = *inverted;
                self.push(Instruction::WordBoundary { inverted });
            }
            RegexNode::Look { behind, negative, body } => {
                let look = self.push(Instruction::Accept);
                self.node(body, *behind);
                self.push(Instruction::Accept);
                let (negative, end) = (*negative, self.here());
                self.patch(look, Instruction::Look { negative, end });
            }
            RegexNode::Capture { number, body } => {
                let (start, end) = group_registers(*number);
                let (first, last) = if backward { (end, start) } else { (start, end) };
                self.push(Instruction::Save(first));
                self.node(body, backward);
                self.push(Instruction::Save(last));
            }
            RegexNode::BackReference(group) => {
                let group = *group;
                self.push(Instruction::BackReference { group, backward });
            }
            RegexNode::Repeat { body, quantifier } => self.repeat(body, *quantifier, backward),
            RegexNode::Sequence(terms) if backward => {
                for term in terms.iter().rev() {
                    self.node(term, backward);
                }
            }
            RegexNode::Sequence(terms) => {
                for term in terms {
                    self.node(term, backward);
                }
            }
            RegexNode::Alternatives(alternatives) => self.alternatives(alternatives, backward),
        }
    }

    fn alternatives(&mut self, alternatives: &[RegexNode], backward: bool) {
        let mut jumps = Vec::new();
        if let Some((last, others)) = alternatives.split_last() {
            for alternative in others {
                let choice = self.push(Instruction::Accept);
                self.node(alternative, backward);
                jumps.push(self.push(Instruction::Accept));
                let next = self.here();
                self.patch(choice, Instruction::Try(next));
            }
            self.node(last, backward);
        }
        let end = self.here();
        for jump in jumps {
            self.patch(jump, Instruction::Jump(end));
        }
    }

    fn repeat(&mut self, body: &RegexNode, quantifier: Quantifier, backward: bool) {
        let counter = self.register();
        let started = self.register();
        self.push(Instruction::LoopEnter(counter));
        let head = self.push(Instruction::Accept);
        let round = self.push(Instruction::Accept);
        self.node(body, backward);
        let looping = Loop { quantifier, counter, started, groups: groups_in(body), exit: self.here() + 1 };
        self.push(Instruction::LoopBack { head, looping });
        self.patch(head, Instruction::LoopHead(looping));
        self.patch(round, Instruction::LoopRound(looping));
    }
}

/// Returns the registers with the start and the end of a group.
pub(super) fn group_registers(group: u32) -> (Register, Register) {
    let start = 2 * (group as usize).saturating_sub(1);
    (start, start + 1)
}

/// Returns the range of the registers of all groups in a part of the pattern. Its groups have consecutive numbers.
fn groups_in(node: &RegexNode) -> (Register, Register) {
    fn visit(node: &RegexNode, range: &mut Option<(u32, u32)>) {
        if let RegexNode::Capture { number, .. } = node {
            let first = range.map_or(*number, |(first, _)| first);
            *range = Some((first, *number));
        }
        for child in node.children() {
            visit(child, range);
        }
    }
    let mut range = None;
    visit(node, &mut range);
    range.map_or((0, 0), |(first, last)| (group_registers(first).0, group_registers(last).1 + 1))
}

fn group_count(node: &RegexNode) -> usize {
    groups_in(node).1 / 2
}
