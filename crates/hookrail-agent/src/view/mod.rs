//! What is shown: one type for everything a person or a program is told, and the ways to tell it.
//!
//! A view knows how things look. It decides nothing.

mod headless;
pub(crate) mod output;
mod prompt_line;
pub(crate) mod screen;
mod terminal;
mod watch;

pub use headless::HeadlessView;
pub use terminal::TerminalView;
pub(crate) use watch::watch;

use hookrail::Json;
use serde::Serialize;

/// Who shows things.
pub trait View: Send + Sync {
    /// Shows one thing.
    fn show(&self, shown: &Shown<'_>);

    /// Why nothing more can be shown, if that is so. Then no tool runs and no model is asked: what came of it would reach
    /// nobody.
    fn failure(&self) -> Option<String> {
        None
    }

    /// How wide drawings of modules are to be; none where texts are better than drawings.
    fn columns(&self) -> Option<usize> {
        None
    }
}

/// One thing that is shown. In JSON it has its name as `type`; `docs/agent.md` lists them all.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Shown<'a> {
    /// A session began or was taken up.
    Session {
        /// Its identity.
        id: &'a str,
        /// Its file.
        file: &'a str,
        /// Why it begins: `startup`, `resume`, `clear`, `compress`, or a move: `new`, `fork`, `branch`, `tree`.
        source: &'a str,
    },
    /// A piece of an answer, while it comes.
    Text {
        /// The piece.
        text: &'a str,
    },
    /// An answer is complete. Its text was shown in pieces already, or is hidden.
    Answer {
        /// The text; none when a hook hides it.
        text: Option<&'a str>,
        /// Where it comes from: `model` or `hook`.
        from: &'a str,
    },
    /// The model was not called.
    ModelBlocked {
        /// Why.
        reason: &'a str,
        /// The hooks that said so.
        by: &'a [&'a str],
    },
    /// A tool is about to be called.
    ToolCall {
        /// The call's identity.
        id: &'a str,
        /// The tool.
        tool: &'a str,
        /// Its arguments as the model gave them.
        input: &'a Json,
    },
    /// A tool call is over.
    ToolResult {
        /// The call's identity.
        id: &'a str,
        /// The tool.
        tool: &'a str,
        /// How: `ran`, `failed`, `denied`.
        end: &'a str,
        /// The arguments it ran with.
        input: &'a Json,
        /// What the user sees of it; none when a hook hides it.
        display: Option<&'a Json>,
        /// What the model reads; none when a hook hides the result from the user.
        content: Option<&'a Json>,
        /// The hooks that denied it.
        by: &'a [&'a str],
    },
    /// The prompt goes no further.
    PromptDenied {
        /// Why.
        reason: &'a str,
        /// The hooks that said so.
        by: &'a [&'a str],
    },
    /// A hook has something to say.
    SystemMessage {
        /// What.
        text: &'a str,
    },
    /// Something is not as it should be: a failed or a skipped hook, a damaged file.
    Warning {
        /// The stable code, where there is one.
        code: Option<&'a str>,
        /// In words.
        text: &'a str,
    },
    /// Something worth knowing.
    Note {
        /// What.
        text: &'a str,
    },
    /// What hooks put into the status line.
    Status {
        /// The whole line.
        text: &'a str,
    },
    /// A message that a module put into the conversation, as the module drew it.
    Drawn {
        /// The type of the message.
        custom_type: &'a str,
        /// The lines, with colours.
        lines: &'a [String],
    },
    /// The agent stops.
    Stopped {
        /// Why.
        reason: &'a str,
    },
    /// A hook sends the agent back to work.
    SentBack {
        /// What it says.
        message: &'a str,
    },
    /// The conversation was compressed.
    Compacted {
        /// Why: `manual`, `threshold`, `overflow`, `idle`.
        reason: &'a str,
        /// The summary.
        summary: &'a str,
    },
    /// A hook takes long.
    HookRunning {
        /// Its name.
        hook: &'a str,
    },
    /// The hook that took long has ended.
    HookEnded {
        /// Its name.
        hook: &'a str,
    },
    /// What hooks did to an operation.
    Receipt {
        /// All of it.
        receipt: &'a Json,
    },
    /// A turn of the whole agent is over.
    TurnEnd {
        /// How: `answered`, `denied`, `stopped`, `cancelled`, `capped`, `failed`, `signed_out`, `output_lost`.
        end: &'a str,
        /// More about it.
        detail: Option<&'a str>,
    },
    /// A list of hooks, sessions or tasks, as a command asked for it.
    Listing {
        /// Of what.
        of: &'a str,
        /// One line each.
        lines: &'a [String],
    },
    /// The command cannot be followed.
    Error {
        /// Why.
        text: &'a str,
    },
}
