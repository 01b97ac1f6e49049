//! Rules: guards without a program, which decide on what a tool call would do.
//!
//! `read` reads a file of rules, `condition` is what a rule asks for, `facts` is what a call would do, and `judge` compares
//! the two. Every condition has three values; `explain` says in words what made it hold. Nothing here knows where the files
//! are or what an answer does to an event.

mod added_programs;
mod book;
mod call_condition;
mod command_pattern;
mod condition;
mod examples;
mod exception;
mod explain;
mod facts;
#[cfg(feature = "syntax")]
mod file_system_links;
mod inline;
mod judge;
mod line;
mod path_pattern;
mod read;
mod read_condition;
mod review;
mod rule;
mod scene;
mod schema;
mod secret_forms;

use std::sync::Arc;

use crate::event::{Event, EventKind};
use crate::tools::Tools;

pub use added_programs::AddedPrograms;
pub(crate) use added_programs::ProgramLayers;
pub use book::{CallPlaces, RuleBook, RuleProblem};
pub(crate) use call_condition::CallCondition;
pub use examples::TriedExample;
pub(crate) use exception::LoadedException;
pub(crate) use facts::CallFacts;
#[cfg(feature = "syntax")]
pub use file_system_links::FileSystemLinks;
pub(crate) use judge::{RuleVerdict, judge};
pub(crate) use read::{ReadRule, RulesFile, read_rules};
pub(crate) use read_condition::Problem;
pub use rule::{Rule, RuleAnswer, RuleMatch};
pub(crate) use scene::{Links, PastAct, PastKind, Purpose, RuleScene, RuleSurroundings};
pub use schema::schema;

/// Where the rules of a configuration are, and what the user excepts from them.
#[derive(Debug)]
pub(crate) struct RuleSettings {
    pub(crate) scene: RuleScene,
    pub(crate) exceptions: Vec<LoadedException>,
    /// What was said about programs. The scene has all of it.
    pub(crate) programs: ProgramLayers,
}

impl RuleSettings {
    /// Whether an exception may still be used in a session. One that holds once is used by an event.
    pub(crate) fn may_use(&self, exception: &LoadedException, session: &str, purpose: Purpose) -> bool {
        exception.once_mark().is_none_or(|mark| self.scene.surroundings.take_once(session, &mark, purpose))
    }

    /// Whether a hook that runs once for a session has not run yet. It runs in an event.
    pub(crate) fn first_run(&self, session: &str, mark: &str, purpose: Purpose) -> bool {
        self.scene.surroundings.first_run(session, mark, purpose)
    }

    /// Remembers what a call has done, for rules that ask what a session did before.
    pub(crate) fn remember(&self, event: &Event, tools: &Tools) {
        if event.session_id().is_empty() {
            return;
        }
        let facts = CallFacts::new(event, tools, &self.scene);
        let mut acts = Vec::new();
        for part in facts.parts() {
            let accesses = &part.accesses;
            acts.extend(accesses.reads.iter().map(|fact| (PastKind::Read, fact.what.path.clone())));
            let written = accesses.writes.iter().chain(&accesses.deletes);
            acts.extend(written.map(|fact| (PastKind::Wrote, fact.what.path.clone())));
            let words =
                |command: &hookrail_shell::CommandFact| format!("{} {}", command.program, command.args.join(" "));
            acts.extend(accesses.commands.iter().map(|command| (PastKind::Ran, words(command))));
        }
        self.scene.surroundings.remember(event.session_id(), &acts);
    }
}

/// The rules that stand for a file of the user that cannot be read, with the name of the file: they ask about every call that runs a command or writes.
pub(crate) fn broken_file(name: &str, why: &str) -> [(EventKind, Arc<Rule>); 1] {
    let rule = Rule {
        name: name.into(),
        answer: RuleAnswer::Ask,
        text: "".into(),
        when: condition::Condition::new(vec![vec![condition::Clause::RunsOrWrites]]),
        match_unknown: None,
        broken: Some(why.into()),
        definition: "".into(),
    };
    [(EventKind::BeforeTool, Arc::new(rule))]
}
