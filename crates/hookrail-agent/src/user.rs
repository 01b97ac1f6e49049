//! The person in front of the agent, if there is one. Nothing a hook prints is ever taken for their answer.

use std::future::Future;
use std::pin::Pin;

use hookrail::guard::Approval;
use hookrail::host::Component;
use hookrail::{HostError, Json};

/// An answer on its way.
pub type UserFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who is asked.
pub trait User: Send + Sync {
    /// Whether somebody is there.
    fn is_there(&self) -> bool;

    /// Asks whether an operation may go on, with the final input in front of them.
    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> UserFuture<'a, Approval>;

    /// Lets them type a line; none when they do not want to.
    fn line<'a>(&'a self, question: &'a str) -> UserFuture<'a, Option<String>>;

    /// Lets them edit a text of several lines; none when they do not want to.
    fn edit<'a>(&'a self, _title: &'a str, _text: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// Shows something that draws itself and takes keys, until it is done or they close it.
    fn show<'a>(&'a self, _component: &'a dyn Component) -> UserFuture<'a, Result<(), HostError>> {
        Box::pin(std::future::ready(Err(HostError::new("there is no terminal to show components on"))))
    }

    /// The agent ends: questions that are open, and those that follow, have no answer.
    fn leave(&self) {}

    /// Puts a text into the next prompt, to be changed and sent.
    fn prefill(&self, _text: &str) {}

    /// What was put there and is not in a prompt yet.
    fn prefilled(&self) -> String {
        String::new()
    }

    /// A text in a style that has this name, such as `fg:accent` or `bold`; as it is where there are no styles.
    fn styled(&self, _style: &str, text: &str) -> String {
        text.to_owned()
    }
}

/// Nobody is there, so a question is a deny.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoUser;

impl User for NoUser {
    fn is_there(&self) -> bool {
        false
    }

    fn approve<'a>(&'a self, _: &'a str, _: &'a Json, _: Option<&'a str>) -> UserFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::NobodyThere))
    }

    fn line<'a>(&'a self, _: &'a str) -> UserFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
