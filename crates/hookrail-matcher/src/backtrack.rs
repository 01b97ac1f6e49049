//! The backtracking engine, for look-around and back-references.

use super::class::UnitSet;
use super::program::{Address, Instruction, Loop, Program, Register, group_registers};
use super::syntax::Quantifier;
use super::types::MatchResult;

/// The most steps of a search, over all start positions in the subject.
///
/// This limits the time to a few milliseconds, and also the memory, since a
/// step stores at most a few words.
const MAX_STEPS: usize = 250_000;

/// The value of a register that has none.
const UNSET: usize = usize::MAX;

/// Searches the subject for a match.
pub(super) fn search(program: &Program, subject: &str) -> MatchResult {
    let units: Vec<u16> = subject.encode_utf16().collect();
    let mut machine = Machine {
        program: &program.instructions,
        subject: &units,
        word: UnitSet::word(),
        registers: vec![UNSET; program.registers],
        trail: Vec::new(),
        steps: 0,
    };
    for start in 0..=units.len() {
        match machine.run(0, start) {
            Ok(true) => return MatchResult::Matches,
            Ok(false) => {}
            Err(LimitReached) => return MatchResult::LimitReached,
        }
    }
    MatchResult::Differs
}

/// The search has taken too many steps.
struct LimitReached;

/// One action that restores an earlier state of the machine.
enum UndoStep {
    /// Continue from this address and position.
    Retry { address: Address, position: usize },
    /// Set a register to its earlier value.
    Restore { register: Register, value: usize },
}

struct Machine<'a> {
    program: &'a [Instruction],
    subject: &'a [u16],
    word: UnitSet,
    registers: Vec<usize>,
    /// The actions that undo everything since the start, newest last.
    trail: Vec<UndoStep>,
    steps: usize,
}

impl Machine<'_> {
    /// Runs from an address until the next [`Instruction::Accept`].
    ///
    /// After a match the registers have their values, and the trail can undo them; after a failure everything is as
    /// before. Only look-arounds recurse, so the depth of the recursion is that of the pattern.
    fn run(&mut self, mut address: Address, mut position: usize) -> Result<bool, LimitReached> {
        let base = self.trail.len();
        loop {
            self.count(1)?;
            let next = match self.program.get(address) {
                None | Some(Instruction::Accept) => return Ok(true),
                Some(instruction) => self.step(instruction, address, position)?,
            };
            match next.or_else(|| self.go_back(base)) {
                Some(state) => (address, position) = state,
                None => return Ok(false),
            }
        }
    }

    fn count(&mut self, steps: usize) -> Result<(), LimitReached> {
        self.steps += steps;
        if self.steps > MAX_STEPS { Err(LimitReached) } else { Ok(()) }
    }

    /// Executes one instruction; returns the next address and position, or `None` if the instruction failed.
    fn step(
        &mut self,
        instruction: &Instruction,
        address: Address,
        position: usize,
    ) -> Result<Option<(Address, usize)>, LimitReached> {
        let next = address + 1;
        let continue_if = |condition: bool| condition.then_some((next, position));
        Ok(match instruction {
            Instruction::Class { set, backward } => self
                .advance(position, *backward)
                .filter(|(unit, _)| set.contains(*unit))
                .map(|(_, position)| (next, position)),
            Instruction::BackReference { group, backward } => {
                self.back_reference(*group, position, *backward)?.map(|position| (next, position))
            }
            Instruction::Start => continue_if(position == 0),
            Instruction::End => continue_if(position == self.subject.len()),
            Instruction::WordBoundary { inverted } => {
                let boundary = self.is_word(position.checked_sub(1)) != self.is_word(Some(position));
                continue_if(boundary != *inverted)
            }
            Instruction::Save(register) => {
                self.set(*register, position);
                Some((next, position))
            }
            Instruction::Try(other) => {
                self.retry(*other, position);
                Some((next, position))
            }
            Instruction::Jump(target) => Some((*target, position)),
            Instruction::LoopEnter(counter) => {
                self.set(*counter, 0);
                Some((next, position))
            }
            Instruction::LoopHead(looping) => Some(self.loop_head(looping, next, position)),
            Instruction::LoopRound(looping) => {
                self.loop_round(looping, position)?;
                Some((next, position))
            }
            Instruction::LoopBack { head, looping } => {
                let counted = self.loop_back(looping, position);
                counted.then_some((*head, position))
            }
            Instruction::Look { negative, end } => {
                let base = self.trail.len();
                let found = self.run(next, position)?;
                if *negative {
                    while self.go_back(base).is_some() {}
                } else {
                    self.forget_retries(base);
                }
                (found != *negative).then_some((*end, position))
            }
            Instruction::Accept => None,
        })
    }

    /// Returns the code unit next to the position, and the position after it.
    fn advance(&self, position: usize, backward: bool) -> Option<(u16, usize)> {
        if backward {
            let before = position.checked_sub(1)?;
            Some((*self.subject.get(before)?, before))
        } else {
            Some((*self.subject.get(position)?, position + 1))
        }
    }

    fn is_word(&self, position: Option<usize>) -> bool {
        position.and_then(|position| self.subject.get(position)).is_some_and(|unit| self.word.contains(*unit))
    }

    fn back_reference(&mut self, group: u32, position: usize, backward: bool) -> Result<Option<usize>, LimitReached> {
        let (start, end) = group_registers(group);
        // `get` also fails for a group that has not matched, because the value of its registers is out of every subject's
        // range. A reference to such a group matches the empty text.
        let Some(text) = self.subject.get(self.value(start)..self.value(end)) else {
            return Ok(Some(position));
        };
        self.count(text.len())?;
        let (first, last, target) = if backward {
            let Some(first) = position.checked_sub(text.len()) else {
                return Ok(None);
            };
            (first, position, first)
        } else {
            let last = position + text.len();
            (position, last, last)
        };
        Ok((self.subject.get(first..last) == Some(text)).then_some(target))
    }

    /// Leaves the repetition or begins another round.
    fn loop_head(&mut self, looping: &Loop, round: Address, position: usize) -> (Address, usize) {
        let Quantifier { min, max, lazy } = looping.quantifier;
        let rounds = self.value(looping.counter);
        if max.is_some_and(|max| rounds >= max as usize) {
            return (looping.exit, position);
        }
        if rounds < min as usize {
            return (round, position);
        }
        let (first, second) = if lazy { (looping.exit, round) } else { (round, looping.exit) };
        self.retry(second, position);
        (first, position)
    }

    fn loop_round(&mut self, looping: &Loop, position: usize) -> Result<(), LimitReached> {
        self.set(looping.started, position);
        let (first, end) = looping.groups;
        self.count(end - first)?;
        for register in first..end {
            self.set(register, UNSET);
        }
        Ok(())
    }

    /// Counts a round; returns `false` if the round was optional and consumed nothing, which ECMA-262 does not allow.
    fn loop_back(&mut self, looping: &Loop, position: usize) -> bool {
        let rounds = self.value(looping.counter);
        let optional = rounds >= looping.quantifier.min as usize;
        if optional && position == self.value(looping.started) {
            return false;
        }
        self.set(looping.counter, rounds + 1);
        true
    }

    fn value(&self, register: Register) -> usize {
        self.registers.get(register).copied().unwrap_or(UNSET)
    }

    fn set(&mut self, register: Register, value: usize) {
        if let Some(place) = self.registers.get_mut(register)
            && *place != value
        {
            let value = std::mem::replace(place, value);
            self.trail.push(UndoStep::Restore { register, value });
        }
    }

    fn retry(&mut self, address: Address, position: usize) {
        self.trail.push(UndoStep::Retry { address, position });
    }

    /// Undoes everything since the last choice and returns its alternative, if
    /// there is a choice left above `base`.
    fn go_back(&mut self, base: usize) -> Option<(Address, usize)> {
        while self.trail.len() > base {
            match self.trail.pop()? {
                UndoStep::Retry { address, position } => return Some((address, position)),
                UndoStep::Restore { register, value } => {
                    if let Some(place) = self.registers.get_mut(register) {
                        *place = value;
                    }
                }
            }
        }
        None
    }

    /// Drops the choices above `base`: a look-around that has matched is not
    /// tried in another way.
    fn forget_retries(&mut self, base: usize) {
        self.trail.extract_if(base.., |entry| matches!(entry, UndoStep::Retry { .. })).for_each(drop);
    }
}
