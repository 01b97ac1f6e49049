//! Everything a module can ask of the machine or the host. There is no other way out of a runtime.
//!
//! An operation has a name and arguments as JSON, and ends in an answer as JSON text: `[0, value]` or `[1, error]`.
//! Whatever touches the machine is checked against the module's capabilities here and nowhere else.

mod answer;
mod args;
mod digest;
mod error;
mod exec;
mod fetch;
mod fs;
mod host;
mod permission;
mod session;
mod text;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::json;

use answer::Answer;
use args::Args;
use error::Cause;
pub(crate) use error::OpError;
pub(crate) use permission::{Last, require_read};

use crate::clock::Stop;
use crate::component::State;
use crate::shared::{Begun, Op, Shared, Shown};

/// What a component takes that is shown.
const COMPONENT: usize = 512;

/// Does something at once.
pub(crate) fn sync(shared: &Arc<Shared>, name: &str, args: &str) -> String {
    if shared.budget.stopped().is_some() {
        return encode(shared, Err(OpError::new("its time is up")));
    }
    let began = Instant::now();
    let answer = caught(name, || Args::read(args).and_then(|args| at_once(shared, name, &args)));
    // Waiting for the machine or the host is not the module's own work, up to a limit.
    if name == "exec.wait" || name.starts_with("fs.") || name.starts_with("host.") {
        shared.budget.forgive(began.elapsed());
    }
    encode(shared, answer)
}

/// What an operation takes that is begun, beside its arguments.
const OPERATION: usize = 2 << 10;

/// Begins something that takes time; gives its number.
pub(crate) fn start(shared: &Arc<Shared>, call: u32, name: &str, args: &str) -> u32 {
    let number = shared.next_number();
    // The arguments are kept until it has ended, some of them twice.
    let Some(held) = shared.hold(args.len().saturating_mul(2).saturating_add(OPERATION)) else { return number };
    let op = caught(name, || Args::read(args).and_then(|args| begin(shared, call, number, name, &args)));
    let op = op.unwrap_or_else(|error| {
        let answer = encode(shared, Err(error));
        Box::pin(std::future::ready(answer))
    });
    shared.begun.lock().push(Begun { number, op, held });
    number
}

/// A host whose function panics must not take the module with it, nor the thread.
fn caught<T>(name: &str, work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    let panicked = |_| Err(OpError::new(format!("the host panicked at `{name}`")));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// An answer as the prelude reads it. What the module is to be stopped for is told to its budget.
fn encode(shared: &Shared, answer: Result<Answer, OpError>) -> String {
    let answer = answer.and_then(|answer| {
        // It would not fit into the module's heap.
        if answer.len() > shared.account.most() { Err(OpError::over_memory()) } else { Ok(answer) }
    });
    match answer {
        Ok(answer) => {
            let mut text = answer.into_text();
            text.insert_str(0, "[0,");
            text.push(']');
            text
        }
        Err(error) => {
            match error.cause() {
                Cause::Ordinary => {}
                Cause::Machine => shared.exhausted.store(true, Ordering::Relaxed),
                Cause::Memory => shared.budget.stop(Stop::Memory),
            }
            json!([1, error.to_value()]).to_string()
        }
    }
}

/// An operation that ends in an answer.
fn op(shared: &Arc<Shared>, work: impl Future<Output = Result<Answer, OpError>> + Send + 'static) -> Op {
    let shared = Arc::downgrade(shared);
    Box::pin(async move {
        let answer = work.await;
        // Nobody reads the answer when the runtime is gone.
        shared.upgrade().map_or_else(String::new, |shared| encode(&shared, answer))
    })
}

fn at_once(shared: &Arc<Shared>, name: &str, args: &Args<'_>) -> Result<Answer, OpError> {
    if let Some(name) = name.strip_prefix("host.") {
        return host::at_once(shared, name, args);
    }
    if let Some(name) = name.strip_prefix("fs.") {
        return fs::at_once(shared, name, args);
    }
    let most = shared.account.most();
    let done = |()| Answer::nothing();
    match name {
        "cwd" => Answer::of(&shared.world.lock().cwd.to_string_lossy()),
        "message" => host::message(shared, &args.json(0)).map(done),
        "entry" => host::entry(shared, &args.json(0)).map(done),
        "late" => {
            let event = args.text(0)?;
            let message =
                format!("`pi.on(\"{event}\")` came after the factory had ended, so nobody calls this handler");
            shared.report(&event, &message);
            Ok(Answer::nothing())
        }
        "cancel" => {
            if let Some(cancel) = shared.cancels.lock().get(&args.number(0)) {
                cancel.cancel();
            }
            Ok(Answer::nothing())
        }
        "exec.wait" => exec::wait(shared, args),
        "component.made" => {
            let (state, _) = tokio::sync::watch::channel(State::Shown(0));
            let held = shared.hold(COMPONENT).ok_or_else(OpError::over_memory)?;
            shared.components.lock().insert(args.number(0), Shown { state, _held: held });
            Ok(Answer::nothing())
        }
        "component.changed" => {
            if let Some(shown) = shared.components.lock().get(&args.number(0)) {
                shown.state.send_modify(|state| {
                    if let State::Shown(count) = state {
                        *count += 1;
                    }
                });
            }
            Ok(Answer::nothing())
        }
        "component.done" => {
            if let Some(shown) = shared.components.lock().remove(&args.number(0)) {
                shown.state.send_replace(State::Done);
            }
            Ok(Answer::nothing())
        }
        "process.about" => Ok(text::about_process().into()),
        "process.env" => Ok(text::environment(&shared.world.lock()).into()),
        "text.width" => Ok(text::width(&args.text(0)?).into()),
        "text.letters" => text::letters(&args.text(0)?, most),
        "process.alive" => text::is_alive(args.number(0)).map(Answer::from),
        "text.encode" => Answer::bytes(args.text(0)?.as_bytes(), most),
        "text.decode" => text::decode(&args.text(0)?, args.flag(1), args.flag(2), most),
        "hash" => digest::hash(&args.text(0)?, &args.text(1)?),
        "uuid" => text::uuid().map(Answer::from),
        "random" => text::random(args.number(0)),
        _ => Err(OpError::new(format!("the host knows no `{name}`"))),
    }
}

fn begin(shared: &Arc<Shared>, call: u32, number: u32, name: &str, args: &Args<'_>) -> Result<Op, OpError> {
    if let Some(name) = name.strip_prefix("host.") {
        return host::begin(shared, call, number, name, args);
    }
    match name {
        "exec" => exec::begin(shared, number, args),
        "fetch" => fetch::begin(shared, number, args),
        _ => Err(OpError::new(format!("the host knows no `{name}`"))),
    }
}
