//! The transcript file of a scripted model, as data: `crates/hookrail-agent/README.md` describes it.

use std::collections::BTreeMap;
use std::path::Path;

use hookrail::Json;
use serde::Deserialize;

use crate::error::AgentError;

/// A whole script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(rename = "$schema", default)]
    pub(super) _schema: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) context_window: Option<u64>,
    #[serde(default)]
    pub(super) turns: Vec<ScriptStep>,
    /// The parts of sub-agents, by name.
    #[serde(default)]
    pub(super) agents: BTreeMap<String, Vec<ScriptStep>>,
    /// The answers to requests for a summary, in order.
    #[serde(default)]
    pub(super) summaries: Vec<String>,
    /// The answers to requests of modules, in order.
    #[serde(default)]
    pub(super) completions: Vec<String>,
}

/// One answer of the script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptStep {
    /// The sub-agent that gives the answer, in a file of lines.
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    pub(super) text: Option<String>,
    /// The text in pieces, as it is streamed.
    #[serde(default)]
    pub(super) chunks: Vec<String>,
    #[serde(default)]
    pub(super) calls: Vec<ScriptedCall>,
    #[serde(default)]
    pub(super) error: Option<ScriptedError>,
    /// The expected request. The model fails if the request differs.
    #[serde(default)]
    pub(super) expect: Option<Expectation>,
    /// Whether the model never answers, so that it must be interrupted.
    #[serde(default)]
    pub(super) hang: bool,
    /// Whether the answer is repeated without end.
    #[serde(default)]
    pub(super) repeat: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    #[serde(default)]
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) args: Option<Json>,
    /// The arguments as the model wrote them, which need not be JSON.
    #[serde(default)]
    pub(super) args_text: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedError {
    pub(super) kind: ScriptedErrorKind,
    #[serde(default)]
    pub(super) message: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ScriptedErrorKind {
    Transient,
    Overflow,
    SignedOut,
    Failed,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// Texts that the request must contain.
    #[serde(default)]
    pub(super) contains: Vec<String>,
    /// Texts that the request must not contain.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// The names of exactly the tools that are offered, sorted.
    #[serde(default)]
    pub(super) tools: Option<Vec<String>>,
}

/// The head of a file of lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptHeader {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    context_window: Option<u64>,
    #[serde(default)]
    summaries: Vec<String>,
    #[serde(default)]
    completions: Vec<String>,
}

impl Script {
    /// Reads a script: one JSON document, or, in a file named `*.jsonl`, one answer per line.
    pub(super) fn read(file: &Path) -> Result<Self, AgentError> {
        let bad = |message: String| AgentError::Script { file: file.to_owned(), message };
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let script = if file.extension().is_some_and(|extension| extension == "jsonl") {
            Self::from_lines(&text)
        } else {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        };
        script.map_err(bad)
    }

    fn from_lines(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |error: serde_json::Error| format!("line {at}: {error}");
            if at == 1
                && let Ok(head) = serde_json::from_str::<ScriptHeader>(line)
            {
                script.model = head.model;
                script.context_window = head.context_window;
                script.summaries = head.summaries;
                script.completions = head.completions;
                continue;
            }
            let step: ScriptStep = serde_json::from_str(line).map_err(wrong)?;
            match &step.agent {
                Some(name) => script.agents.entry(name.clone()).or_default().push(step),
                None => script.turns.push(step),
            }
        }
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_one_document_say_the_same() {
        let lines = "{\"model\":\"m\"}\n\n{\"text\":\"hi\"}\n{\"agent\":\"a\",\"text\":\"sub\"}\n";
        let script = Script::from_lines(lines).unwrap();
        assert_eq!((script.model.as_deref(), script.turns.len(), script.agents["a"].len()), (Some("m"), 1, 1));
        let headless = Script::from_lines("{\"text\":\"hi\"}\n").unwrap();
        assert_eq!(headless.turns.len(), 1);
        assert_eq!(Script::from_lines("{\"text\":1}").unwrap_err().split(':').next(), Some("line 1"));
        assert!(Script::from_lines("{\"txt\":\"a typo\"}").unwrap_err().contains("unknown field `txt`"));
    }
}
