//! What the hooks of a request did, as a value in this process or as a document that came over a line.

use hookrail::{Decision, Json, JsonObject, Outcome, outcome_document};
use serde_json::Value;

/// What the hooks of a request did.
///
/// In process it is the engine's own [`Outcome`], untouched. Over a line it is the document `hookrail fire --json`
/// prints. The questions a host asks have the same answers for both.
#[derive(Clone, Debug)]
pub struct Report(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Outcome(Box<Outcome>),
    Document { output: Json, outcome: JsonObject },
}

impl Report {
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self(Inner::Outcome(Box::new(outcome)))
    }

    pub(crate) fn received(output: Json, outcome: JsonObject) -> Self {
        Self(Inner::Document { output, outcome })
    }

    /// The engine's outcome, when the bus is in this process.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.0 {
            Inner::Outcome(outcome) => Some(outcome),
            Inner::Document { .. } => None,
        }
    }

    /// The whole outcome as a document.
    #[must_use]
    pub fn document(&self) -> Json {
        match &self.0 {
            Inner::Outcome(outcome) => outcome_document(outcome),
            Inner::Document { outcome, .. } => outcome.to_json(),
        }
    }

    /// The aggregate of the settings-file dialect (`AggregatedHookResult`), as a response carries it in `output`.
    #[must_use]
    pub fn output(&self) -> Json {
        match &self.0 {
            Inner::Outcome(outcome) => aggregated(&outcome_document(outcome)),
            Inner::Document { output, .. } => output.clone(),
        }
    }

    /// Both parts of a response at the cost of one.
    pub(crate) fn parts(&self) -> (Json, Json) {
        match &self.0 {
            Inner::Outcome(outcome) => {
                let document = outcome_document(outcome);
                (aggregated(&document), document)
            }
            Inner::Document { output, outcome } => (output.clone(), outcome.to_json()),
        }
    }

    /// What was decided.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        match &self.0 {
            Inner::Outcome(outcome) => outcome.effects.decision,
            Inner::Document { .. } => match self.text("decision").as_deref() {
                Some("deny") => Some(Decision::Deny),
                Some("ask") => Some(Decision::Ask),
                Some("allow") => Some(Decision::Allow),
                _ => None,
            },
        }
    }

    /// Whether the operation must not happen.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.decision() == Some(Decision::Deny)
    }

    /// Whether the agent must stop.
    #[must_use]
    pub fn must_stop(&self) -> bool {
        match &self.0 {
            Inner::Outcome(outcome) => outcome.effects.stop.is_some(),
            Inner::Document { outcome, .. } => outcome.get("stop").and_then(Json::as_bool) == Some(true),
        }
    }

    /// Why it was decided.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match &self.0 {
            Inner::Outcome(outcome) => outcome.effects.reason.clone(),
            Inner::Document { .. } => self.text("reason"),
        }
    }

    /// What the tool gets, when a hook changed it.
    #[must_use]
    pub fn tool_input(&self) -> Option<Json> {
        match &self.0 {
            Inner::Outcome(outcome) => outcome.effects.tool_input.clone(),
            Inner::Document { outcome, .. } => {
                outcome.get("toolInput").filter(|input| input.to_value() != Value::Null).cloned()
            }
        }
    }

    /// About how many bytes this holds on to, so that a buffer of reports can be bounded.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            Inner::Outcome(outcome) => {
                let runs: usize = outcome.runs.iter().map(|run| run.stdout.len() + run.stderr.len()).sum();
                let outputs: usize = outcome.aggregated.all_outputs.iter().map(|output| output.text().len()).sum();
                runs + 2 * outputs + 1024
            }
            Inner::Document { output, outcome } => {
                output.text().len() + outcome.iter().map(|(key, value)| key.len() + value.text().len()).sum::<usize>()
            }
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match &self.0 {
            Inner::Outcome(_) => None,
            Inner::Document { outcome, .. } => outcome.get(name).and_then(Json::as_str),
        }
    }
}

fn aggregated(document: &Json) -> Json {
    document.as_object().and_then(|mut members| members.remove("aggregated")).unwrap_or_else(Json::empty_object)
}
