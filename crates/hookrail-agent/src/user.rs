//! The person in front of the agent, if there is one. Nothing a hook prints is ever taken for their answer.

use std::future::Future;
use std::pin::Pin;

use hookrail::Json;
use hookrail::guard::Approval;

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
