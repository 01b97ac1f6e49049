//! What a new hook does: one small rule for each event, which its author replaces.
//!
//! A rule looks for a word in one text of the event and answers if it is there. So a template can be written in any language,
//! and its two test cases are known.

use hookrail::EventKind;
use hookrail::event::FieldKind;

use super::target::TemplateDialect;

/// The rule of a new hook.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// What the hook does, behind its name and a colon.
    pub(super) about: String,
    /// Where the text is in what the hook receives.
    pub(super) path: &'static [&'static str],
    pub(super) word: &'static str,
    /// The answer, as JSON on one line.
    pub(super) answer: &'static str,
    /// The tools that the hook is asked about.
    pub(super) matcher: Option<&'static str>,
    pub(super) failure: FailureMeaning,
    /// The event in a test case, in which `{text}` stands for the text.
    pub(super) event_lines: &'static str,
    /// A text with the word in it, and one without it.
    pub(super) texts: [&'static str; 2],
    /// What a test case expects of the answer.
    pub(super) expect: &'static str,
    /// The text and the answer in Rust.
    pub(super) rust: [&'static str; 2],
}

/// What it means that the hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureMeaning {
    /// The hook is a guard: the operation does not happen.
    Blocks,
    /// The hook only adds something: the operation goes on.
    Passes,
}

use FailureMeaning::{Blocks, Passes};

const WRITING_TOOLS: &str = "^(write_file|replace)$";
const WRITE: &str = "tool = \"write_file\"\ntool_input = { path = \"{text}\" }";
const ENV_FILES: [&str; 2] = ["config/.env", "notes.md"];
const PASSWORDS: [&str; 2] = ["the password is 1234", "write a test"];

/// Returns the rule for an event of a dialect of commands; none if an answer to the event has no effect there.
pub(super) fn sample(dialect: TemplateDialect, kind: EventKind) -> Option<Sample> {
    match dialect {
        TemplateDialect::Settings => llxprt(kind),
        TemplateDialect::Plugin => xcode(kind),
        TemplateDialect::Module => None,
    }
}

fn llxprt(kind: EventKind) -> Option<Sample> {
    let base = Sample {
        about: String::new(),
        path: &[],
        word: "",
        answer: "",
        matcher: None,
        failure: Passes,
        event_lines: "",
        texts: ["", ""],
        expect: "",
        rust: ["", ""],
    };
    let about = str::to_owned;
    Some(match kind {
        EventKind::SessionStart => Sample {
            about: about("tells the model something when a session starts"),
            path: &["source"],
            word: "startup",
            answer: r#"{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Run the tests before you finish."}}"#,
            event_lines: "payload = { source = \"{text}\" }",
            texts: ["startup", "resume"],
            expect: "context_contains = \"Run the tests\"",
            rust: ["&event.source", "HookAnswer::none().context(\"Run the tests before you finish.\")"],
            ..base
        },
        EventKind::SessionEnd => Sample {
            about: about("says something when a session ends"),
            path: &["reason"],
            word: "exit",
            answer: r#"{"systemMessage": "Remember to push your commits."}"#,
            event_lines: "payload = { reason = \"{text}\" }",
            texts: ["exit", "clear"],
            expect: "message_contains = \"push your commits\"",
            rust: ["&event.reason", "HookAnswer::none().system_message(\"Remember to push your commits.\")"],
            ..base
        },
        EventKind::Prompt => Sample {
            about: about("denies prompts with a password"),
            path: &["prompt"],
            word: "password",
            answer: r#"{"decision": "deny", "reason": "prompts must not contain passwords"}"#,
            failure: Blocks,
            event_lines: "prompt = \"{text}\"",
            texts: PASSWORDS,
            expect: "decision = \"deny\", reason_contains = \"passwords\"",
            rust: ["&event.prompt", "HookAnswer::deny(\"prompts must not contain passwords\")"],
            ..base
        },
        EventKind::AgentEnd => Sample {
            about: about("points out that work is left"),
            path: &["prompt_response"],
            word: "TODO",
            answer: r#"{"systemMessage": "There is work left: look for TODO."}"#,
            event_lines: "payload = { prompt = \"go\", prompt_response = \"{text}\", stop_hook_active = false }",
            texts: ["done, with one TODO left", "done"],
            expect: "message_contains = \"work left\"",
            rust: [
                "&event.prompt_response",
                "HookAnswer::none().system_message(\"There is work left: look for TODO.\")",
            ],
            ..base
        },
        EventKind::BeforeTool => Sample {
            about: about("keeps the agent from writing `.env` files"),
            path: &["tool_input", "path"],
            word: ".env",
            answer: r#"{"decision": "deny", "reason": "files named `.env` hold secrets"}"#,
            matcher: Some(WRITING_TOOLS),
            failure: Blocks,
            event_lines: WRITE,
            texts: ENV_FILES,
            expect: "decision = \"deny\", reason_contains = \"secrets\"",
            rust: [
                "event.input_text(\"path\").unwrap_or_default()",
                "HookAnswer::deny(\"files named `.env` hold secrets\")",
            ],
        },
        EventKind::AfterTool => Sample {
            about: about("tells the model what to do after an error"),
            path: &["tool_response", "llmContent"],
            word: "error",
            answer: r#"{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "Read the error before you try again."}}"#,
            matcher: Some("^run_shell_command$"),
            event_lines: "tool = \"run_shell_command\"\ntool_input = { command = \"make\" }\ntool_response = { llmContent = \"{text}\" }",
            texts: ["error: it does not compile", "it compiles"],
            expect: "context_contains = \"Read the error\"",
            rust: [
                "event.response_text().unwrap_or_default()",
                "HookAnswer::none().context(\"Read the error before you try again.\")",
            ],
            ..base
        },
        EventKind::BeforeModel => Sample {
            about: about("denies calls of preview models"),
            path: &["llm_request", "model"],
            word: "preview",
            answer: r#"{"decision": "deny", "reason": "preview models are not used here"}"#,
            failure: Blocks,
            event_lines: "payload = { llm_request = { model = \"{text}\", messages = [] } }",
            texts: ["large-preview", "large"],
            expect: "decision = \"deny\", reason_contains = \"preview models\"",
            rust: [
                "event.llm_request.get(\"model\").and_then(|model| model.as_str()).unwrap_or_default()",
                "HookAnswer::deny(\"preview models are not used here\")",
            ],
            ..base
        },
        EventKind::AfterModel => Sample {
            about: about("replaces responses with a password"),
            path: &["llm_response", "text"],
            word: "password",
            answer: r#"{"hookSpecificOutput": {"hookEventName": "AfterModel", "llm_response": {"text": "[removed]"}}}"#,
            event_lines: "payload = { llm_request = { model = \"large\", messages = [] }, llm_response = { text = \"{text}\" } }",
            texts: PASSWORDS,
            expect: "outcome = { llmResponse = { text = \"[removed]\" } }",
            rust: ["event.response_text().unwrap_or_default()", "HookAnswer::none().response_text(\"[removed]\")"],
            ..base
        },
        EventKind::ToolSelection => Sample {
            about: about("lets small models only read files"),
            path: &["llm_request", "model"],
            word: "small",
            answer: r#"{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read_file"]}}}"#,
            event_lines: "payload = { llm_request = { model = \"{text}\", messages = [] } }",
            texts: ["small", "large"],
            expect: "outcome = { toolConfig = { allowedFunctionNames = [\"read_file\"] } }",
            rust: [
                "event.llm_request.get(\"model\").and_then(|model| model.as_str()).unwrap_or_default()",
                "HookAnswer::none().tools(hookrail_hook::ToolMode::Any, [\"read_file\"])",
            ],
            ..base
        },
        EventKind::BeforeCompact => Sample {
            about: about("says that the conversation is compressed"),
            path: &["trigger"],
            word: "auto",
            answer: r#"{"systemMessage": "The conversation is compressed."}"#,
            event_lines: "payload = { trigger = \"{text}\" }",
            texts: ["auto", "manual"],
            expect: "message_contains = \"compressed\"",
            rust: ["&event.trigger", "HookAnswer::none().system_message(\"The conversation is compressed.\")"],
            ..base
        },
        EventKind::Notification => Sample {
            about: about("adds a message when the agent waits for permission"),
            path: &["message"],
            word: "permission",
            answer: r#"{"systemMessage": "The agent waits for you."}"#,
            event_lines: "payload = { notification_type = \"ToolPermission\", message = \"{text}\", details = {} }",
            texts: ["a tool needs permission", "done"],
            expect: "message_contains = \"waits for you\"",
            rust: ["&event.message", "HookAnswer::none().system_message(\"The agent waits for you.\")"],
            ..base
        },
        _ => return None,
    })
}

fn xcode(kind: EventKind) -> Option<Sample> {
    let base = llxprt(EventKind::Prompt)?;
    Some(match kind {
        EventKind::Prompt => base,
        EventKind::BeforeTool => Sample { path: &["tool", "args", "path"], ..llxprt(EventKind::BeforeTool)? },
        EventKind::AfterTool => Sample {
            about: "replaces tool output with a password".to_owned(),
            path: &["tool", "output"],
            answer: r#"{"decision": "modify", "output": "[removed]"}"#,
            matcher: Some("^run_shell_command$"),
            failure: Passes,
            event_lines: "tool = \"run_shell_command\"\ntool_input = { command = \"env\" }\ntool_response = { llmContent = \"{text}\" }",
            expect: "outcome = { toolOutput = \"[removed]\" }",
            ..base
        },
        _ => return None,
    })
}

/// The fields that every event of a kind has, for a test case.
pub(super) fn needed_fields(kind: EventKind) -> String {
    let fields = kind.spec().fields.iter().filter(|field| field.required).map(|field| {
        let value = match field.kind {
            FieldKind::Text | FieldKind::Any => "\"sample\"",
            FieldKind::Flag => "false",
            FieldKind::Number => "1",
            FieldKind::List => "[]",
            FieldKind::Object => "{}",
        };
        format!("{} = {value}", field.name)
    });
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() { "payload = {}".to_owned() } else { format!("payload = {{ {} }}", fields.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookrail::DialectId;

    #[test]
    fn every_event_of_llxprt_has_a_rule() {
        for kind in EventKind::all() {
            let has_event = kind.spec().column(DialectId::Llxprt).is_some();
            assert_eq!(sample(TemplateDialect::Settings, kind).is_some(), has_event, "{kind}");
        }
    }

    #[test]
    fn answers_are_json_and_say_what_the_event_allows() {
        for dialect in [TemplateDialect::Settings, TemplateDialect::Plugin] {
            for sample in EventKind::all().filter_map(|kind| sample(dialect, kind)) {
                serde_json::from_str::<serde_json::Value>(sample.answer).unwrap();
                assert!(sample.texts[0].contains(sample.word) && !sample.texts[1].contains(sample.word));
            }
        }
    }
}
