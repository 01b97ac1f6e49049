//! What the hooks of a request did, as a value in this process or as a document that came over a line.

use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::document::outcome_document;
use hookrail::{Decision, Effects, Json, JsonKind, JsonObject, Outcome};
use serde_json::Value;

/// How much of a run's standard output, and of its standard error, is kept in an answer on a line, in bytes.
const RUN_OUTPUT: usize = 64 * 1024;

/// What the hooks of a request did.
///
/// In process it is the engine's own [`Outcome`], untouched. Over a line it is the document `hookrail fire --json`
/// prints. The questions a host asks have the same answers for both.
#[derive(Clone, Debug)]
pub struct Report(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Outcome { outcome: Box<Outcome>, cut: Vec<CutOutput> },
    Document { output: Json, outcome: JsonObject },
}

/// An output of a run that was cut: the number of the run, and the field that says so.
#[derive(Clone, Copy, Debug)]
struct CutOutput {
    run: usize,
    mark: &'static str,
}

impl Report {
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self(Inner::Outcome { outcome: Box::new(outcome), cut: Vec::new() })
    }

    /// Keeps a part of what each run wrote. It is in the answer for people to read; what it meant is in the effects.
    pub(crate) fn cut_run_outputs(&mut self) {
        let Inner::Outcome { outcome, cut } = &mut self.0 else { return };
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
        matches!(&self.0, Inner::Outcome { cut, .. } if !cut.is_empty())
    }

    pub(crate) fn received(output: Json, outcome: JsonObject) -> Self {
        Self(Inner::Document { output, outcome })
    }

    /// The engine's outcome, when the bus is in this process.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.0 {
            Inner::Outcome { outcome, .. } => Some(outcome),
            Inner::Document { .. } => None,
        }
    }

    /// The whole outcome as a document.
    #[must_use]
    pub fn document(&self) -> Json {
        match &self.0 {
            Inner::Outcome { outcome, cut } => document(outcome, cut),
            Inner::Document { outcome, .. } => outcome.to_json(),
        }
    }

    /// The aggregate of the settings-file dialect (`AggregatedHookResult`), as a response carries it in `output`.
    #[must_use]
    pub fn output(&self) -> Json {
        match &self.0 {
            Inner::Outcome { outcome, .. } => aggregated(&outcome_document(outcome)),
            Inner::Document { output, .. } => output.clone(),
        }
    }

    /// Both parts of a response at the cost of one.
    pub(crate) fn parts(&self) -> (Json, Json) {
        match &self.0 {
            Inner::Outcome { outcome, cut } => {
                let document = document(outcome, cut);
                (aggregated(&document), document)
            }
            Inner::Document { output, outcome } => (output.clone(), outcome.to_json()),
        }
    }

    /// What was decided.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        match &self.0 {
            Inner::Outcome { outcome, .. } => outcome.effects.decision,
            // A document whose decision is not known was refused when it was read.
            Inner::Document { outcome, .. } => read_decision(outcome).unwrap_or(Some(Decision::Deny)),
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
            Inner::Outcome { outcome, .. } => outcome.effects.stop.is_some(),
            Inner::Document { outcome, .. } => outcome.get("stop").and_then(Json::as_bool) == Some(true),
        }
    }

    /// Why it was decided.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match &self.0 {
            Inner::Outcome { outcome, .. } => outcome.effects.reason.clone(),
            Inner::Document { .. } => self.text("reason"),
        }
    }

    /// What the tool gets, when a hook changed it.
    #[must_use]
    pub fn tool_input(&self) -> Option<Json> {
        match &self.0 {
            Inner::Outcome { outcome, .. } => outcome.effects.tool_input.clone(),
            Inner::Document { outcome, .. } => {
                outcome.get("toolInput").filter(|input| input.to_value() != Value::Null).cloned()
            }
        }
    }

    /// About how many bytes this holds on to, so that a buffer of reports can be bounded.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            Inner::Outcome { outcome, .. } => {
                let runs: usize = outcome.runs.iter().map(|run| run.stdout.len() + run.stderr.len()).sum();
                let outputs: usize = AggregatedHookResult::of(outcome)
                    .all_outputs
                    .iter()
                    .map(|output| output.to_json().text().len())
                    .sum();
                let native = [&outcome.native_request, &outcome.native_response].into_iter().flatten();
                let native: usize = native.map(|document| document.text().len()).sum();
                runs + 2 * outputs + weight_of(&outcome.effects) + native + 1024
            }
            Inner::Document { output, outcome } => {
                output.text().len() + outcome.iter().map(|(key, value)| key.len() + value.text().len()).sum::<usize>()
            }
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match &self.0 {
            Inner::Outcome { .. } => None,
            Inner::Document { outcome, .. } => outcome.get(name).and_then(Json::as_str),
        }
    }
}

fn aggregated(document: &Json) -> Json {
    document.as_object().and_then(|mut members| members.remove("aggregated")).unwrap_or_else(Json::empty_object)
}

/// The document of an outcome whose runs say what was cut.
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

/// What a document says was decided. A word that is not known is no decision, and must not pass for none either.
pub(crate) fn read_decision(outcome: &JsonObject) -> Result<Option<Decision>, String> {
    let Some(decision) = outcome.get("decision").filter(|decision| decision.kind() != JsonKind::Null) else {
        return Ok(None);
    };
    match decision.as_str().as_deref() {
        Some("deny") => Ok(Some(Decision::Deny)),
        Some("ask") => Ok(Some(Decision::Ask)),
        Some("allow") => Ok(Some(Decision::Allow)),
        Some(word) => Err(format!("the decision `{}` is not known", word.chars().take(80).collect::<String>())),
        None => Err("the decision is not a text".to_owned()),
    }
}

/// About how many bytes effects hold on to. Taken apart, so that a new effect cannot be forgotten here.
fn weight_of(effects: &Effects) -> usize {
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

/// Cuts a text to about so many bytes. Returns whether it was longer.
pub(crate) fn cut_text(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    text.push('…');
    true
}
