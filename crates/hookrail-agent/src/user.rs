//! The user of the agent, if there is one. Output of a hook is never read as an answer of the user.

use std::future::Future;
use std::pin::Pin;

use hookrail::guard::Approval;
use hookrail::host::Component;
use hookrail::{HostError, Json};

/// The future of an answer.
pub type UserFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The user, who approves operations and answers questions.
pub trait User: Send + Sync {
    /// Returns whether there is a user who can answer.
    fn is_there(&self) -> bool;

    /// Asks whether an operation is allowed. The user sees its final input.
    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> UserFuture<'a, Approval>;

    /// Lets the user type a line; none if the user declines.
    fn line<'a>(&'a self, question: &'a str) -> UserFuture<'a, Option<String>>;

    /// Lets the user edit a text of several lines; none if the user declines.
    fn edit<'a>(&'a self, _title: &'a str, _text: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// Shows a component that draws itself and handles keys, until it is done or the user closes it.
    fn show<'a>(&'a self, _component: &'a dyn Component) -> UserFuture<'a, Result<(), HostError>> {
        Box::pin(std::future::ready(Err(HostError::new("there is no terminal to show components on"))))
    }

    /// Ends all questions, open and future ones, without an answer, because the agent ends.
    fn leave(&self) {}

    /// Puts a text into the next prompt, where the user can change and send it.
    fn prefill(&self, _text: &str) {}

    /// Returns the text of [`User::prefill`] that is not in a prompt yet.
    fn prefilled(&self) -> String {
        String::new()
    }

    /// Returns a text in the style of this name, such as `fg:accent` or `bold`; unchanged if there are no styles.
    fn styled(&self, _style: &str, text: &str) -> String {
        text.to_owned()
    }
}

/// A run without a user: a question is answered with a deny.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoUser;

impl User for NoUser {
    fn is_there(&self) -> bool {
        false
    }

    fn approve<'a>(&'a self, _: &'a str, _: &'a Json, _: Option<&'a str>) -> UserFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Unavailable))
    }

    fn line<'a>(&'a self, _: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
