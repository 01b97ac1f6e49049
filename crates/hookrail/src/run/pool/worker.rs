//! Asks a worker: one line of JSON for each event, one line back.
//!
//! A worker has one question at a time. If it answers another question or none, it is ended, and the next event starts
//! another one. The lines are described in the guide for authors of hooks.

use std::borrow::Cow;
use std::future::poll_fn;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hookrail_spawn::{CancelToken, ChildExit, Exchange, ExchangeReply, SpawnError, StartEnd};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, sleep_until};

use super::{CommandPool, CommandPools, IdleProcess};
use crate::run::command::{ProcessResult, ProcessRun, failure, output, use_of_a_process};
use crate::run::end::{Output, ProcessEnd, RawEnd, SpawnFailure};
use crate::run::request::PlannedRun;

/// A worker is replaced after this many questions, so that a slow leak of memory is bounded.
const MOST_QUESTIONS: u32 = 1000;

/// How often, and after which pause, a start is repeated while the program is being written.
const BUSY_TRIES: u32 = 5;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Asks a worker of the hook, and starts one if there is none.
pub(in crate::run) async fn ask(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    let ProcessRun { world, cancel, .. } = context;
    let pools = &*context.pool.commands;
    let pool = pools.pool_for(world, request);
    // Waiting for a worker does not count against the hook's timeout.
    let Some(Ok(_place)) = unless_cancelled(pool.places.acquire(), cancel).await else {
        return ProcessEnd::new(RawEnd::Cancelled, Duration::ZERO).into();
    };
    let began = Instant::now();
    let process = match worker(pools, &pool, request, began, cancel).await {
        Ok(process) => process,
        Err(how) => return ProcessEnd::new(how, began.elapsed()).into(),
    };
    let asked = process.asked + 1;
    let question = WorkerQuestion { id: u64::from(asked), asked, began };
    let left = request.timeout.saturating_sub(began.elapsed());
    let command = use_of_a_process(world, request).timeout(left).stdin(line(question.id, &request.input));
    match process.parked.request_line(&command, cancel).await {
        Ok(exchange) => conclude(pools, &pool, request, exchange, question),
        Err(error) => {
            let why = SpawnFailure::Other(format!("its pipes cannot be watched: {error}"));
            ProcessEnd::new(RawEnd::SpawnFailed(why), began.elapsed()).into()
        }
    }
}

/// A question that a worker was asked.
#[derive(Clone, Copy)]
struct WorkerQuestion {
    id: u64,
    /// How many questions the worker was asked, including this one.
    asked: u32,
    began: Instant,
}

/// A worker that is ready for a question.
async fn worker(
    pools: &CommandPools,
    pool: &CommandPool,
    request: &PlannedRun,
    began: Instant,
    cancel: &CancelToken,
) -> Result<IdleProcess, RawEnd> {
    while let Some(process) = pool.take_idle() {
        // A worker that has exited, or that wrote something before it was asked, cannot be used.
        if process.parked.is_quiet() {
            return Ok(process);
        }
        pools.discard(process);
    }
    let time_up = began + request.timeout;
    if let Some(start) = pool.not_before() {
        unless_cancelled(sleep_until(start.min(time_up)), cancel).await.ok_or(RawEnd::Cancelled)?;
        if start >= time_up {
            return Err(RawEnd::TimedOut(request.timeout));
        }
    }
    for _ in 0..BUSY_TRIES {
        match pools.start_process_until(pool, time_up, cancel).await {
            Err(SpawnError::Busy { .. }) => {}
            started => return end_of_start(started, request),
        }
        unless_cancelled(sleep(BUSY_PAUSE), cancel).await.ok_or(RawEnd::Cancelled)?;
    }
    end_of_start(pools.start_process_until(pool, time_up, cancel).await, request)
}

fn end_of_start(
    started: Result<ControlFlow<StartEnd, IdleProcess>, SpawnError>,
    request: &PlannedRun,
) -> Result<IdleProcess, RawEnd> {
    match started {
        Ok(ControlFlow::Continue(process)) => Ok(process),
        Ok(ControlFlow::Break(StartEnd::Cancelled)) => Err(RawEnd::Cancelled),
        Ok(ControlFlow::Break(StartEnd::NotInTime)) => Err(RawEnd::NotStarted(request.timeout)),
        Err(error) => Err(RawEnd::SpawnFailed(failure(&error, &request.cwd))),
    }
}

/// Turns an exchange into an end, and keeps a worker that answered correctly.
fn conclude(
    pools: &CommandPools,
    pool: &CommandPool,
    request: &PlannedRun,
    exchange: Exchange,
    WorkerQuestion { id, asked, began }: WorkerQuestion,
) -> ProcessResult {
    let stderr = output(exchange.stderr);
    let (mut parked, mut termination) = (exchange.parked, exchange.termination);
    let end = match exchange.reply {
        ExchangeReply::Line(line) => match WorkerAnswer::read(&line, id) {
            Ok(answer) => answer.end(stderr, began.elapsed()),
            Err(why) => {
                // Its next line could be the answer to this question or to the next one.
                termination = termination.or(parked.take().map(|parked| parked.retire(request.grace)));
                broken(why, stderr, began)
            }
        },
        ExchangeReply::Exited(ChildExit::Code(0)) => broken("it exited without an answer".to_owned(), stderr, began),
        ExchangeReply::Exited(ChildExit::Code(code)) => ended(RawEnd::Exited(code), stderr, began),
        ExchangeReply::Exited(ChildExit::Signal(signal)) => ended(RawEnd::Signalled(signal), stderr, began),
        ExchangeReply::Closed => broken("it closed its standard output".to_owned(), stderr, began),
        ExchangeReply::TooLong => ended(RawEnd::OutputLimit, stderr, began),
        ExchangeReply::TimedOut => ended(RawEnd::TimedOut(request.timeout), stderr, began),
        ExchangeReply::Cancelled => ended(RawEnd::Cancelled, stderr, began),
        ExchangeReply::Exited(ChildExit::Unknown) => ended(RawEnd::StatusUnknown, stderr, began),
    };
    match (&end.how, parked) {
        (_, Some(parked)) => {
            pool.note_success();
            let process = IdleProcess { parked, asked };
            if asked < MOST_QUESTIONS { pools.put_back(pool, process) } else { pools.discard(process) }
        }
        // Neither is a crash, so the next worker is started without a pause.
        (RawEnd::TimedOut(_) | RawEnd::Cancelled, None) => {}
        (_, None) => pool.note_crash(),
    }
    ProcessResult { end, terminations: termination.into_iter().collect() }
}

fn ended(how: RawEnd, stderr: Output, began: Instant) -> ProcessEnd {
    ProcessEnd { stderr, ..ProcessEnd::new(how, began.elapsed()) }
}

fn broken(why: String, stderr: Output, began: Instant) -> ProcessEnd {
    ended(RawEnd::BrokeProtocol(why), stderr, began)
}

/// The line for an event. Line breaks occur in JSON only between tokens, where a space means the same.
fn line(id: u64, input: &[u8]) -> Arc<[u8]> {
    let mut line = Vec::with_capacity(input.len() + 40);
    // Writing to a vector cannot fail.
    let _ = write!(line, "{{\"id\":{id},\"input\":");
    line.extend(input.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    line.extend_from_slice(b"}\n");
    line.into()
}

/// The answer of a worker: the output of a process, and the exit status that it would have had.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkerAnswer<'l> {
    id: u64,
    #[serde(borrow, default)]
    output: Option<&'l RawValue>,
    #[serde(rename = "exitCode", default)]
    exit_code: i32,
    #[serde(borrow, default)]
    stderr: Option<Cow<'l, str>>,
}

impl<'l> WorkerAnswer<'l> {
    /// Parses a line, which must be the answer to the question with that number.
    fn read(line: &'l [u8], id: u64) -> Result<Self, String> {
        let answer: Self = serde_json::from_slice(line).map_err(|error| format!("its line is no answer: {error}"))?;
        if answer.id == id { Ok(answer) } else { Err(format!("it answered {} when {id} was asked", answer.id)) }
    }

    fn end(self, written: Output, duration: Duration) -> ProcessEnd {
        let stdout = match self.output.map(RawValue::get) {
            None | Some("null") => Output::default(),
            // A string is the text itself and not JSON, as on standard output.
            Some(text) => match serde_json::from_str::<String>(text) {
                Ok(plain) => Output::whole(plain),
                Err(_) => Output::whole(text),
            },
        };
        let stderr = self.stderr.map_or(written, |stderr| Output::whole(stderr.into_owned()));
        ProcessEnd { stdout, stderr, ..ProcessEnd::new(RawEnd::Exited(self.exit_code), duration) }
    }
}

/// Waits for something until the run is cancelled.
async fn unless_cancelled<F: Future>(work: F, cancel: &CancelToken) -> Option<F::Output> {
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => cancelled.as_mut().poll(context).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::{Output, WorkerAnswer, line};
    use crate::run::RawEnd;
    use std::time::Duration;

    #[test]
    fn a_question_is_one_line_whatever_is_in_it() {
        let question = line(7, b"{\"a\":\n \"b\\nc\"}");
        assert_eq!(&*question, b"{\"id\":7,\"input\":{\"a\":  \"b\\nc\"}}\n");
    }

    #[test]
    fn answers_stand_for_what_a_process_would_have_done() {
        let end = |line: &str| {
            WorkerAnswer::read(line.as_bytes(), 7).map(|a| a.end(Output::whole("written"), Duration::ZERO))
        };
        let said = |line: &str| end(line).map(|end| (end.how, end.stdout.lossy(), end.stderr.lossy()));
        let expected =
            |code, stdout: &str, stderr: &str| Ok((RawEnd::Exited(code), stdout.to_owned(), stderr.to_owned()));
        assert_eq!(said(r#"{"id":7}"#), expected(0, "", "written"));
        assert_eq!(said(r#"{"id":7,"output":null,"stderr":""}"#), expected(0, "", ""));
        assert_eq!(said(r#"{"id":7,"output":{"a":1.0}}"#), expected(0, r#"{"a":1.0}"#, "written"));
        assert_eq!(said(r#"{"id":7,"output":"a\nb"}"#), expected(0, "a\nb", "written"));
        assert_eq!(said(r#"{"id":7,"exitCode":2,"stderr":"no"}"#), expected(2, "", "no"));
        for wrong in
            ["", "{}", "[]", r#"{"id":8}"#, r#"{"id":"7"}"#, r#"{"id":7} {"id":7}"#, r#"{"id":7,"exit":2}"#, "\u{0}"]
        {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}
