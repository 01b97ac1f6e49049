//! Exceptions of the user: what a rule of the user or of a project does not apply to, for a time.

use std::time::SystemTime;

use super::facts::CallFacts;
use super::judge::{Verdict, holds};
use super::read::RuleException;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::Location;
use crate::event::timestamp;

/// An exception and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct LoadedException {
    pub(crate) exception: RuleException,
    pub(crate) location: Location,
}

impl LoadedException {
    /// Whether its last day is over.
    fn is_over(&self) -> bool {
        let now = timestamp(SystemTime::now());
        let today = now.get(..10).unwrap_or_default();
        self.exception.until.as_deref().is_some_and(|until| until < today)
    }

    /// What is reported about one that is over.
    pub(crate) fn expiry(&self) -> Option<Diagnostic> {
        let until = self.exception.until.as_deref().filter(|_| self.is_over())?;
        let message = format!("the exception from rule `{}` ended on {until}", self.exception.rule);
        let finding = Diagnostic::new(Code::ExceptionExpired, message).at(self.location.clone());
        Some(finding.hint("remove it, or give it a later day"))
    }

    /// Whether it lifts a rule for a call: only what is known of the call counts.
    pub(crate) fn lifts(&self, rule: &str, facts: &CallFacts<'_>) -> bool {
        self.exception.rule == rule && !self.is_over() && matches!(holds(&self.exception.when, facts), Verdict::Yes(_))
    }

    /// What is reported when it is used.
    pub(crate) fn use_finding(&self) -> Diagnostic {
        let message = format!("rule `{}` was lifted by an exception: {}", self.exception.rule, self.exception.reason);
        Diagnostic::new(Code::ExceptionUsed, message).at(self.location.clone())
    }

    /// What identifies it in the memory of a session, if it holds only once.
    pub(crate) fn once_mark(&self) -> Option<String> {
        let RuleException { rule, reason, .. } = &self.exception;
        self.exception.is_once.then(|| format!("{rule}\n{reason}"))
    }
}
