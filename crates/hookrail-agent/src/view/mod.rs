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
pub(crate) use watch::HookWatch;

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

    /// Returns the width in columns at which modules draw their messages, or `None` if the view shows a message as text.
    fn columns(&self) -> Option<usize> {
        None
    }
}

/// One event that is shown. In JSON its name is the `type`; `crates/hookrail-agent/README.md` lists all of them.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ViewEvent<'a> {
    /// A session was started or resumed.
    Session {
        /// The ID of the session.
        id: &'a str,
        /// The path of its file; empty if it has none.
        file: &'a str,
        /// The reason: `startup`, `resume`, `clear` or `compress`; or the kind of move to another session or
        /// branch: `new`, `fork`, `branch` or `tree`.
        source: &'a str,
    },
    /// A piece of an answer, while it is streamed.
    Text {
        /// The piece.
        text: &'a str,
    },
    /// An answer is complete. If it was streamed, `Text` events have already shown its text.
    Answer {
        /// The text; none if a hook hides it.
        text: Option<&'a str>,
        /// The origin: `model` or `hook`.
        from: &'a str,
    },
    /// The model was not called.
    ModelBlocked {
        /// The reason.
        reason: &'a str,
        /// The hooks that blocked the call.
        by: &'a [&'a str],
    },
    /// A tool is about to be called.
    ToolCall {
        /// The ID of the call.
        id: &'a str,
        /// The tool.
        tool: &'a str,
        /// The arguments as the model gave them.
        input: &'a Json,
    },
    /// A tool call is over.
    ToolResult {
        /// The ID of the call.
        id: &'a str,
        /// The tool.
        tool: &'a str,
        /// How the call ended: `ran`, `failed`, `denied`.
        end: &'a str,
        /// The arguments that the tool ran with.
        input: &'a Json,
        /// The result for the user; none if a hook hides it.
        display: Option<&'a Json>,
        /// The result for the model; none if a hook hides the result from the user.
        content: Option<&'a Json>,
        /// The hooks that denied the call.
        by: &'a [&'a str],
        /// The hooks that changed its arguments.
        #[serde(skip_serializing_if = "<[&str]>::is_empty")]
        rewritten_by: &'a [&'a str],
    },
    /// Hooks denied the prompt.
    PromptDenied {
        /// The reason.
        reason: &'a str,
        /// The hooks that denied the prompt.
        by: &'a [&'a str],
    },
    /// A message of a hook for the user.
    SystemMessage {
        /// The text of the message.
        text: &'a str,
    },
    /// A problem: a failed or skipped hook, a damaged file.
    Warning {
        /// The stable code, if there is one.
        code: Option<&'a str>,
        /// The text of the warning.
        text: &'a str,
    },
    /// A note for the user.
    Note {
        /// The text of the note.
        text: &'a str,
    },
    /// The status line that hooks set.
    Status {
        /// The whole line.
        text: &'a str,
    },
    /// A message that a module added to the conversation, as the module drew it.
    Drawn {
        /// The type of the message.
        custom_type: &'a str,
        /// The lines, with colours.
        lines: &'a [String],
    },
    /// The agent stops.
    Stopped {
        /// The reason.
        reason: &'a str,
    },
    /// A hook sends the agent back to work.
    SentBack {
        /// The instruction of the hook.
        message: &'a str,
    },
    /// The conversation was compacted.
    Compacted {
        /// The reason: `manual`, `threshold`, `overflow`, `idle`.
        reason: &'a str,
        /// The summary; none if a hook hides it.
        summary: Option<&'a str>,
    },
    /// A hook has been running for so long that it is shown.
    HookRunning {
        /// The name of the hook.
        hook: &'a str,
        /// What its author wants shown while it runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_message: Option<&'a str>,
    },
    /// A hook that was shown as `HookRunning` has ended.
    HookEnded {
        /// The name of the hook.
        hook: &'a str,
    },
    /// The receipt of an operation: what its hooks did.
    Receipt {
        /// The whole receipt.
        receipt: &'a Json,
    },
    /// The work on a prompt has ended.
    TurnEnd {
        /// How the work ended: `answered`, `denied`, `stopped`, `cancelled`, `capped`, `failed`, `signed_out`, `output_lost`.
        end: &'a str,
        /// The reason, for ends that have one.
        detail: Option<&'a str>,
    },
    /// A list of hooks, sessions or tasks that a command asked for.
    Listing {
        /// What is listed.
        of: &'a str,
        /// One line for each item.
        lines: &'a [String],
    },
    /// A command failed.
    Error {
        /// The reason.
        text: &'a str,
    },
}
