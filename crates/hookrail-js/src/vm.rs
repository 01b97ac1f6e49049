//! One runtime of one module.
//!
//! All of the module's code is entered through [`Vm::turn`], which gives it a budget, runs everything that became
//! ready, and takes the budget away again. There is no other poller.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::function::{Func, IntoArgs};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Object, Runtime, Value};

use crate::clock::StopReason;
use crate::ops;
use crate::rules;
use crate::shared::{FinishedCall, Rejection, Shared, lent};
use crate::source::{FileLoader, FileResolver, script};

/// A runtime with the prelude in it.
pub(crate) struct Vm {
    context: Context,
    runtime: Runtime,
    memory: usize,
}

/// The functions of the prelude that the host calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PreludeFunction {
    Open,
    Settle,
    Fire,
    Changed,
    Dispatch,
    Command,
    Render,
    Draw,
    Key,
    Abandon,
}

impl PreludeFunction {
    /// Their names in the prelude, in the order above.
    const NAMES: [&'static str; 10] =
        ["open", "settle", "fire", "changed", "dispatch", "command", "render", "draw", "key", "abandon"];
}

/// Room to say that there is no more room.
const SPARE_MEMORY: usize = 1 << 20;

impl Vm {
    /// A runtime in which nothing of the module has run yet. What is shared must be lent to this thread.
    pub(crate) fn new(shared: &Shared) -> Result<Self, String> {
        let limits = &shared.config.limits;
        let runtime = Runtime::new().map_err(|error| {
            // Nothing is limited before there is a runtime, so the machine itself had no memory for it.
            shared.state().exhausted = true;
            error.to_string()
        })?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.own_stack());
        runtime.set_interrupt_handler(Some(Box::new(|| lent().is_none_or(|shared| shared.is_over()))));
        runtime.set_loader(FileResolver, FileLoader);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, handled| {
            if let Some(shared) = lent() {
                track_rejection(&shared, &ctx, &promise, &reason, handled);
            }
        })));
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        shared.state().budget.begin();
        let longest = limits.result;
        let ready = context.with(|ctx| run_prelude(&ctx, longest).catch(&ctx).map_err(|error| describe_error(&error)));
        shared.state().budget.end();
        ready.map(|()| Self { context, runtime, memory: limits.memory })
    }

    /// Enters the module's code, and runs everything that becomes ready. What was thrown on the way is a failure that
    /// no call can be blamed for; the prelude catches all others.
    pub(crate) fn turn<A>(&self, shared: Shared, entry: PreludeFunction, args: A) -> Option<Shared>
    where
        A: for<'js> IntoArgs<'js>,
    {
        let (shared, thrown) = shared.lend(|shared| {
            shared.state().budget.begin();
            // A panic must not leave the runtime's lock poisoned, nor reach a thread that is not the module's own.
            let turned = self.context.with(|ctx| catch_unwind(AssertUnwindSafe(|| run(&ctx, shared, entry, args))));
            shared.state().budget.end();
            turned.unwrap_or_else(|_| {
                shared.stop(StopReason::Panic);
                None
            })
        });
        let shared = shared?;
        if let Some(message) = thrown.filter(|_| shared.stopped().is_none()) {
            shared.record_unhandled("callback", message);
        }
        Some(shared)
    }

    /// Whether more work is ready without anything from outside.
    pub(crate) fn has_work(&self) -> bool {
        self.runtime.is_job_pending()
    }

    /// Whether the memory is all but used up, so that the runtime cannot be relied on.
    ///
    /// Asking the runtime how much it uses means a walk over everything it holds. Whether something small can still be
    /// had under a lower limit says the same at once.
    pub(crate) fn is_full(&self) -> bool {
        // A limit of zero would be none.
        self.runtime.set_memory_limit(self.memory.saturating_sub(SPARE_MEMORY).max(1));
        let is_full = self.context.with(|ctx| {
            let probe = Object::new(ctx.clone());
            if probe.is_err() {
                ctx.catch();
            }
            probe.is_err()
        });
        self.runtime.set_memory_limit(self.memory);
        is_full
    }
}

/// Calls a function and runs what becomes ready; gives what was thrown.
fn run<A>(ctx: &Ctx<'_>, shared: &Shared, entry: PreludeFunction, args: A) -> Option<String>
where
    A: for<'js> IntoArgs<'js>,
{
    let function = ctx.userdata::<Vec<Function<'_>>>().and_then(|all| all.get(entry as usize).cloned());
    let thrown = match function {
        Some(function) => function.call::<_, ()>(args).catch(ctx).err().map(|error| {
            if is_out_of_memory(&error) {
                // What could not be done then is not done later, and a call that waits for it would wait for ever.
                shared.stop(StopReason::Memory);
            }
            describe_error(&error)
        }),
        None => Some(format!("the prelude has no {entry:?}")),
    };
    while shared.stopped().is_none() && ctx.execute_pending_job() {
        if shared.is_over() {
            break;
        }
    }
    thrown
}

/// Keeps the rejections that are not handled. One that is handled a moment later is taken out again.
fn track_rejection<'js>(shared: &Shared, ctx: &Ctx<'js>, promise: &Value<'js>, reason: &Value<'js>, handled: bool) {
    // The address stands for the promise: only whether it is the same one matters, and it lives until the turn is over.
    let mut hasher = DefaultHasher::new();
    promise.hash(&mut hasher);
    let key = hasher.finish();
    if handled {
        shared.state().rejections.retain(|known| known.promise != key);
    } else {
        // Before the state is asked for: a getter of the module may run here, and lose a promise of its own.
        let message = match Exception::from_object(reason.clone().into_object().unwrap_or_else(|| ctx.globals())) {
            Some(error) => error.message().unwrap_or_default(),
            None => text_of(reason),
        };
        let message = shorten(message);
        if let Some(held) = shared.hold_memory(message.len() + REJECTION) {
            shared.state().rejections.push(Rejection { promise: key, message, _held: held });
        }
    }
}

/// What a rejection takes beside its text.
const REJECTION: usize = 128;

/// The beginning of a text that a person has to read.
fn shorten(mut text: String) -> String {
    const LONGEST: usize = 10_000;
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str(" […]");
        text.shrink_to_fit();
    }
    text
}

fn text_of(value: &Value<'_>) -> String {
    match value.as_string().map(rquickjs::String::to_string) {
        Some(Ok(text)) => text,
        _ => format!("a value of type {}", value.type_name()),
    }
}

fn describe_error(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        CaughtError::Value(value) => text_of(value),
        CaughtError::Error(error) => error.to_string(),
    }
}

/// Whether the engine had no memory left; it throws null when there is none even for an error.
fn is_out_of_memory(error: &CaughtError<'_>) -> bool {
    match error {
        CaughtError::Exception(exception) => {
            exception.message().as_deref() == Some("out of memory")
                && exception.as_object().get::<_, String>("name").is_ok_and(|name| name == "InternalError")
        }
        CaughtError::Value(value) => value.is_null(),
        CaughtError::Error(error) => matches!(error, rquickjs::Error::Allocation),
    }
}

/// Runs the prelude, and keeps what the host calls it by.
fn run_prelude<'js>(ctx: &Ctx<'js>, longest: usize) -> rquickjs::Result<()> {
    let native = native_functions(ctx)?;
    native.set("longest", longest)?;
    let base: Function<'js> = evaluate_part(ctx, "base.js")?;
    let entry: Object<'js> = base.call((native,))?;
    let entries =
        PreludeFunction::NAMES.iter().map(|name| entry.get(*name)).collect::<rquickjs::Result<Vec<Function<'js>>>>()?;
    // They stay where no value of the module leads to them, and go before the runtime does.
    ctx.store_userdata(entries).map(drop).map_err(|error| Exception::throw_message(ctx, &error.to_string()))
}

fn evaluate_part<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
    let Some(source) = script(name) else {
        return Err(Exception::throw_message(ctx, &format!("the prelude has no `{name}`")));
    };
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source, options)
}

/// The functions that the prelude stands on.
fn native_functions<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("sync", Func::from(|op: String| with_lent(|shared| ops::sync(shared, &op))))?;
    native.set("start", Func::from(|call: u32, task: String| with_lent(|shared| ops::start(shared, call, &task))))?;
    let finished = |call: u32, result: Option<String>, failures: Option<String>, unknown: Option<String>| {
        with_lent(|shared| record_finished(shared, FinishedCall { call, result, failures, unknown }));
    };
    native.set("finished", Func::from(finished))?;
    native.set("write", Func::from(|stream: u32, text: String| with_lent(|shared| shared.print(stream, &text))))?;
    let again = |shared: &Shared, number: u32, wait: f64| {
        shared.set_timer(number, milliseconds(wait));
        number
    };
    native.set("timer", Func::from(move |wait: f64| with_lent(|shared| again(shared, shared.next_number(), wait))))?;
    native.set("again", Func::from(move |number: u32, wait: f64| with_lent(|shared| again(shared, number, wait))))?;
    native.set("clear", Func::from(|number: u32| with_lent(|shared| shared.state().timers.clear(number))))?;
    native.set("rules", rules::table())?;
    native.set("script", Func::from(|ctx: Ctx<'js>, name: String| evaluate_part(&ctx, &name)))?;
    Ok(native)
}

/// Does something for the module whose code runs.
fn with_lent<T: Default>(work: impl FnOnce(&Shared) -> T) -> T {
    lent().map(|shared| work(&shared)).unwrap_or_default()
}

/// A call has ended, if it is one that is going on. The prelude keeps to the limits here; a module that calls this itself
/// may not.
fn record_finished(shared: &Shared, finished: FinishedCall) {
    let most = shared.config.limits.result;
    let mut state = shared.state();
    let FinishedCall { call, result, failures, unknown } = finished;
    let is_going_on = state.calls.contains_key(&call) || state.abandoned.contains_key(&call);
    if !is_going_on || state.finished.iter().any(|known| known.call == call) {
        return;
    }
    let is_long = |text: &String| text.len() > most && text.chars().count() > most;
    let (result, failures) = if result.as_ref().is_some_and(is_long) || failures.as_ref().is_some_and(is_long) {
        (None, Some(r#"[{"message":"its result is too long","kind":"result"}]"#.to_owned()))
    } else {
        (result, failures)
    };
    let unknown = unknown.filter(|names| !is_long(names));
    state.finished.push(FinishedCall { call, result, failures, unknown });
}

fn milliseconds(wait: f64) -> Duration {
    Duration::try_from_secs_f64((wait / 1_000.0).max(0.0)).unwrap_or(Duration::from_secs(86_400))
}
