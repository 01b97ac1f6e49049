//! What hooks can do to an operation: decide about it, stop the agent, rewrite, add.

use crate::json::Json;
use crate::text::names::named;

named! {
    /// What hooks decided about an operation. The order is the order of strength.
    ///
    /// ```
    /// use hookrail::Decision;
    ///
    /// // The strictest of several decisions is the greatest.
    /// assert_eq!([Decision::Allow, Decision::Deny, Decision::Ask].into_iter().max(), Some(Decision::Deny));
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Decision {
        /// The operation may happen. This never lifts a deny or a question of the host's own.
        Allow = "allow",
        /// The user has to approve the final input first.
        Ask = "ask",
        /// The operation must not happen.
        Deny = "deny",
    }
}

/// A demand that the agent stop.
///
/// ```
/// use hookrail::Effects;
///
/// let effects = Effects::none().and_stop("the budget is used up");
/// assert_eq!(effects.stop.unwrap().reason, "the budget is used up");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The reason, for the user.
    pub reason: String,
}

/// What the host has to do. A dialect's part of an event gives one of these, and so does the whole event.
///
/// ```
/// use hookrail::{Decision, Effects};
///
/// let effects = Effects::deny("no secrets in files").with_context("use the keyring");
/// assert_eq!(effects.decision, Some(Decision::Deny));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The decision; none means that no hook had an opinion.
    pub decision: Option<Decision>,
    /// The reason of the decision.
    pub reason: Option<String>,
    /// Whether the agent must stop.
    pub stop: Option<Stop>,
    /// A message for the conversation and the user.
    pub system_message: Option<String>,
    /// Whether the operation's output is hidden from the user.
    pub suppress_output: bool,
    /// Whether the model's context must be cleared.
    pub clear_context: bool,
    /// Text to add for the model.
    pub additional_context: Option<String>,
    /// The whole new input of the tool.
    pub tool_input: Option<Json>,
    /// The replacement for the tool's result.
    pub tool_output: Option<Json>,
    /// The whole new prompt.
    pub prompt: Option<String>,
    /// Messages to add to the conversation.
    pub messages: Vec<Json>,
    /// Entries to add to the session.
    pub entries: Vec<Json>,
    /// The whole new request to the model.
    pub llm_request: Option<Json>,
    /// The response to use in place of the model's.
    pub llm_response: Option<Json>,
    /// Which tools the model may call.
    pub tool_config: Option<Json>,
    /// The combined result of events that have one of their own shape.
    pub result: Option<Json>,
}

impl Effects {
    /// Effects of a hook without an opinion.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Effects that allow the operation.
    #[must_use]
    pub fn allow() -> Self {
        Self { decision: Some(Decision::Allow), ..Self::default() }
    }

    /// Effects that require the approval of the user.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask), reason: Some(reason.into()), ..Self::default() }
    }

    /// Effects that deny the operation.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// The effects with a demand to stop the agent.
    #[must_use]
    pub fn and_stop(mut self, reason: impl Into<String>) -> Self {
        self.stop = Some(Stop { reason: reason.into() });
        self
    }

    /// The effects with text for the model.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.additional_context = Some(text.into());
        self
    }

    /// The effects with a whole new tool input.
    #[must_use]
    pub fn with_tool_input(mut self, input: Json) -> Self {
        self.tool_input = Some(input);
        self
    }

    /// Whether something is replaced: the tool's input or output, the prompt, the request, the response or the choice of
    /// tools.
    #[must_use]
    pub fn is_rewrite(&self) -> bool {
        let values = [&self.tool_input, &self.tool_output, &self.llm_request, &self.llm_response, &self.tool_config];
        self.prompt.is_some() || values.into_iter().any(Option::is_some)
    }

    /// Adds the effects of the dialect that came next. Decisions combine by strength, texts are joined, and a later
    /// rewrite replaces an earlier one, because the later dialect was asked about the earlier rewrite.
    pub(crate) fn absorb(&mut self, next: Effects) {
        use std::cmp::Ordering;
        // Destructured, so that a new field does not compile before it says how it combines.
        let Effects {
            decision,
            reason,
            stop,
            system_message,
            suppress_output,
            clear_context,
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
        } = next;
        match decision.cmp(&self.decision) {
            Ordering::Greater => {
                self.decision = decision;
                self.reason = reason;
            }
            Ordering::Equal => join(&mut self.reason, reason, "\n"),
            Ordering::Less => {}
        }
        if self.stop.is_none() {
            self.stop = stop;
        }
        join(&mut self.system_message, system_message, "\n");
        join(&mut self.additional_context, additional_context, "\n");
        self.suppress_output |= suppress_output;
        self.clear_context |= clear_context;
        self.messages.extend(messages);
        self.entries.extend(entries);
        replace(&mut self.tool_input, tool_input);
        replace(&mut self.tool_output, tool_output);
        replace(&mut self.prompt, prompt);
        replace(&mut self.llm_request, llm_request);
        replace(&mut self.llm_response, llm_response);
        replace(&mut self.tool_config, tool_config);
        replace(&mut self.result, result);
    }
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

/// Adds text to text, skipping what is empty.
pub(crate) fn join(into: &mut Option<String>, next: Option<String>, separator: &str) {
    let Some(next) = next.filter(|text| !text.is_empty()) else { return };
    match into {
        Some(text) => {
            text.push_str(separator);
            text.push_str(&next);
        }
        None => *into = Some(next),
    }
}
