//! The program around a handler: one event on standard input, or one line for each event of a worker.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::ability::HookEvent;
use crate::answer::Reply;
use crate::field::InputError;

/// The status of a hook that failed. It is not 2, which is a deny.
const FAILED: u8 = 1;

/// Runs a hook: reads the event, calls the handler and prints its answer. The handler returns an
/// [`HookAnswer`](crate::HookAnswer), or a `Result` with one, whose error is a failure of the hook.
///
/// If the engine has started the program as a worker, the handler is called for each event until standard input ends.
///
/// ```no_run
/// use hookrail_hook::{BeforeTool, HookAnswer};
///
/// fn main() -> std::process::ExitCode {
///     hookrail_hook::run(|event: BeforeTool| {
///         let forbidden = std::fs::read_to_string("forbidden-tools.txt")?;
///         let is_forbidden = forbidden.lines().any(|line| line == event.tool_name);
///         Ok::<_, std::io::Error>(if is_forbidden { HookAnswer::deny("this tool is forbidden") } else { HookAnswer::none() })
///     })
/// }
/// ```
#[must_use = "the exit status says whether the hook failed"]
pub fn run<E: HookEvent, R: Reply<E>>(handler: impl FnMut(E) -> R) -> ExitCode {
    let is_worker = std::env::var_os("HOOKRAIL_WORKER").is_some_and(|value| value == "1");
    let mut streams = Streams { input: io::stdin().lock(), output: io::stdout().lock(), errors: io::stderr().lock() };
    ExitCode::from(run_with(&mut streams, is_worker, handler))
}

/// What a hook reads and writes.
#[derive(Debug)]
pub struct Streams<I, O, X> {
    /// Where the event comes from.
    pub input: I,
    /// Where the answer goes.
    pub output: O,
    /// Where the reason of a failure goes.
    pub errors: X,
}

/// Runs a hook on other streams, for tests. Returns the exit status.
///
/// ```
/// use hookrail_hook::{HookAnswer, BeforeTool, Streams, run_with};
///
/// let input = br#"{"hook_event_name": "BeforeTool", "tool_name": "deploy", "tool_input": {}}"#;
/// let mut streams = Streams { input: input.as_slice(), output: Vec::new(), errors: Vec::new() };
/// let status = run_with(&mut streams, false, |event: BeforeTool| HookAnswer::deny(format!("no {}", event.tool_name)));
/// assert_eq!(status, 0);
/// assert_eq!(streams.output, b"{\"decision\":\"deny\",\"reason\":\"no deploy\"}\n");
/// ```
pub fn run_with<E: HookEvent, R: Reply<E>>(
    streams: &mut Streams<impl BufRead, impl Write, impl Write>,
    is_worker: bool,
    mut handler: impl FnMut(E) -> R,
) -> u8 {
    let ended = if is_worker { answer_lines(streams, &mut handler) } else { answer_once(streams, &mut handler) };
    match ended {
        Ok(()) => 0,
        Err(why) => {
            // Without standard error there is no other place for the reason.
            let _ = writeln!(streams.errors, "{why}");
            FAILED
        }
    }
}

fn answer_once<E: HookEvent, R: Reply<E>>(
    streams: &mut Streams<impl BufRead, impl Write, impl Write>,
    handler: &mut impl FnMut(E) -> R,
) -> Result<(), String> {
    let mut text = Vec::new();
    streams.input.read_to_end(&mut text).map_err(|error| format!("standard input cannot be read: {error}"))?;
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(InputError::Empty.to_string());
    }
    let input: Map<String, Value> =
        serde_json::from_slice(&text).map_err(|error| InputError::NotAnObject(error).to_string())?;
    let answer = call(input, handler)?;
    answer.map_or(Ok(()), |answer| write_line(&mut streams.output, &answer))
}

/// Answers one line after the other. A failure is the answer to its line, and the worker goes on. A line that is no question
/// has no number to answer to, so it ends the worker.
fn answer_lines<E: HookEvent, R: Reply<E>>(
    streams: &mut Streams<impl BufRead, impl Write, impl Write>,
    handler: &mut impl FnMut(E) -> R,
) -> Result<(), String> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = streams.input.read_until(b'\n', &mut line);
        if read.map_err(|error| format!("standard input cannot be read: {error}"))? == 0 {
            return Ok(());
        }
        let mut question: Map<String, Value> =
            serde_json::from_slice(&line).map_err(|error| InputError::NotAnObject(error).to_string())?;
        let Some(id) = question.remove("id").filter(Value::is_number) else {
            return Err("a question for a worker needs a number `id`".to_owned());
        };
        let Some(Value::Object(input)) = question.remove("input") else {
            return Err("a question for a worker needs an object `input`".to_owned());
        };
        let answer = match call(input, handler) {
            Ok(Some(output)) => json!({ "id": id, "output": output }),
            Ok(None) => json!({ "id": id }),
            Err(why) => json!({ "id": id, "exitCode": FAILED, "stderr": why }),
        };
        write_line(&mut streams.output, &answer)?;
    }
}

fn call<E: HookEvent, R: Reply<E>>(
    input: Map<String, Value>,
    handler: &mut impl FnMut(E) -> R,
) -> Result<Option<Value>, String> {
    let event = E::from_input(input).map_err(|error| error.to_string())?;
    Ok(handler(event).into_answer()?.to_value())
}

/// Writes a line and flushes it: the engine waits for it.
fn write_line(output: &mut impl Write, answer: &Value) -> Result<(), String> {
    let written = writeln!(output, "{answer}").and_then(|()| output.flush());
    written.map_err(|error| format!("standard output cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::HookAnswer;
    use crate::event::BeforeTool;

    fn ask(input: &str, is_worker: bool) -> (u8, String, String) {
        let mut streams = Streams { input: input.as_bytes(), output: Vec::new(), errors: Vec::new() };
        let status = run_with(&mut streams, is_worker, |event: BeforeTool| match event.tool_name.as_str() {
            "deny" => Ok(HookAnswer::deny("no")),
            "fail" => Err("the list cannot be read"),
            _ => Ok(HookAnswer::none()),
        });
        (status, String::from_utf8(streams.output).unwrap(), String::from_utf8(streams.errors).unwrap())
    }

    fn event(tool: &str) -> String {
        json!({"hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": {}}).to_string()
    }

    #[test]
    fn one_event() {
        assert_eq!(ask(&event("deny"), false), (0, "{\"decision\":\"deny\",\"reason\":\"no\"}\n".into(), "".into()));
        assert_eq!(ask(&event("other"), false), (0, "".into(), "".into()));
        assert_eq!(ask(&event("fail"), false), (1, "".into(), "the list cannot be read\n".into()));
    }

    #[test]
    fn input_that_is_no_event_is_a_failure_and_never_a_permission() {
        for (input, why) in [
            ("", "there is no event on standard input"),
            ("\n", "there is no event on standard input"),
            ("{", "the input is not one JSON object: "),
            ("[]", "the input is not one JSON object: "),
            ("{}", "this hook handles BeforeTool, but the event is ``"),
            (r#"{"hook_event_name":"AfterTool"}"#, "this hook handles BeforeTool, but the event is `AfterTool`"),
            (r#"{"hook_event_name":"BeforeTool"}"#, "`tool_name` of BeforeTool must be a text"),
            (
                r#"{"hook_event_name":"BeforeTool","tool_name":"a","tool_input":[]}"#,
                "`tool_input` of BeforeTool must be an object",
            ),
        ] {
            let (status, output, errors) = ask(input, false);
            assert_eq!((status, output.as_str()), (1, ""), "{input}");
            assert!(errors.starts_with(why), "{input}: {errors}");
        }
    }

    #[test]
    fn a_worker_answers_each_line_and_survives_failures() {
        let line = |id: u32, tool: &str| format!("{{\"id\":{id},\"input\":{}}}\n", event(tool));
        let input = [line(1, "deny"), line(2, "fail"), line(3, "other"), "{\"id\":4,\"input\":{}}\n".into()].concat();
        let (status, output, errors) = ask(&input, true);
        assert_eq!((status, errors.as_str()), (0, ""));
        let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let wrong = "this hook handles BeforeTool, but the event is ``; correct the settings";
        let expected = [
            json!({"id": 1, "output": {"decision": "deny", "reason": "no"}}),
            json!({"id": 2, "exitCode": 1, "stderr": "the list cannot be read"}),
            json!({"id": 3}),
            json!({"id": 4, "exitCode": 1, "stderr": wrong}),
        ];
        assert_eq!(answers, expected);
        for input in ["nonsense\n", "{\"input\":{}}\n", "{\"id\":\"a\",\"input\":{}}\n", "{\"id\":1}\n"] {
            assert_eq!(ask(input, true).0, 1, "{input}");
        }
    }
}
