//! What the engine itself says about a tool call: one that would change what decides which hooks run, or that would loosen
//! guards, needs the approval of a person where there is a guard.
//!
//! The reason may reach a model, so it names nothing that would lift the decision. The hint is for people only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::event::effects::{Decision, Effects};
use crate::event::{Event, EventKind};
use crate::text::names::named;
use crate::tools::{GivenCommand, SoughtTargets, ToolMeaning, Tools};
use crate::trust::places::ProtectedPlaces;
use crate::trust::session_facts::{FactKind, SessionFacts};
use crate::trust::{Loosening, line_loosens, words_loosen};

named! {
    /// What happens to a tool call that would change what decides which hooks run, or that would loosen guards.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Protect {
        /// A person is asked.
        #[default]
        Ask = "ask",
        /// It is denied.
        Deny = "deny",
        /// Nothing.
        Off = "off",
    }
}

/// How a configuration protects itself from the tools of its host.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    pub(crate) mode: Protect,
    pub(crate) host_tools: HostTools,
    /// Where approvals are remembered; nowhere for a host that only tries events out.
    pub(crate) facts: Option<SessionFacts>,
    pub(crate) places: Arc<ProtectedPlaces>,
    /// Whether there is a guard at all.
    pub(crate) is_guarded: bool,
}

/// What the tools of a host do about protected places by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HostTools {
    #[default]
    WriteAnywhere,
    /// They refuse to write there, so that to ask would be in vain.
    Refuse,
}

/// The engine's own decision about a tool call.
#[derive(Clone, Debug)]
pub(crate) struct OwnJudgement {
    pub(crate) decision: Decision,
    pub(crate) finding: Diagnostic,
    /// The files about which a person is asked.
    files: Vec<String>,
}

impl OwnJudgement {
    pub(crate) fn effects(&self) -> Effects {
        let reason = Some(self.finding.message.clone());
        Effects { decision: Some(self.decision), reason, ..Effects::default() }
    }
}

impl Protection {
    /// The decision about a call that writes protected places.
    fn about_places(&self) -> Decision {
        if self.mode == Protect::Deny || self.host_tools == HostTools::Refuse { Decision::Deny } else { Decision::Ask }
    }

    fn about_commands(&self) -> Decision {
        if self.mode == Protect::Deny { Decision::Deny } else { Decision::Ask }
    }

    /// Whether the engine itself has something to say about tool calls.
    pub(crate) fn is_active(&self) -> bool {
        self.is_guarded && self.mode != Protect::Off
    }

    /// What the engine itself says about a call of this tool; nothing about most.
    pub(crate) fn judge_call(&self, tools: &Tools, event: &Event, tool: ToolMeaning) -> Option<OwnJudgement> {
        // What a person has to approve is not approved by a hook that answers the host's question.
        if !event.kind().spec().guards_a_call() || !self.is_active() {
            return None;
        }
        let targets = tools.targets(event, tool, SoughtTargets::Changes);
        let loosens = |command: &GivenCommand| match command {
            GivenCommand::Line(line) => line_loosens(line),
            GivenCommand::Words(words) => words_loosen(words),
        };
        let about_command = targets.commands.iter().find_map(loosens).map(|how| self.about_loosening(how));
        about_command.or_else(|| self.about_writes(event, &targets.writes))
    }

    fn about_writes(&self, event: &Event, writes: &[String]) -> Option<OwnJudgement> {
        let decision = self.about_places();
        let mut places = self.protected_targets(event, writes);
        if decision == Decision::Ask && !places.is_empty() {
            let known = self.facts.as_ref().map(|facts| facts.read(event.session_id())).unwrap_or_default();
            places.retain(|place| place.to_str().is_none_or(|place| !known.has(FactKind::Approved, place)));
        }
        let shown = |place: &PathBuf| format!("`{}`", self.shown_path(place).display());
        let (first, rest) = places.split_first()?;
        let (names, decides) = match rest.len() {
            0 => (shown(first), "decides"),
            1 => (places.iter().map(shown).collect::<Vec<_>>().join(" and "), "decide"),
            more => (format!("{} and {more} more", shown(first)), "decide"),
        };
        let message = match decision {
            Decision::Deny => format!("{names} {decides} which hooks run, and no tool may change that"),
            Decision::Ask | Decision::Allow => {
                format!("{names} {decides} which hooks run; a person has to approve this change")
            }
        };
        let files = places.iter().filter_map(|place| place.to_str().map(str::to_owned)).collect();
        Some(OwnJudgement { decision, finding: finding(Code::ProtectedPlace, message), files })
    }

    fn about_loosening(&self, how: Loosening) -> OwnJudgement {
        let decision = self.about_commands();
        let what = match how {
            Loosening::Command(name) => format!("`hookrail {name}` changes which hooks run"),
            Loosening::Event => "`hookrail bridge` speaks for the agent".to_owned(),
            Loosening::Variable => "the command line switches hooks off".to_owned(),
        };
        let who = match decision {
            Decision::Deny => "that is for a person to do, in a terminal of their own",
            Decision::Ask | Decision::Allow => "a person has to approve it",
        };
        let finding = finding(Code::LoosensGuard, format!("{what}; {who}"));
        OwnJudgement { decision, finding, files: Vec::new() }
    }

    /// Where these paths lead, of those that decide which hooks run.
    fn protected_targets(&self, event: &Event, writes: &[String]) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> =
            writes.iter().filter_map(|path| self.places.target_of_argument(event.cwd(), path)).collect();
        places.sort();
        places.dedup();
        places
    }

    /// Remembers that a person is asked about the files of a call. Only the event before a tool names the call.
    pub(crate) fn remember_question(&self, event: &Event, judged: &OwnJudgement) {
        let is_call = event.kind() == EventKind::BeforeTool && judged.decision == Decision::Ask;
        if let Some(facts) = self.facts.as_ref().filter(|_| is_call) {
            // If this cannot be kept, the approval is not either, and the next call asks again.
            let _ = facts.change(event.session_id(), |facts| {
                judged.files.iter().for_each(|file| facts.add(FactKind::Asked, &asked_in(event, file)));
            });
        }
    }

    /// Remembers what a person approved: a call that ran although the engine had asked about its file.
    pub(crate) fn remember_approval(&self, tools: &Tools, event: &Event) {
        let Some(facts) = self.facts.as_ref() else { return };
        if event.kind() != EventKind::AfterTool
            || !self.is_active()
            || event.session_id().is_empty()
            || has_failed(event)
        {
            return;
        }
        let writes = tools.targets(event, tools.meaning(event), SoughtTargets::Changes).writes;
        let places = self.protected_targets(event, &writes);
        if places.is_empty() {
            return;
        }
        let _ = facts.change(event.session_id(), |facts| {
            for place in places.iter().filter_map(|place| place.to_str()) {
                if facts.has(FactKind::Asked, &asked_in(event, place)) {
                    facts.add(FactKind::Approved, place);
                }
            }
        });
    }

    /// The path as messages show it: relative to the project if it lies there.
    fn shown_path<'p>(&self, path: &'p Path) -> &'p Path {
        self.places.in_project(path).unwrap_or(path)
    }
}

/// What was asked about: a file in one call, because the end of another call says nothing about what a person answered. Some
/// agents give their calls no id.
fn asked_in(event: &Event, file: &str) -> String {
    format!("{}\n{file}", event.text("tool_call_id").unwrap_or_default())
}

/// Whether the response of a tool says that the call failed or was refused.
fn has_failed(event: &Event) -> bool {
    let Some(response) = event.field("tool_response").and_then(|response| response.as_object()) else { return false };
    response.get("error").is_some_and(|error| error.text() != "null" && error.text() != "false")
}

fn finding(code: Code, message: String) -> Diagnostic {
    let hint = "`protect` in the section `[guard]` of the user's `config.toml` says what happens then: \"ask\", \"deny\" or \"off\"";
    Diagnostic::new(code, message).hint(hint)
}
