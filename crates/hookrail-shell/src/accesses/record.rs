//! Writes facts down, each one once.

use super::evaluate::Evaluator;
use super::options::Arg;
use super::secrets::is_secret;
use crate::facts::{
    Accesses, Executed, Fact, FactKind, FactSet, Flow, FlowKind, GitFact, NetworkHost, PathUse, Unknown, Why,
};
use crate::resolve::{HOLE, TRACKED, Value, World, join, shown};
use crate::syntax::Span;

/// The most places of a line that are named with what is not known there.
const MOST_PLACES: usize = 256;
/// How many facts an equal one is looked for in: a list of thousands stays linear.
const RECENT: usize = 64;

/// A path on the line, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The path with marks for patterns and unknown parts.
    pub(crate) path: String,
    /// Why a part is not known.
    pub(crate) why: Option<Why>,
}

/// How a path with everything below is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    Itself,
    /// Everything below it.
    Below,
    /// What a repository tracks below it.
    TrackedBelow,
}

/// Which list a path is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    Delete,
}

impl Use {
    fn kind(self) -> FactKind {
        match self {
            Self::Read => FactKind::Reads,
            Self::Write => FactKind::Writes,
            Self::Delete => FactKind::Deletes,
        }
    }
}

impl Evaluator<'_> {
    /// Resolves a path of the line.
    pub(crate) fn place_of(&mut self, value: &Value, world: &World) -> Place {
        // Very many very long paths would take for ever to copy.
        self.charge(24 + world.folder.text.len().saturating_add(value.text.len()) / 8);
        if self.is_spent() {
            return Place { path: HOLE.to_string(), why: Some(Why::TooManyWords) };
        }
        let mut why = value.hole.map(|hole| hole.why);
        let is_relative = !value.text.starts_with('/') && !value.text.starts_with(HOLE);
        if is_relative && let Some(hole) = world.folder.hole {
            why = why.or(Some(if hole.why == Why::TooManyStates { hole.why } else { Why::UnknownFolder }));
        }
        Place { path: join(&world.folder.text, &value.text), why }
    }

    pub(crate) fn use_value(&mut self, how: Use, value: &Value, span: Span, world: &World) {
        self.use_value_with(how, Reach::Itself, value, span, world);
    }

    pub(crate) fn use_value_with(&mut self, how: Use, reach: Reach, value: &Value, span: Span, world: &World) {
        if value.text.is_empty() {
            return;
        }
        if let Some(folder) = value.text.strip_suffix(TRACKED) {
            let folder = Value { text: folder.trim_end_matches('/').to_owned(), hole: value.hole };
            let place = self.place_of(&folder, world);
            self.use_place(how, Reach::TrackedBelow, &place, span);
            return;
        }
        let place = self.place_of(value, world);
        // An operand that stands for everything below it can be a file itself.
        if reach != Reach::Itself && is_secret(&place.path) {
            self.use_place(how, Reach::Itself, &place, span);
        }
        self.use_place(how, reach, &place, span);
    }

    pub(crate) fn use_place(&mut self, how: Use, reach: Reach, place: &Place, span: Span) {
        let mut path = shown(&place.path);
        match reach {
            Reach::Itself => {}
            Reach::Below | Reach::TrackedBelow => {
                path.push_str(if path.ends_with('/') { "**" } else { "/**" });
            }
        }
        if let Some(why) = place.why {
            self.unknown(why, FactSet::of(&[how.kind()]), span);
        }
        let is_partly_unknown = place.why.is_some();
        let command = self.command;
        let real = if is_partly_unknown { None } else { self.scene.surroundings.real_path(&path) };
        let mut paths: Vec<String> = [Some(path), real].into_iter().flatten().collect();
        for index in 0..paths.len() {
            let Some(path) = paths.get(index).filter(|_| self.line_files.has_names()) else { break };
            let behind = self.line_files.behind(path, how);
            self.charge(behind.steps);
            for why in behind.unknown {
                self.unknown(why, FactSet::of(&[how.kind()]), span);
            }
            paths.extend(behind.paths);
        }
        for path in paths {
            let what = PathUse { path, is_partly_unknown, covers_hidden: reach != Reach::TrackedBelow };
            let list = match how {
                Use::Read => &mut self.facts.reads,
                Use::Write => &mut self.facts.writes,
                Use::Delete => &mut self.facts.deletes,
            };
            if !list.iter().rev().take(RECENT).any(|fact| fact.span == span && fact.what == what) {
                list.push(Fact { what, span, command });
            }
        }
    }

    pub(crate) fn executes(&mut self, what: Executed, span: Span) {
        if self.affords(16) {
            add(&mut self.facts.executes, Fact { what, span, command: self.command });
        }
    }

    pub(crate) fn task(&mut self, kind: &str, name: &str, span: Span) {
        self.executes(Executed::Task(kind.to_owned(), shown(name)), span);
    }

    /// A host that a word of the line names.
    pub(crate) fn host(&mut self, host: NetworkHost, arg: &Arg) {
        if host == NetworkHost::Unknown && !arg.text().is_empty() {
            self.unknown(Why::UnknownHost, FactSet::of(&[FactKind::Network]), arg.span);
        }
        self.network(host, arg.span);
    }

    pub(crate) fn network(&mut self, host: NetworkHost, span: Span) {
        if !self.affords(16) {
            return;
        }
        add(&mut self.facts.network, Fact { what: host, span, command: self.command });
    }

    pub(crate) fn git(&mut self, what: GitFact, span: Span) {
        add(&mut self.facts.git, Fact { what, span, command: self.command });
    }

    pub(crate) fn flow(&mut self, kind: FlowKind, span: Span) {
        let flow = Flow { kind, span };
        if !self.facts.flow.contains(&flow) {
            self.facts.flow.push(flow);
        }
    }

    pub(crate) fn unknown(&mut self, why: Why, facts: FactSet, span: Span) {
        let list = &mut self.facts.unknown;
        // A line has few places with a reason. Of one that has very many, further ones are told apart by their reasons alone.
        let is_told = list.len() < MOST_PLACES;
        let span = if is_told { span } else { Span::default() };
        let from = if is_told { 0 } else { MOST_PLACES };
        match list.iter_mut().skip(from).find(|known| known.why == why && known.span == span) {
            Some(known) => known.facts = known.facts.union(facts),
            None => list.push(Unknown { why, facts, span }),
        }
    }
}

/// Adds a fact, unless it was just found.
fn add<T: PartialEq>(list: &mut Vec<Fact<T>>, fact: Fact<T>) {
    if !list.iter().rev().take(RECENT).any(|known| known.span == fact.span && *known == fact) {
        list.push(fact);
    }
}

impl Accesses {
    /// Whether a fact names this command.
    pub(crate) fn has_fact_of(&self, command: usize) -> bool {
        let paths = self.reads.iter().chain(&self.writes).chain(&self.deletes).map(|fact| fact.command);
        let others = self.executes.iter().map(|fact| fact.command);
        let others = others.chain(self.network.iter().map(|fact| fact.command));
        paths.chain(others).chain(self.git.iter().map(|fact| fact.command)).any(|named| named == Some(command))
    }
}
