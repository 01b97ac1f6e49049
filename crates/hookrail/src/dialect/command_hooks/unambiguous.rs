//! Resolves repeated keys in an answer: the most restrictive value is used, in whichever order they were written.

use super::output::HookDecision;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::json::{Json, JsonObject};

/// An answer with one value for every key, and the keys that had several.
#[derive(Debug, Default)]
pub(super) struct Unambiguous {
    pub(super) object: JsonObject,
    repeated: Vec<String>,
    line_breaks: LineBreaks,
}

/// How line breaks are written in the strings of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineBreaks {
    /// As escapes, or not at all.
    #[default]
    Escaped,
    /// Unescaped, which JSON does not allow.
    Raw,
}

impl Unambiguous {
    /// Parses an object; none if the value is not one. Of repeated keys the last value is used, as in JavaScript,
    /// except that a decision, a stop and a request to hide output are never overridden by a later value.
    pub(super) fn read(value: &Json) -> Option<Self> {
        let mut object = value.as_object()?;
        let members = value.members();
        let mut repeated = repeated_in("", &members);
        let specific: Vec<(String, Json)> = values(&members, "hookSpecificOutput").flat_map(Json::members).collect();
        repeated.extend(repeated_in("hookSpecificOutput.", &specific));
        if !repeated.is_empty() {
            let words = values(&members, "decision").chain(values(&specific, "permissionDecision"));
            let strictest = words.filter_map(|word| HookDecision::from_word(&word.as_str()?));
            if let Some(word) = strictest.max_by_key(|word| word.decision()) {
                object.set("decision", Json::string(word.word()));
            }
            for (key, stays) in [("continue", false), ("suppressOutput", true)] {
                if values(&members, key).any(|value| value.as_bool() == Some(stays)) {
                    object.set(key, Json::boolean(stays));
                }
            }
        }
        Some(Self { object, repeated, line_breaks: LineBreaks::Escaped })
    }

    /// The answer as one whose text had to be repaired.
    pub(super) fn with_raw_line_breaks(self) -> Self {
        Self { line_breaks: LineBreaks::Raw, ..self }
    }

    /// Reports repeated keys, and line breaks that are not escaped.
    pub(super) fn findings(&self) -> impl Iterator<Item = Diagnostic> {
        let raw = (self.line_breaks == LineBreaks::Raw).then(|| {
            let message =
                "the strings of its answer contain line breaks or other control characters that are not escaped; it was read all the same";
            Diagnostic::new(Code::BadOutput, message)
                .hint("write a line break in a JSON string as `\\n`, for example with `jq`")
        });
        let repeated = self.repeated.iter().map(|key| {
            let used = match key.as_str() {
                "decision" | "hookSpecificOutput.permissionDecision" | "continue" | "suppressOutput" => "strictest",
                _ => "last",
            };
            let message = format!("duplicate key `{key}` in its answer; the {used} value is used");
            Diagnostic::new(Code::AnswerDuplicateKey, message).hint("write every key once")
        });
        raw.into_iter().chain(repeated)
    }
}

fn values<'m>(members: &'m [(String, Json)], name: &'m str) -> impl Iterator<Item = &'m Json> {
    members.iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
}

/// The keys that occur more than once, each once. Only the first few are named: a hook may print thousands.
fn repeated_in(prefix: &str, members: &[(String, Json)]) -> Vec<String> {
    const MOST_NAMED: usize = 8;
    let mut seen = std::collections::HashMap::<&str, usize>::new();
    let mut repeated = Vec::new();
    for (key, _) in members {
        let count = seen.entry(key).or_default();
        *count += 1;
        if *count == 2 && repeated.len() < MOST_NAMED {
            repeated.push(format!("{prefix}{}", key.chars().take(80).collect::<String>()));
        }
    }
    repeated
}
