//! Conversations with a server in lines of JSON.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a failure here is a failed test")]

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value, json};

use crate::processes::wait_until;
use crate::running::{HANG, RunningProgram};

/// A conversation with a server.
pub struct Talk {
    reader: Box<dyn BufRead>,
    writer: Option<Box<dyn Write>>,
}

impl Talk {
    /// A conversation over a pipe or a socket.
    #[must_use]
    pub fn new(reader: impl Read + 'static, writer: impl Write + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), writer: Some(Box::new(writer)) }
    }

    /// A conversation over the standard input and output of a program.
    ///
    /// # Panics
    /// If they are no pipes, as all methods panic if the server is not there.
    #[must_use]
    pub fn with(server: &mut RunningProgram) -> Self {
        let stdout = server.stdout.take().expect("the output is a pipe");
        Self::new(stdout, server.stdin.take().expect("the input is a pipe"))
    }

    /// A conversation with the server of a socket, as soon as there is one.
    ///
    /// # Panics
    /// If there never is.
    #[cfg(unix)]
    #[must_use]
    pub fn over(socket: &std::path::Path) -> Self {
        let mut stream = None;
        let answers = || {
            stream = std::os::unix::net::UnixStream::connect(socket).ok();
            stream.is_some()
        };
        assert!(wait_until(answers, HANG), "the server does not answer");
        let stream = stream.expect("a server that answers");
        Self::new(stream.try_clone().expect("a second handle"), stream)
    }

    /// Sends a line.
    ///
    /// # Panics
    /// If the server has ended.
    pub fn line(&mut self, line: &str) {
        let writer = self.writer.as_mut().expect("the input is open");
        writeln!(writer, "{line}").expect("a server that reads");
    }

    /// Sends a message.
    pub fn say(&mut self, kind: &str, payload: &Value) {
        self.line(&json!({"type": kind, "payload": payload}).to_string());
    }

    /// Sends a request about a tool, with this name for its answer.
    pub fn ask_for(&mut self, name: &str, tool: &str) {
        let input = json!({"tool_name": tool, "tool_input": {"path": "a"}});
        self.say("HOOK_EXECUTION_REQUEST", &json!({"correlationId": name, "eventName": "BeforeTool", "input": input}));
    }

    /// Returns the next message; none at the end.
    ///
    /// # Panics
    /// If it is not JSON.
    #[expect(clippy::should_implement_trait, reason = "a conversation is no iterator: what is said next depends on it")]
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).expect("a server that can be read");
        (read > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Returns the payload of the next message, which is of this type.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn answer(&mut self, kind: &str) -> Value {
        let mut answer = self.next().expect("an answer");
        assert_eq!(answer["type"], kind, "{answer}");
        answer["payload"].take()
    }

    /// Returns the payload of the next message of this type. Others before it are skipped.
    ///
    /// # Panics
    /// If the server ends before.
    #[track_caller]
    pub fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let mut message = self.next().expect("a server that goes on");
            if message["type"] == kind {
                return message["payload"].take();
            }
        }
    }

    /// Sends a request about a tool and returns the payload of the answer, which is the next message.
    pub fn ask(&mut self, tool: &str) -> Value {
        self.ask_for("asked", tool);
        self.answer("HOOK_EXECUTION_RESPONSE")
    }

    /// Returns the message of a hook for the user.
    pub fn message(&mut self) -> Value {
        self.ask("x")["outcome"]["systemMessage"].take()
    }

    /// Sends requests until a hook has this message for the user.
    ///
    /// # Panics
    /// If none ever has.
    pub fn until_message(&mut self, expected: &str) {
        let mut last = Value::Null;
        let said = || {
            last = self.message();
            last == expected
        };
        assert!(wait_until(said, HANG), "expected {expected}, not {last}");
    }

    /// The payload of the server's `hello`.
    pub fn hello(&mut self) -> Value {
        self.say("hello", &json!({"protocol": 1}));
        self.answer("hello")
    }

    /// Returns the code of the next error; messages before it are skipped.
    ///
    /// # Panics
    /// If there is none.
    pub fn next_error(&mut self) -> String {
        loop {
            let message = self.next().expect("a server that goes on");
            if let Some(code) = message.pointer("/payload/error/code").and_then(Value::as_str) {
                return code.to_owned();
            }
        }
    }

    /// Closes the input of the server.
    pub fn finish(&mut self) {
        self.writer = None;
    }
}
