//! One JavaScript runtime of one module.
//!
//! All of the module's code is entered through [`Vm::turn`], which starts the budget, runs every job that became ready,
//! and ends the budget. Jobs are polled nowhere else.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::function::{Func, IntoArgs};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Object, Runtime, Value};

use crate::call::FinishedCall;
use crate::limits::StopReason;
use crate::ops;
use crate::rules;
use crate::shared::{Rejection, Shared, TimerTurn, lent};
use crate::source::{FileLoader, FileResolver, load_required, resolve_required, script};

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

/// A heap with less free memory than this is treated as full, so that the error about it can still be reported.
const SPARE_MEMORY: usize = 1 << 20;

impl Vm {
    /// A runtime in which no code of the module has run yet. The shared state must be lent to this thread.
    pub(crate) fn new(shared: &Shared) -> Result<Self, String> {
        let limits = &shared.config.limits;
        let runtime = Runtime::new().map_err(|error| {
            // No limit is set before there is a runtime, so it is the machine that had no memory.
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

    /// Enters the module's code, and runs every job that becomes ready. An exception that arrives here belongs to no
    /// call, because the prelude catches all others.
    pub(crate) fn turn<A>(&self, shared: Shared, entry: PreludeFunction, args: A) -> Option<Shared>
    where
        A: for<'js> IntoArgs<'js>,
    {
        let (shared, thrown) = shared.lend(|shared| {
            shared.state().budget.begin();
            // A panic must neither poison the runtime's lock nor unwind into a thread of the host.
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

    /// Whether a job is ready without an event from outside.
    pub(crate) fn has_work(&self) -> bool {
        self.runtime.is_job_pending()
    }

    /// Whether the heap is almost full, so that the runtime is not reliable any more.
    ///
    /// Asking the runtime for its memory use walks over the whole heap. Trying a small allocation under a lower limit
    /// gives the same answer at once.
    pub(crate) fn is_full(&self) -> bool {
        // A limit of zero would mean none.
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

/// Calls a function and runs every job that becomes ready. Returns the exception, if there was one.
fn run<A>(ctx: &Ctx<'_>, shared: &Shared, entry: PreludeFunction, args: A) -> Option<String>
where
    A: for<'js> IntoArgs<'js>,
{
    let function = ctx.userdata::<Vec<Function<'_>>>().and_then(|all| all.get(entry as usize).cloned());
    let thrown = match function {
        Some(function) => function.call::<_, ()>(args).catch(ctx).err().map(|error| {
            if is_out_of_memory(&error) {
                // A job that failed for lack of memory is not repeated, and a call that waits for it would wait without
                // end.
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

/// Records rejections that are not handled. A rejection that is handled later in the turn is removed again.
fn track_rejection<'js>(shared: &Shared, ctx: &Ctx<'js>, promise: &Value<'js>, reason: &Value<'js>, handled: bool) {
    // The address identifies the promise. It stays valid until the turn ends.
    let mut hasher = DefaultHasher::new();
    promise.hash(&mut hasher);
    let key = hasher.finish();
    if handled {
        shared.state().rejections.retain(|known| known.promise != key);
    } else {
        // Before the state is borrowed: a getter of the module may run here and reject another promise.
        let message = match Exception::from_object(reason.clone().into_object().unwrap_or_else(|| ctx.globals())) {
            Some(error) => error.message().unwrap_or_default(),
            None => text_of(reason),
        };
        let message = shorten(message);
        if let Some(held) = shared.hold_memory(message.len() + REJECTION_MEMORY) {
            shared.state().rejections.push(Rejection { promise: key, message, _held: held });
        }
    }
}

/// The number of bytes that are counted for a rejection, in addition to its text.
const REJECTION_MEMORY: usize = 128;

/// The beginning of a text, short enough for a message.
fn shorten(mut text: String) -> String {
    const MESSAGE_LIMIT: usize = 10_000;
    if text.len() > MESSAGE_LIMIT {
        text.truncate(text.floor_char_boundary(MESSAGE_LIMIT));
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

/// Whether the heap is full. The engine throws `null` if it has no memory even for an error.
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

/// Runs the prelude, and keeps the functions that the host calls.
fn run_prelude<'js>(ctx: &Ctx<'js>, longest: usize) -> rquickjs::Result<()> {
    let native = native_functions(ctx)?;
    native.set("longest", longest)?;
    let base: Function<'js> = evaluate_part(ctx, "base.js")?;
    let entry: Object<'js> = base.call((native,))?;
    let entries =
        PreludeFunction::NAMES.iter().map(|name| entry.get(*name)).collect::<rquickjs::Result<Vec<Function<'js>>>>()?;
    // They are kept where no value of the module refers to them, and are dropped before the runtime.
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

/// The functions of the host that the prelude is built on.
fn native_functions<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("sync", Func::from(|op: String| with_lent(|shared| ops::run_op(shared, &op))))?;
    native
        .set("start", Func::from(|call: u32, task: String| with_lent(|shared| ops::start_task(shared, call, &task))))?;
    let finished = |call: u32, result: Option<String>, failures: Option<String>, remarks: Option<String>| {
        with_lent(|shared| record_finished(shared, FinishedCall { call, result, failures, remarks }));
    };
    native.set("finished", Func::from(finished))?;
    native.set("write", Func::from(|stream: u32, text: String| with_lent(|shared| shared.print(stream, &text))))?;
    let timer = |wait: f64| {
        with_lent(|shared| {
            let number = shared.next_number();
            shared.set_timer(number, milliseconds(wait), TimerTurn::First);
            number
        })
    };
    native.set("timer", Func::from(timer))?;
    let again = |number: u32, wait: f64| {
        with_lent(|shared| shared.set_timer(number, milliseconds(wait), TimerTurn::Again));
    };
    native.set("again", Func::from(again))?;
    native.set("clear", Func::from(|number: u32| with_lent(|shared| shared.state().timers.clear(number))))?;
    native.set("rules", rules::table())?;
    let resolve = |ctx: Ctx<'js>, base: String, name: String| resolve_required(&ctx, &base, &name);
    native.set("resolve", Func::from(resolve))?;
    native.set("required", Func::from(|ctx: Ctx<'js>, name: String| load_required(&ctx, &name)))?;
    native.set("script", Func::from(|ctx: Ctx<'js>, name: String| evaluate_part(&ctx, &name)))?;
    Ok(native)
}

/// Runs an operation for the module whose code runs on this thread.
fn with_lent<T: Default>(work: impl FnOnce(&Shared) -> T) -> T {
    lent().map(|shared| work(&shared)).unwrap_or_default()
}

/// Ends a call, if it is in progress. The prelude keeps to the limits, but a module that calls this function itself may
/// not, so they are checked here.
fn record_finished(shared: &Shared, finished: FinishedCall) {
    let most = shared.config.limits.result;
    let mut state = shared.state();
    let FinishedCall { call, result, failures, remarks } = finished;
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
    let remarks = remarks.filter(|remarks| !is_long(remarks));
    state.finished.push(FinishedCall { call, result, failures, remarks });
}

fn milliseconds(wait: f64) -> Duration {
    Duration::try_from_secs_f64((wait / 1_000.0).max(0.0)).unwrap_or(Duration::from_secs(86_400))
}
