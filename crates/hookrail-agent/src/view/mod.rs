//! Views: one type for everything that is shown to the user or to a program, and the forms in which it is shown.
//!
//! A view only displays. It decides nothing.

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

/// The display of what happens in the agent.
pub trait View: Send + Sync {
    /// Shows one event of the agent.
    fn show(&self, shown: &ViewEvent<'_>);

    /// Returns the reason if nothing more can be shown. Then no tool runs and no model is called, because their results
    /// could not be read.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the width for drawings of modules; none if the view shows texts instead of drawings.
    fn columns(&self) -> Option<usize> {
        None
    }
}

/// One event that is shown. In JSON its name is the `type`; `docs/agent.md` lists all of them.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ViewEvent<'a> {
    /// A session was started or resumed.
    Session {
        /// Its identity.
        id: &'a str,
        /// Its file.
        file: &'a str,
        /// Why it begins: `startup`, `resume`, `clear`, `compress`, or a move: `new`, `fork`, `branch`, `tree`.
        source: &'a str,
    },
    /// A piece of an answer, while it is streamed.
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
    /// Hooks denied the prompt.
    PromptDenied {
        /// Why.
        reason: &'a str,
        /// The hooks that said so.
        by: &'a [&'a str],
    },
    /// A message of a hook for the user.
    SystemMessage {
        /// What.
        text: &'a str,
    },
    /// A problem: a failed or skipped hook, a damaged file.
    Warning {
        /// The stable code, where there is one.
        code: Option<&'a str>,
        /// In words.
        text: &'a str,
    },
    /// A note for the user.
    Note {
        /// What.
        text: &'a str,
    },
    /// The status line that hooks set.
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
    /// A hook is slow.
    HookRunning {
        /// Its name.
        hook: &'a str,
    },
    /// The slow hook has ended.
    HookEnded {
        /// Its name.
        hook: &'a str,
    },
    /// The receipt of an operation: what its hooks did.
    Receipt {
        /// All of it.
        receipt: &'a Json,
    },
    /// The work on a prompt has ended.
    TurnEnd {
        /// How: `answered`, `denied`, `stopped`, `cancelled`, `capped`, `failed`, `signed_out`, `output_lost`.
        end: &'a str,
        /// More about it.
        detail: Option<&'a str>,
    },
    /// A list of hooks, sessions or tasks that a command asked for.
    Listing {
        /// Of what.
        of: &'a str,
        /// One line each.
        lines: &'a [String],
    },
    /// A command failed.
    Error {
        /// Why.
        text: &'a str,
    },
}
