//! A process that does work on request: one JSON object on a line in each direction.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hookrail::Environment;
use serde_json::Value;

use crate::BenchResult;

/// A process that does work on request. It is ended when this is dropped.
pub(crate) struct PeerDriver {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl PeerDriver {
    /// Starts the process, and waits until it reports that it is ready.
    pub(crate) fn start(command: &mut Command, environment: &Environment) -> BenchResult<Self> {
        command.env_clear().envs(environment.iter());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no streams".into());
        };
        let mut driver = Self { child, to, from: BufReader::new(from) };
        driver.read_answer()?;
        Ok(driver)
    }

    /// Sends a request, and returns the result.
    pub(crate) fn request(&mut self, what: &Value) -> BenchResult<Value> {
        let mut line = what.to_string();
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        self.read_answer()
    }

    /// Sends a request whose result is the time of one piece of work in nanoseconds.
    pub(crate) fn time(&mut self, what: &Value) -> BenchResult<f64> {
        self.number(what, "ns")
    }

    /// Sends a request whose result is a number.
    pub(crate) fn number(&mut self, what: &Value, name: &str) -> BenchResult<f64> {
        let answer = self.request(what)?;
        answer.get(name).and_then(Value::as_f64).ok_or_else(|| format!("no `{name}` in {answer}").into())
    }

    /// Sends a line and reads one.
    pub(crate) fn exchange(&mut self, line: &[u8], answer: &mut Vec<u8>) -> BenchResult<()> {
        self.to.write_all(line)?;
        answer.clear();
        self.from.read_until(b'\n', answer)?;
        if answer.is_empty() { Err("it ended".into()) } else { Ok(()) }
    }

    fn read_answer(&mut self) -> BenchResult<Value> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err("it ended without an answer".into());
        }
        let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(error.to_owned().into()),
            None => Ok(answer),
        }
    }
}

impl Drop for PeerDriver {
    fn drop(&mut self) {
        // The process belongs to this driver, and the rest of its work is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
