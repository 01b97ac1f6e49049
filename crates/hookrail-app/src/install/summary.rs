//! What an installation or its removal means: how many events, which files, how to take it back, and what changes for each event.

use std::path::Path;

use hookrail::hook::denies_on_failure;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    FileAuthor, InstalledCall, MissingProgram, SettingsSyntax, bridge_calls, own_file_author, read_settings,
};

use super::change::{Backup, SettingsChange};
use super::write;
use crate::path_display::PathDisplay;
use crate::text::counted;

/// Whether calls of the bridge are written or taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Install,
    Uninstall,
}

/// What the changes of all files mean.
pub struct ChangeSummary {
    /// The sentence that says it all.
    pub headline: String,
    /// The events that change.
    pub events: Vec<EventChange>,
    /// What else changes, each in a sentence.
    pub others: Vec<String>,
}

/// A call of the bridge that changes.
pub struct EventChange {
    pub kind: EventChangeKind,
    pub event: String,
    /// The words of the call, beginning with the program.
    pub call: String,
    /// What happens to the operation if the bridge cannot be started.
    pub failure: FailureEffect,
}

/// What becomes of a call.
pub enum EventChangeKind {
    Added,
    /// The call is written anew, and these parts of it are others.
    Changed(Vec<&'static str>),
    Removed,
}

impl ChangeSummary {
    /// Describes the changes, of which some may change nothing.
    pub(super) fn new(
        agent: Agent,
        direction: Direction,
        changes: &[SettingsChange],
        home: &Path,
        project: &Path,
    ) -> Self {
        let places = PathDisplay::new(project, Some(home.to_owned()));
        let calls = |text: fn(&SettingsChange) -> &Option<String>| {
            let in_file =
                |change: &SettingsChange| calls_in(agent, &change.path, text(change).as_deref().unwrap_or_default());
            changes.iter().flat_map(in_file).collect::<Vec<EventCall>>()
        };
        let (before, after) = (calls(|change| &change.before), calls(|change| &change.after));
        let written = after.iter().filter_map(|call| match before.iter().find(|known| known.event == call.event) {
            None => Some(call.changed(EventChangeKind::Added)),
            Some(known) if known == call => None,
            Some(known) => Some(call.changed(EventChangeKind::Changed(known.parts_unlike(call)))),
        });
        let is_gone = |call: &&EventCall| after.iter().all(|kept| kept.event != call.event);
        let removed = before.iter().filter(is_gone).map(|call| call.changed(EventChangeKind::Removed));
        let needed = || changes.iter().filter(|change| change.is_needed());
        let others = needed().flat_map(|change| beside_calls(agent, direction, change, &places)).collect();
        let (asking, verb, undo) = match direction {
            Direction::Install => (&after, "will ask hookrail", "uninstall"),
            Direction::Uninstall => (&before, "will no longer ask hookrail", "install"),
        };
        let events = match asking.first() {
            Some(call) if call.event == EVERY_EVENT => EVERY_EVENT.to_owned(),
            _ => counted(asking.len(), "event"),
        };
        let files = needed().map(|change| file_change(change, &places)).collect::<Vec<_>>().join(", ");
        let headline = format!("{events} of {} {verb}; {files}; undo: `hookrail {undo} {agent}`", agent.title());
        Self { headline, events: written.chain(removed).collect(), others }
    }
}

/// The event of a generated plugin, which passes on all that it knows.
const EVERY_EVENT: &str = "every event";

/// A call of the bridge for an event.
#[derive(PartialEq)]
struct EventCall {
    event: String,
    /// The program, as its path.
    program: String,
    /// The words behind the program, without the event and the deadline.
    arguments: Vec<String>,
    /// How long the agent and the bridge wait, as it is written.
    waits: String,
    /// What happens to the operation if the bridge fails.
    failure: FailureEffect,
    /// Whether the command itself denies then, whatever the agent does.
    denies_itself: bool,
    /// All of a file that is no list of entries.
    text: String,
}

/// What happens to the operation of an event if the bridge cannot be started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FailureEffect {
    /// There is no operation, or the event comes after it.
    None,
    Blocks,
    Passes,
}

impl EventCall {
    fn new(agent: Agent, call: &InstalledCall) -> Self {
        let mut words = call.arguments.iter().cloned();
        let (mut arguments, mut waits) = (Vec::new(), format!("{:?}", call.timeout));
        while let Some(word) = words.next() {
            match word.as_str() {
                "--event" => drop(words.next()),
                "--deadline" => waits.extend(words.next()),
                _ => arguments.push(word),
            }
        }
        let guards = agent.find_event(&call.event).is_some_and(|event| event.guards_an_operation());
        let failure = match call.missing_program {
            _ if !guards => FailureEffect::None,
            MissingProgram::Denies => FailureEffect::Blocks,
            MissingProgram::Passes => FailureEffect::Passes,
        };
        let (event, program, text) = (call.event.clone(), call.program.clone(), String::new());
        let denies_itself = denies_on_failure(&call.command);
        Self { event, program, arguments, waits, failure, denies_itself, text }
    }

    fn of_plugin(agent: Agent, text: &str) -> Self {
        Self {
            event: EVERY_EVENT.to_owned(),
            program: String::new(),
            arguments: vec!["bridge".to_owned(), agent.name().to_owned()],
            waits: String::new(),
            failure: FailureEffect::Blocks,
            denies_itself: false,
            text: text.to_owned(),
        }
    }

    fn changed(&self, kind: EventChangeKind) -> EventChange {
        let call = format!("hookrail {}", self.arguments.join(" "));
        EventChange { kind, event: self.event.clone(), call, failure: self.failure }
    }

    /// What is different in another call for the same event.
    fn parts_unlike(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            (self.program != other.program, "program"),
            (self.arguments != other.arguments, "options"),
            (self.waits != other.waits, "time limit"),
            ((self.failure, self.denies_itself) != (other.failure, other.denies_itself), "effect of a failure"),
            (self.text != other.text, "text"),
        ];
        parts.into_iter().filter(|(is_different, _)| *is_different).map(|(_, part)| part).collect()
    }
}

/// The calls of the bridge in the text of a file, one for each event.
fn calls_in(agent: Agent, path: &Path, text: &str) -> Vec<EventCall> {
    if agent.plugin_template().is_some() {
        let is_own = own_file_author(agent, path, text) == FileAuthor::Hookrail;
        return is_own.then(|| EventCall::of_plugin(agent, text)).into_iter().collect();
    }
    // A file that cannot be read has no calls; Codex CLI's `config.toml` has none either.
    let Ok(settings) = read_settings(text, SettingsSyntax::LenientJson) else { return Vec::new() };
    let mut calls: Vec<EventCall> =
        bridge_calls(agent, &settings).iter().map(|call| EventCall::new(agent, call)).collect();
    let place = |call: &EventCall| agent.events().iter().position(|event| event.name == call.event);
    calls.sort_by_key(|call| place(call).unwrap_or(usize::MAX));
    calls.dedup_by(|next, call| next.event == call.event);
    calls
}

/// What a change does beside adding and removing calls.
fn beside_calls(agent: Agent, direction: Direction, change: &SettingsChange, places: &PathDisplay) -> Vec<String> {
    let mut texts = Vec::new();
    if change.own && change.backup == Backup::Made {
        let (path, backup) = (places.path(&change.path), places.path(&write::backup_path(&change.path)));
        texts.push(format!("what {path} holds now is kept as {backup}"));
    }
    if let Some(trust) = agent.spec().install.trust.filter(|trust| change.path.ends_with(trust.file_name)) {
        let [installed, uninstalled] = trust.summary;
        texts.push(match direction {
            Direction::Install => installed.to_owned(),
            Direction::Uninstall => uninstalled.to_owned(),
        });
    }
    texts
}

fn file_change(change: &SettingsChange, places: &PathDisplay) -> String {
    let verb = match (&change.before, &change.after) {
        (None, Some(_)) => "created",
        (Some(_), Some(_)) => "changed",
        (_, None) => "removed",
    };
    format!("{} is {verb}", places.path(&change.path))
}
