//! The backtracking engine, for look-around and back-references.

use super::class::UnitSet;
use super::program::{Address, Instruction, Loop, Program, Register, registers_of};
use super::syntax::Quantifier;
use super::types::Verdict;

/// How many steps a search may take, over all places in the subject.
///
/// This bounds the time to a few milliseconds, and the memory with it, since a
/// step remembers at most a few words.
const MAX_STEPS: usize = 250_000;

/// The value of a register that has none.
const UNSET: usize = usize::MAX;

/// Searches the subject for a match.
pub(super) fn search(program: &Program, subject: &str) -> Verdict {
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
            Ok(true) => return Verdict::Matches,
            Ok(false) => {}
            Err(LimitReached) => return Verdict::LimitReached,
        }
    }
    Verdict::Differs
}

/// The search has taken too many steps.
struct LimitReached;

/// What has to be done to get back to an earlier state, newest last.
enum Trail {
    /// Go on from here.
    Retry { address: Address, position: usize },
    /// Give a register its earlier value.
    Restore { register: Register, value: usize },
}

struct Machine<'a> {
    program: &'a [Instruction],
    subject: &'a [u16],
    word: UnitSet,
    registers: Vec<usize>,
    trail: Vec<Trail>,
    steps: usize,
}

impl Machine<'_> {
    /// Runs from an address until the next [`Instruction::Accept`].
    ///
    /// After a success the registers have their values and the trail has what
    /// it takes to undo them; after a failure everything is as before. Only
    /// look-arounds recurse, so the depth is that of the pattern.
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

    /// Carries out one instruction and says where to go on, or that it failed.
    fn step(
        &mut self,
        instruction: &Instruction,
        address: Address,
        position: usize,
    ) -> Result<Option<(Address, usize)>, LimitReached> {
        let next = address + 1;
        let go_on_if = |condition: bool| condition.then_some((next, position));
        Ok(match instruction {
            Instruction::Class { set, backward } => self
                .advance(position, *backward)
                .filter(|(unit, _)| set.contains(*unit))
                .map(|(_, position)| (next, position)),
            Instruction::BackReference { group, backward } => {
                self.back_reference(*group, position, *backward)?.map(|position| (next, position))
            }
            Instruction::Start => go_on_if(position == 0),
            Instruction::End => go_on_if(position == self.subject.len()),
            Instruction::WordBoundary { inverted } => {
                let boundary = self.is_word(position.checked_sub(1)) != self.is_word(Some(position));
                go_on_if(boundary != *inverted)
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

    /// The code unit next to the position and the position after it.
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
        let (start, end) = registers_of(group);
        // `get` is also what tells a group that has not matched: its registers
        // are out of every subject's range.
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

    /// Leaves the repetition or goes on to another round.
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

    /// Counts a round, or fails if it should not have been.
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
            self.trail.push(Trail::Restore { register, value });
        }
    }

    fn retry(&mut self, address: Address, position: usize) {
        self.trail.push(Trail::Retry { address, position });
    }

    /// Undoes everything since the last choice and takes the other way, if
    /// there is a choice left above `base`.
    fn go_back(&mut self, base: usize) -> Option<(Address, usize)> {
        while self.trail.len() > base {
            match self.trail.pop()? {
                Trail::Retry { address, position } => return Some((address, position)),
                Trail::Restore { register, value } => {
                    if let Some(place) = self.registers.get_mut(register) {
                        *place = value;
                    }
                }
            }
        }
        None
    }

    /// Drops the choices above `base`: a look-around that has succeeded is not
    /// asked for another way.
    fn forget_retries(&mut self, base: usize) {
        self.trail.extract_if(base.., |entry| matches!(entry, Trail::Retry { .. })).for_each(drop);
    }
}
