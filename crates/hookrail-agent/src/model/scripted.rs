//! The scripted model: its answers come from a file, so a conversation can be repeated anywhere, without a network.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hookrail::guard::ModelPermit;
use hookrail::{Json, JsonObject};
use hookrail_spawn::lock_mutex;

use super::script::{Expectation, Script, ScriptStep, ScriptedErrorKind};
use super::{Model, ModelError, ModelFuture, ResponseStream};
use crate::error::AgentError;
use crate::message::{list, message, number, object, text_of, tokens};

/// A model that follows a script.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    window: u64,
    part: Mutex<ScriptPosition>,
    summaries: Mutex<std::vec::IntoIter<String>>,
    completions: Mutex<std::vec::IntoIter<String>>,
    agents: BTreeMap<String, Arc<ScriptedModel>>,
}

/// The position of a model in its script.
#[derive(Debug)]
struct ScriptPosition {
    steps: Vec<ScriptStep>,
    next: usize,
}

const WINDOW: u64 = 100_000;

impl ScriptedModel {
    /// Reads a script.
    ///
    /// # Errors
    /// If the file cannot be read or does not have the documented form.
    pub fn read(file: &Path) -> Result<Self, AgentError> {
        Ok(Self::from_script(Script::read(file)?))
    }

    fn from_script(script: Script) -> Self {
        let name = script.model.unwrap_or_else(|| "scripted".to_owned());
        let window = script.context_window.unwrap_or(WINDOW);
        let agents = script.agents.into_iter().map(|(agent, turns)| {
            let inner = Script { model: Some(name.clone()), turns, context_window: Some(window), ..Script::default() };
            (agent, Arc::new(Self::from_script(inner)))
        });
        let agents = agents.collect();
        let part = Mutex::new(ScriptPosition { steps: script.turns, next: 0 });
        let summaries = Mutex::new(script.summaries.into_iter());
        let completions = Mutex::new(script.completions.into_iter());
        Self { name, window, part, summaries, completions, agents }
    }

    fn next_step(&self) -> Result<ScriptStep, ModelError> {
        let mut part = lock_mutex(&self.part);
        let Some(step) = part.steps.get(part.next).cloned() else {
            let count = part.steps.len();
            return Err(ModelError::Failed(format!("the script has no more answers: all {count} were given")));
        };
        if !step.repeat {
            part.next += 1;
        }
        Ok(step)
    }

    /// Makes an answer outside of the conversation: the next of a list, or a default text with the number of messages.
    fn aside(request: &JsonObject, scripted: &Mutex<std::vec::IntoIter<String>>, otherwise: &str) -> Json {
        let scripted = lock_mutex(scripted).next();
        let count = request.get("contents").and_then(Json::as_array).map_or(0, |contents| contents.len());
        let text = scripted.unwrap_or_else(|| format!("{otherwise} {count} messages."));
        response(&[object([("text", Json::string(&text))])], request, &text)
    }

    async fn answer(&self, request: &Json, stream: &mut dyn ResponseStream) -> Result<Json, ModelError> {
        let request = request.as_object().unwrap_or_default();
        match request.get("purpose").and_then(Json::as_str).as_deref() {
            Some("summary") => return Ok(Self::aside(&request, &self.summaries, "A summary of")),
            Some("module") => return Ok(Self::aside(&request, &self.completions, "An answer to")),
            _ => {}
        }
        let used = tokens(&request.to_json());
        if used > self.window {
            return Err(ModelError::Overflow(format!("the request has {used} tokens; {} fit", self.window)));
        }
        let step = self.next_step()?;
        if let Some(expected) = &step.expect {
            expected.check(&request)?;
        }
        if let Some(error) = &step.error {
            let message = error.message.clone().unwrap_or_else(|| "the script says so".to_owned());
            return Err(match error.kind {
                ScriptedErrorKind::Transient => ModelError::Transient(message),
                ScriptedErrorKind::Overflow => ModelError::Overflow(message),
                ScriptedErrorKind::SignedOut => ModelError::SignedOut(message),
                ScriptedErrorKind::Failed => ModelError::Failed(message),
            });
        }
        let mut said = String::new();
        for chunk in step.text.iter().chain(&step.chunks) {
            said.push_str(chunk);
            if let ControlFlow::Break(()) = stream.text(chunk) {
                return Err(ModelError::Interrupted);
            }
            // A real response comes in pieces, and other tasks run in between.
            tokio::task::yield_now().await;
        }
        if step.hang {
            std::future::pending::<()>().await;
        }
        Ok(response(&parts(&step, &said), &request, &said))
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_window(&self) -> u64 {
        self.window
    }

    fn respond<'a>(&'a self, permit: &'a ModelPermit, stream: &'a mut dyn ResponseStream) -> ModelFuture<'a> {
        Box::pin(self.answer(permit.request(), stream))
    }

    fn for_agent(&self, name: &str) -> Option<Arc<dyn Model>> {
        self.agents.get(name).map(|model| Arc::clone(model) as Arc<dyn Model>)
    }
}

fn parts(step: &ScriptStep, said: &str) -> Vec<Json> {
    let mut parts = Vec::new();
    if !said.is_empty() {
        parts.push(object([("text", Json::string(said))]));
    }
    for call in &step.calls {
        let mut function = JsonObject::new();
        if let Some(id) = &call.id {
            function.set("id", Json::string(id));
        }
        function.set("name", Json::string(&call.name));
        match &call.args_text {
            Some(raw) => function.set("argsText", Json::string(raw)),
            None => function.set("args", call.args.clone().unwrap_or_else(Json::empty_object)),
        }
        parts.push(object([("functionCall", function.to_json())]));
    }
    parts
}

fn response(parts: &[Json], request: &JsonObject, said: &str) -> Json {
    let (input, output) = (tokens(&request.to_json()), said.len() as u64 / 4);
    let usage = object([
        ("promptTokenCount", number(input)),
        ("candidatesTokenCount", number(output)),
        ("totalTokenCount", number(input + output)),
    ]);
    let candidate = object([("content", message("model", parts)), ("finishReason", Json::string("STOP"))]);
    object([("candidates", list(&[candidate])), ("usageMetadata", usage)])
}

impl Expectation {
    fn check(&self, request: &JsonObject) -> Result<(), ModelError> {
        let wrong = |what: String| Err(ModelError::Failed(format!("the request is not as the script expects: {what}")));
        let all = request.to_json();
        // Text is compared as it reads, everything else as it is written.
        let contents = request.get("contents").and_then(Json::as_array).unwrap_or_default();
        let read: String = contents.iter().map(text_of).collect::<Vec<_>>().join("\n");
        let has = |text: &String| read.contains(text.as_str()) || all.text().contains(text.as_str());
        if let Some(missing) = self.contains.iter().find(|text| !has(text)) {
            return wrong(format!("it does not contain `{missing}`"));
        }
        if let Some(found) = self.lacks.iter().find(|text| has(text)) {
            return wrong(format!("it contains `{found}`"));
        }
        let offered = crate::tool::offered_names(&all);
        match &self.tools {
            Some(tools) if *tools != offered => wrong(format!("the tools are {}", offered.join(", "))),
            _ => Ok(()),
        }
    }
}
