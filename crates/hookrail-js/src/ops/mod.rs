//! Everything a module can ask of the machine or the host. There is no other way out of a runtime.
//!
//! An operation has a name and arguments as JSON, and ends in an answer as JSON text: `[0, value]` or `[1, error]`.
//! Whatever touches the machine is checked against the module's capabilities here and nowhere else.

mod digest;
mod error;
mod exec;
mod fetch;
mod fs;
mod host;
mod session;
mod text;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Value, json};

pub(crate) use error::OpError;

use crate::component::State;
use crate::shared::{Op, Shared};

/// The arguments of an operation.
pub(crate) struct Args(Vec<Value>);

impl Args {
    fn read(text: &str) -> Result<Self, OpError> {
        serde_json::from_str(text).map(Self).map_err(|error| OpError::type_error(error.to_string()))
    }

    fn value(&self, at: usize) -> &Value {
        self.0.get(at).unwrap_or(&Value::Null)
    }

    fn text(&self, at: usize) -> Result<&str, OpError> {
        self.value(at).as_str().ok_or_else(|| OpError::type_error(format!("argument {} must be a string", at + 1)))
    }

    fn optional_text(&self, at: usize) -> Option<&str> {
        self.value(at).as_str()
    }

    fn flag(&self, at: usize) -> bool {
        self.value(at).as_bool().unwrap_or(false)
    }

    fn number(&self, at: usize) -> u32 {
        self.value(at).as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
    }
}

/// Does something at once.
pub(crate) fn sync(shared: &Arc<Shared>, name: &str, args: &str) -> String {
    if shared.budget.stopped().is_some() {
        return encode(Err(OpError::new("its time is up")));
    }
    let began = Instant::now();
    let answer = caught(name, || Args::read(args).and_then(|args| at_once(shared, name, &args)));
    if answer.as_ref().is_err_and(|error| error.exhausted) {
        shared.exhausted.store(true, Ordering::Relaxed);
    }
    // What the host does is not the module's own work.
    shared.budget.forgive(began.elapsed());
    encode(answer)
}

/// Begins something that takes time; gives its number.
pub(crate) fn start(shared: &Arc<Shared>, call: u32, name: &str, args: &str) -> u32 {
    let number = shared.next_number();
    let op = caught(name, || Args::read(args).and_then(|args| begin(shared, call, number, name, &args)));
    let op = op.unwrap_or_else(|error| {
        let answer = encode(Err(error));
        Box::pin(std::future::ready(answer))
    });
    shared.begun.lock().push((number, op));
    number
}

/// A host whose function panics must not take the module with it, nor the thread.
fn caught<T>(name: &str, work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    let panicked = |_| Err(OpError::new(format!("the host panicked at `{name}`")));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

fn encode(answer: Result<Value, OpError>) -> String {
    match answer {
        Ok(value) => json!([0, value]).to_string(),
        Err(error) => json!([1, error.to_value()]).to_string(),
    }
}

/// An operation that ends in an answer.
fn op(work: impl Future<Output = Result<Value, OpError>> + Send + 'static) -> Op {
    Box::pin(async move { encode(work.await) })
}

fn at_once(shared: &Arc<Shared>, name: &str, args: &Args) -> Result<Value, OpError> {
    if let Some(name) = name.strip_prefix("host.") {
        return host::at_once(shared, name, args);
    }
    if let Some(name) = name.strip_prefix("fs.") {
        return fs::at_once(shared, name, args);
    }
    match name {
        "cwd" => Ok(json!(shared.world.lock().cwd.to_string_lossy())),
        "message" => host::message(shared, args.value(0)).map(|()| Value::Null),
        "entry" => host::entry(shared, args.value(0)).map(|()| Value::Null),
        "late" => {
            let event = args.text(0)?;
            let message =
                format!("`pi.on(\"{event}\")` came after the factory had ended, so nobody calls this handler");
            shared.report(event, &message);
            Ok(Value::Null)
        }
        "cancel" => {
            if let Some(cancel) = shared.cancels.lock().get(&args.number(0)) {
                cancel.cancel();
            }
            Ok(Value::Null)
        }
        "exec.wait" => exec::wait(shared, args),
        "component.made" => {
            let (state, _) = tokio::sync::watch::channel(State::Shown(0));
            shared.components.lock().insert(args.number(0), state);
            Ok(Value::Null)
        }
        "component.changed" => {
            if let Some(state) = shared.components.lock().get(&args.number(0)) {
                state.send_modify(|state| {
                    if let State::Shown(count) = state {
                        *count += 1;
                    }
                });
            }
            Ok(Value::Null)
        }
        "component.done" => {
            if let Some(state) = shared.components.lock().remove(&args.number(0)) {
                state.send_replace(State::Done);
            }
            Ok(Value::Null)
        }
        "process.about" => Ok(text::about_process()),
        "process.env" => Ok(text::environment(&shared.world.lock().environment)),
        "text.width" => Ok(text::width(args.text(0)?)),
        "text.letters" => Ok(text::letters(args.text(0)?)),
        "process.alive" => text::is_alive(args.number(0)),
        "text.encode" => Ok(text::encode(args.text(0)?)),
        "text.decode" => text::decode(args.text(0)?, args.flag(1), args.flag(2)),
        "hash" => digest::hash(args.text(0)?, args.text(1)?),
        "uuid" => text::uuid(),
        "random" => text::random(args.number(0)),
        _ => Err(OpError::new(format!("the host knows no `{name}`"))),
    }
}

fn begin(shared: &Arc<Shared>, call: u32, number: u32, name: &str, args: &Args) -> Result<Op, OpError> {
    if let Some(name) = name.strip_prefix("host.") {
        return host::begin(shared, call, number, name, args);
    }
    match name {
        "exec" => exec::begin(shared, number, args),
        "fetch" => fetch::begin(shared, number, args),
        _ => Err(OpError::new(format!("the host knows no `{name}`"))),
    }
}

/// What a module must be allowed to do for an operation.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    Read,
    Write,
    Run,
    Network,
}

/// Refuses what the module is not allowed to do.
pub(crate) fn require(shared: &Shared, need: Need, what: &str) -> Result<(), OpError> {
    let allowed = shared.world.lock().capabilities;
    let (is_allowed, name) = match need {
        Need::Read => (allowed.read, "read"),
        Need::Write => (allowed.write, "write"),
        Need::Run => (allowed.run, "run"),
        Need::Network => (allowed.network, "network"),
    };
    if is_allowed {
        return Ok(());
    }
    shared.refused.store(true, Ordering::Relaxed);
    let message = format!("{what} is refused: the module has no `{name}` capability here");
    Err(OpError::new(message).code("EACCES"))
}
