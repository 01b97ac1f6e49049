//! The report of a request's hooks, as a value in this process or as a document that arrived on a line.

use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::document::outcome_document;
use hookrail::{Decision, Effects, Json, JsonKind, JsonObject, Outcome};
use serde_json::Value;

/// The most bytes of a run's standard output, and of its standard error, in an answer on a line.
const RUN_OUTPUT: usize = 64 * 1024;

/// The report of a request's hooks.
///
/// In process it is the engine's own [`Outcome`], unchanged. Over a line it is the document that `hookrail fire --json`
/// prints. The methods return the same for both.
#[derive(Clone, Debug)]
pub struct HookReport(ReportContent);

#[derive(Clone, Debug)]
enum ReportContent {
    Outcome { outcome: Box<Outcome>, cut: Vec<CutOutput> },
    Document { output: Json, outcome: JsonObject },
}

/// An output of a run that was cut: the number of the run, and the name of the field that marks it.
#[derive(Clone, Copy, Debug)]
struct CutOutput {
    run: usize,
    mark: &'static str,
}

impl HookReport {
    pub(crate) fn from_outcome(outcome: Outcome) -> Self {
        Self(ReportContent::Outcome { outcome: Box::new(outcome), cut: Vec::new() })
    }

    /// Cuts the output of each run. The output is only for people to read; its meaning is in the effects.
    pub(crate) fn cut_run_outputs(&mut self) {
        let ReportContent::Outcome { outcome, cut } = &mut self.0 else { return };
        for (number, run) in outcome.runs.iter_mut().enumerate() {
            let outputs = [(&mut run.stdout, "stdoutTruncated"), (&mut run.stderr, "stderrTruncated")];
            for (text, mark) in outputs {
                if cut_text(text, RUN_OUTPUT) {
                    text.shrink_to_fit();
                    cut.push(CutOutput { run: number, mark });
                }
            }
        }
    }

    /// Whether something was cut.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(&self.0, ReportContent::Outcome { cut, .. } if !cut.is_empty())
    }

    pub(crate) fn received(output: Json, outcome: JsonObject) -> Self {
        Self(ReportContent::Document { output, outcome })
    }

    /// Returns the engine's outcome, if the bus is in this process.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => Some(outcome),
            ReportContent::Document { .. } => None,
        }
    }

    /// Returns the whole outcome as a document.
    #[must_use]
    pub fn document(&self) -> Json {
        match &self.0 {
            ReportContent::Outcome { outcome, cut } => document(outcome, cut),
            ReportContent::Document { outcome, .. } => outcome.to_json(),
        }
    }

    /// Returns the aggregate of the settings-file dialect (`AggregatedHookResult`), as a response carries it in `output`.
    #[must_use]
    pub fn output(&self) -> Json {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => aggregated(&outcome_document(outcome)),
            ReportContent::Document { output, .. } => output.clone(),
        }
    }

    /// Returns both parts of a response, with one conversion of the outcome.
    pub(crate) fn parts(&self) -> (Json, Json) {
        match &self.0 {
            ReportContent::Outcome { outcome, cut } => {
                let document = document(outcome, cut);
                (aggregated(&document), document)
            }
            ReportContent::Document { output, outcome } => (output.clone(), outcome.to_json()),
        }
    }

    /// Returns the decision.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => outcome.effects.decision,
            // A document with an unknown decision was refused when it was read.
            ReportContent::Document { outcome, .. } => read_decision(outcome).unwrap_or(Some(Decision::Deny)),
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
            ReportContent::Outcome { outcome, .. } => outcome.effects.stop.is_some(),
            ReportContent::Document { outcome, .. } => outcome.get("stop").and_then(Json::as_bool) == Some(true),
        }
    }

    /// Returns the reason for the decision.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => outcome.effects.reason.clone(),
            ReportContent::Document { .. } => self.text("reason"),
        }
    }

    /// Returns the tool input, if a hook changed it.
    #[must_use]
    pub fn tool_input(&self) -> Option<Json> {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => outcome.effects.tool_input.clone(),
            ReportContent::Document { outcome, .. } => {
                outcome.get("toolInput").filter(|input| input.to_value() != Value::Null).cloned()
            }
        }
    }

    /// Returns about how many bytes this occupies, so that a queue of reports can be limited.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            ReportContent::Outcome { outcome, .. } => {
                let runs: usize = outcome.runs.iter().map(|run| run.stdout.len() + run.stderr.len()).sum();
                let outputs: usize = AggregatedHookResult::from_outcome(outcome)
                    .all_outputs
                    .iter()
                    .map(|output| output.to_json().text().len())
                    .sum();
                let native = [&outcome.native_request, &outcome.native_response].into_iter().flatten();
                let native: usize = native.map(|document| document.text().len()).sum();
                runs + 2 * outputs + effects_weight(&outcome.effects) + native + 1024
            }
            ReportContent::Document { output, outcome } => {
                output.text().len() + outcome.iter().map(|(key, value)| key.len() + value.text().len()).sum::<usize>()
            }
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match &self.0 {
            ReportContent::Outcome { .. } => None,
            ReportContent::Document { outcome, .. } => outcome.get(name).and_then(Json::as_str),
        }
    }
}

fn aggregated(document: &Json) -> Json {
    document.as_object().and_then(|mut members| members.remove("aggregated")).unwrap_or_else(Json::empty_object)
}

/// Returns the document of an outcome, with a mark for each output that was cut.
fn document(outcome: &Outcome, cut: &[CutOutput]) -> Json {
    let document = outcome_document(outcome);
    if cut.is_empty() {
        return document;
    }
    let Some(mut members) = document.as_object() else { return document };
    let mut runs = members.get("runs").and_then(Json::as_array).unwrap_or_default();
    for CutOutput { run, mark } in cut {
        if let Some(run) = runs.get_mut(*run)
            && let Some(mut marked) = run.as_object()
        {
            marked.set(*mark, Json::boolean(true));
            *run = marked.to_json();
        }
    }
    if let Ok(runs) = Json::of(&runs) {
        members.set("runs", runs);
    }
    members.to_json()
}

/// Returns the decision of a document. An unknown word is an error, because it must not be taken for no decision.
pub(crate) fn read_decision(outcome: &JsonObject) -> Result<Option<Decision>, String> {
    let Some(decision) = outcome.get("decision").filter(|decision| decision.kind() != JsonKind::Null) else {
        return Ok(None);
    };
    match decision.as_str().as_deref() {
        Some("deny") => Ok(Some(Decision::Deny)),
        Some("ask") => Ok(Some(Decision::Ask)),
        Some("allow") => Ok(Some(Decision::Allow)),
        Some(word) => Err(format!("unknown decision `{}`", word.chars().take(80).collect::<String>())),
        None => Err("the decision is not a string".to_owned()),
    }
}

/// Returns about how many bytes effects occupy. The pattern names every field, so that the compiler reports a new effect that
/// is not counted here.
fn effects_weight(effects: &Effects) -> usize {
    let Effects {
        decision: _,
        reason,
        stop,
        system_message,
        suppress_output: _,
        clear_context: _,
        additional_context,
        tool_input,
        tool_output,
        prompt,
        messages,
        entries,
        llm_request,
        llm_response,
        tool_config,
        result,
    } = effects;
    let texts = [reason, system_message, additional_context, prompt].into_iter().flatten();
    let texts = texts.chain(stop.as_ref().map(|stop| &stop.reason)).map(String::len).sum::<usize>();
    let values = [tool_input, tool_output, llm_request, llm_response, tool_config, result].into_iter().flatten();
    texts + values.chain(messages).chain(entries).map(|value| value.text().len()).sum::<usize>()
}

/// Cuts a text to about this many bytes. Returns whether it was longer.
pub(crate) fn cut_text(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let end = text.floor_char_boundary(most);
    text.truncate(end);
    text.push('…');
    true
}
