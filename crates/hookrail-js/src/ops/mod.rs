//! Every operation that a module can ask of the machine or the host. A module can reach them in no other way.
//!
//! An operation is a value: [`Op`] is answered at once, [`Task`] takes time. The prelude writes it as JSON text with its
//! group, its name and its fields, such as `{"fs": {"read": {"path": "a.txt"}}}`. The answer is JSON text too: `[0, value]`
//! or `[1, error]`. Each group is declared in the file that implements it. An operation that touches the machine is
//! checked against the module's capabilities here and nowhere else.
//!
//! A member that can be large stays text until it is needed: a list of many small values takes many times the memory of
//! its text when it is parsed.

mod component;
mod digest;
mod exec;
mod fetch;
mod fs;
mod host;
mod permission;
mod session;
mod text;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use hookrail::module::without_lone_surrogates;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

pub(crate) use permission::{FinalLink, require_read};

use crate::limits::StopReason;
use crate::op_answer::{OpAnswer, PendingOp};
use crate::op_error::{Cause, OpError};
use crate::shared::{Shared, StartedTask};

/// An operation that is answered at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Op {
    Fs(fs::FsOp),
    Host(host::HostOp),
    Session(session::SessionOp),
    Process(exec::ProcessOp),
    Component(component::ComponentOp),
    Text(text::TextOp),
}

/// An operation that takes time.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Task {
    Process(ProcessTask),
    Host(host::HostTask),
}

/// A process to start: one that the module names, or the `curl` of a network request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum ProcessTask {
    Exec(exec::ExecRequest),
    Fetch(fetch::FetchRequest),
}

impl Op {
    fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        let began = Instant::now();
        let (answer, is_module_work) = match self {
            Self::Fs(op) => (op.run(shared), false),
            Self::Host(op) => (op.run(shared), false),
            Self::Session(op) => (op.run(shared), false),
            Self::Process(op) => (op.run(shared), false),
            Self::Component(op) => (op.run(shared), true),
            Self::Text(op) => (op.run(shared), true),
        };
        // Time that the module spends waiting for the machine or the host is not counted as its work. It has its own limit.
        if !is_module_work {
            shared.state().budget.exclude_host_time(began.elapsed());
        }
        answer
    }
}

impl Task {
    /// Starts the task for a call. The prelude identifies it by this number, for example to cancel it.
    fn begin(self, shared: &Shared, call: u32, number: u32) -> Result<PendingOp, OpError> {
        match self {
            Self::Process(ProcessTask::Exec(exec)) => exec.begin(shared, number),
            Self::Process(ProcessTask::Fetch(request)) => request.begin(shared, number),
            Self::Host(task) => task.begin(shared, call, number),
        }
    }
}

/// Runs an operation that is answered at once, and returns its encoded answer.
pub(crate) fn run_op(shared: &Shared, op: &str) -> String {
    if shared.stopped().is_some() {
        return encode(shared, Err(OpError::new("its time is up")));
    }
    let op = &*without_lone_surrogates(op);
    encode(shared, catch_panic(op, || parse::<Op>(op)?.run(shared)))
}

/// The memory that is counted for a started task, in addition to its fields.
const TASK_MEMORY: usize = 2 << 10;

/// The number of a task that was not started. The prelude throws when it receives it.
const NOT_STARTED: u32 = 0;

/// Starts an operation that takes time. Returns its number, or [`NOT_STARTED`] if the module has to stop. An operation that
/// fails to start has a number too: its error is delivered like any other answer.
pub(crate) fn start_task(shared: &Shared, call: u32, task: &str) -> u32 {
    if shared.stopped().is_some() {
        return NOT_STARTED;
    }
    let number = shared.next_number();
    // The fields are kept until the operation has ended, some of them twice.
    let Some(held) = shared.hold_memory(task.len().saturating_mul(2).saturating_add(TASK_MEMORY)) else {
        return NOT_STARTED;
    };
    let task = &*without_lone_surrogates(task);
    let op = catch_panic(task, || parse::<Task>(task)?.begin(shared, call, number));
    let op = op.unwrap_or_else(|error| Box::pin(std::future::ready(Err(error))));
    shared.state().started_tasks.push(StartedTask { number, op, held });
    number
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, OpError> {
    serde_json::from_str(text).map_err(|error| OpError::type_error(error.to_string()))
}

/// The longest text in bytes that is parsed into values.
const DECODED_LIMIT: usize = 2 << 20;

/// Parses a field that stayed text. `null` gives the default value. `what` names the field in messages.
fn decode<T: DeserializeOwned + Default>(text: &str, what: &str) -> Result<T, OpError> {
    if text.len() > DECODED_LIMIT {
        return Err(OpError::type_error(format!("{what} is longer than {} MiB", DECODED_LIMIT >> 20)));
    }
    let read: Result<Option<T>, _> = serde_json::from_str(text);
    read.map(Option::unwrap_or_default)
        .map_err(|error| OpError::type_error(format!("{what} is not what it must be: {error}")))
}

/// Runs the work of an operation, and makes an error of a panic, which must end neither the module nor the thread.
fn catch_panic<T>(op: &str, work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        // The text begins with the group and the name, each in quotes.
        let mut words = op.split('"').skip(1).step_by(2);
        let (group, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Err(OpError::new(format!("the host panicked at `{group}.{name}`")))
    })
}

/// Encodes an answer as the prelude reads it. Also records what an error means for the module: that the machine was short of
/// a resource, or that the module has to stop.
pub(crate) fn encode(shared: &Shared, answer: Result<OpAnswer, OpError>) -> String {
    // A longer answer would not fit into the module's heap.
    let is_too_long = |answer: &OpAnswer| answer.text().len() > shared.account.most;
    match answer.and_then(|answer| if is_too_long(&answer) { Err(OpError::over_memory()) } else { Ok(answer) }) {
        Ok(answer) => format!("[0,{}]", answer.text()),
        Err(error) => {
            match error.cause {
                Cause::Ordinary => {}
                Cause::Machine => shared.state().exhausted = true,
                Cause::Memory => shared.stop(StopReason::Memory),
            }
            json!([1, error]).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::prelude_sources;

    /// The group and the name that follow a call in the source of the prelude.
    fn named(rest: &str) -> Option<(&str, &str)> {
        let rest = rest.get(rest.find('"')? + 1..)?;
        let (group, rest) = rest.split_once("\", \"")?;
        let (name, _) = rest.split_once('"')?;
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        (is_word(group) && is_word(name)).then_some((group, name))
    }

    fn is_known<'a, T: Deserialize<'a>>(text: &'a str) -> bool {
        !serde_json::from_str::<T>(text).err().is_some_and(|error| error.to_string().contains("unknown variant"))
    }

    #[test]
    fn every_operation_of_the_prelude_is_one_of_the_host() {
        let mut seen = 0;
        for source in prelude_sources() {
            for (call, is_task) in [("sync(\"", false), ("begin(", true)] {
                for (at, _) in source.match_indices(call) {
                    let line = source[at..].lines().next().unwrap_or_default();
                    let Some((group, name)) = named(line) else { continue };
                    let text: &'static str = Box::leak(format!("{{\"{group}\":{{\"{name}\":{{}}}}}}").into_boxed_str());
                    let known = if is_task { is_known::<Task>(text) } else { is_known::<Op>(text) };
                    assert!(known, "{line}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn fields_are_named_and_typed() {
        let parsed = |text: &'static str| parse::<Op>(text).map(drop).map_err(|error| error.message().to_owned());
        assert_eq!(parsed(r#"{"fs":{"read":{"path":"/x\u0000"}}}"#), Ok(()));
        assert!(parsed(r#"{"fs":{"read":{}}}"#).unwrap_err().contains("missing field `path`"));
        assert!(parsed(r#"{"fs":{"read":{"path":7}}}"#).unwrap_err().contains("expected a string"));
        assert!(parsed(r#"{"fs":{"read":{"path":"/x","other":1}}}"#).unwrap_err().contains("unknown field `other`"));
        assert!(parsed(r#"{"fs":{"format":{}}}"#).unwrap_err().contains("unknown variant `format`"));
        assert!(parsed(r#"["fs"]"#).is_err());
        assert_eq!(decode::<Vec<String>>("null", "it").unwrap(), Vec::<String>::new());
        assert!(decode::<Vec<String>>("[1]", "it").is_err());
    }
}
