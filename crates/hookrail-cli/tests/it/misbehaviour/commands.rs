//! Rows about commands: what one says, and how it is run in both dialects that have commands.

use std::time::Duration;

use serde_json::{Value, json};

use crate::misbehaviour::firing::{Sandbox, Seen};
use crate::misbehaviour::pool::{check_all, is_wanted};
use crate::misbehaviour::{answers, ends, relatives, streams};

/// One way for a command to misbehave, and the expected results.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// What the hook does, as the end of a sentence that begins with "a hook that".
    pub(crate) name: &'static str,
    /// What the shell is told. `$CHILD` is the misbehaving child of the test equipment, `$HOOKRAIL` the program under test.
    pub(crate) command: &'static str,
    pub(crate) input: Input,
    /// In milliseconds.
    pub(crate) timeout: u64,
    /// Under `onFailure` allow, ask and block.
    pub(crate) llxprt: Expected<3>,
    /// Under `failurePolicy` allow and block.
    pub(crate) xcode: Expected<2>,
    /// How many processes are there afterwards.
    pub(crate) left: usize,
    /// Codes of diagnostics that must be there, in either dialect.
    pub(crate) reported: &'static [&'static str],
    /// How much memory the firing process may take, in MiB.
    pub(crate) memory: u64,
    neighbour: Neighbour,
}

/// How a run ends, and what is decided under each policy.
#[derive(Clone, Copy)]
pub(crate) struct Expected<const POLICIES: usize> {
    pub(crate) end: &'static str,
    /// The same under the policies with which a hook has to answer strictly.
    pub(crate) strict_end: &'static str,
    pub(crate) decisions: [&'static str; POLICIES],
}

/// How much there is on standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Small,
    /// More than any pipe holds.
    Large,
}

/// Whether a well-behaved hook takes part in the same event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Present,
    /// The row takes away what the neighbour needs, too.
    Absent,
}

/// The policies' own names.
pub(crate) const LLXPRT_POLICIES: [&str; 3] = ["allow", "ask", "block"];
pub(crate) const XCODE_POLICIES: [&str; 2] = ["allow", "block"];

/// A timeout that no hook reaches that means to end, and one that is reached by those which do not.
const PATIENT: u64 = 25_000;
const SHORT: u64 = 700;

/// A row of a hook that ends by itself; what becomes of it is added.
pub(crate) const fn row(name: &'static str, command: &'static str) -> Row {
    let nothing = "nothing was said about what becomes of this";
    Row {
        name,
        command,
        input: Input::Small,
        timeout: PATIENT,
        llxprt: Expected { end: nothing, strict_end: nothing, decisions: [nothing; 3] },
        xcode: Expected { end: nothing, strict_end: nothing, decisions: [nothing; 2] },
        left: 0,
        reported: &[],
        memory: 96,
        neighbour: Neighbour::Present,
    }
}

/// A row of a hook that does not end by itself: it is timed out, and nothing of it is left.
pub(crate) const fn hangs(name: &'static str, command: &'static str) -> Row {
    Row { timeout: SHORT, ..row(name, command) }.fails("timed-out").reports(&["hook-timed-out"])
}

impl Row {
    /// What it does is the same from its first moment on, and works: its timeout is as short as one can be.
    pub(crate) const fn at_once(self) -> Self {
        Self { timeout: 100, ..self }
    }

    /// It is a failure in both dialects, and only the policy decides.
    pub(crate) const fn fails(self, end: &'static str) -> Self {
        self.llxprt(end, ["none", "ask", "deny"]).xcode(end, ["none", "deny"])
    }

    /// The answer is used in both dialects, under every policy.
    pub(crate) const fn says(self, decision: &'static str) -> Self {
        self.llxprt("answered", [decision; 3]).xcode("answered", [decision; 2])
    }

    pub(crate) const fn llxprt(self, end: &'static str, decisions: [&'static str; 3]) -> Self {
        Self { llxprt: Expected { end, strict_end: end, decisions }, ..self }
    }

    pub(crate) const fn xcode(self, end: &'static str, decisions: [&'static str; 2]) -> Self {
        Self { xcode: Expected { end, strict_end: end, decisions }, ..self }
    }

    /// It is no answer of a hook that has to answer strictly, in either dialect.
    pub(crate) const fn unreadable(self) -> Self {
        let llxprt = Expected { strict_end: "bad-output", ..self.llxprt };
        let xcode = Expected { strict_end: "bad-output", ..self.xcode };
        Self { llxprt, xcode, ..self }
    }

    pub(crate) const fn reports(self, codes: &'static [&'static str]) -> Self {
        Self { reported: codes, ..self }
    }

    /// It leaves processes behind, which are left alone and counted.
    pub(crate) const fn leaves(self, processes: usize) -> Self {
        Self { left: processes, ..self }
    }

    /// There is more on its standard input than a pipe holds.
    pub(crate) const fn with_large_input(self) -> Self {
        Self { input: Input::Large, memory: self.memory + 32, ..self }
    }

    pub(crate) const fn within(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    pub(crate) const fn alone(self) -> Self {
        Self { neighbour: Neighbour::Absent, ..self }
    }
}

/// Every row, by the part of a hook's behaviour that it is about.
pub(crate) fn sections() -> [(&'static str, &'static [Row]); 4] {
    [
        ("input and output", streams::ROWS),
        ("answers", answers::ROWS),
        ("ends", ends::ROWS),
        ("time and relatives", relatives::ROWS),
    ]
}

/// One row under one policy.
struct Case {
    row: Row,
    dialect: Dialect,
    policy: usize,
}

#[derive(Clone, Copy, Debug)]
enum Dialect {
    Llxprt,
    Xcode,
}

#[test]
fn commands() {
    let rows = sections().into_iter().flat_map(|(_, rows)| rows).filter(|row| is_wanted(row.name));
    let mut cases: Vec<Case> = rows
        .flat_map(|row| {
            let llxprt = (0..3).map(|policy| Case { row: *row, dialect: Dialect::Llxprt, policy });
            llxprt.chain((0..2).map(|policy| Case { row: *row, dialect: Dialect::Xcode, policy }))
        })
        .collect();
    // The long ones first, so that the last thread does not begin one when all others are done.
    cases.sort_by_key(|case| case.row.timeout);
    check_all(&cases, Case::check);
}

impl Case {
    fn check(&self) -> Result<(), String> {
        let (policy, expected) = match self.dialect {
            Dialect::Llxprt => (LLXPRT_POLICIES[self.policy], self.row.llxprt.of(self.policy)),
            Dialect::Xcode => (XCODE_POLICIES[self.policy], self.row.xcode.of(self.policy)),
        };
        let sandbox = Sandbox::new();
        let seen = self.fire(&sandbox, policy);
        let mut wrong = Vec::new();
        match &seen.outcome {
            Err(why) => wrong.push(why.clone()),
            Ok(outcome) => wrong.extend(self.judge(outcome, expected)),
        }
        let status = [("none", 0), ("allow", 0), ("deny", 2), ("ask", 4)].iter().find(|(word, _)| *word == expected.1);
        if seen.code != status.map(|(_, code)| *code) {
            wrong.push(format!("exit status {:?} after {:?}", seen.code, seen.took));
        }
        if seen.peak > self.row.memory || seen.peak == 0 {
            wrong.push(format!("{} MiB of memory, not {}", seen.peak, self.row.memory));
        }
        if let Err(left) = sandbox.are_left(self.row.left) {
            wrong.push(format!("{left} processes are left, not {}", self.row.left));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("a hook that {} ({:?}, {policy}): {}", self.row.name, self.dialect, wrong.join("; ")))
    }

    fn fire(&self, sandbox: &Sandbox, policy: &str) -> Seen {
        let (command, timeout) = (self.row.command, self.row.timeout);
        let with_neighbour = |bad: Value, neighbour: Value| match self.row.neighbour {
            Neighbour::Present => json!([neighbour, bad]),
            Neighbour::Absent => json!([bad]),
        };
        match self.dialect {
            Dialect::Llxprt => {
                let bad = json!({"type": "command", "name": "bad", "command": command, "timeout": timeout, "onFailure": policy});
                let good = json!({"type": "command", "name": "good", "command": "echo '{\"systemMessage\":\"well\"}'"});
                let groups = json!([{"matcher": "*", "hooks": with_neighbour(bad, good)}]);
                let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": groups}});
                sandbox.write("home/.llxprt/settings.json", &settings.to_string());
            }
            Dialect::Xcode => {
                let bad = json!({"command": command, "timeout": timeout, "failurePolicy": policy});
                let hooks = with_neighbour(bad, json!({"command": "true"}));
                let manifest = json!({"name": "p", "version": "1.0.0", "hooks": {"PreToolUse": hooks}});
                let plugin = json!({"id": "p@m", "name": "p", "marketplace": "m", "version": "1.0.0"});
                let installed = json!({"schemaVersion": "1", "plugins": [plugin]});
                sandbox.write("home/.x-code/plugins/installed_plugins.json", &installed.to_string());
                sandbox.write("home/.x-code/plugins/cache/m/p/1.0.0/plugin.json", &manifest.to_string());
            }
        }
        let content = match self.row.input {
            Input::Small => "small".to_owned(),
            Input::Large => "x".repeat(5 << 18),
        };
        sandbox.write("payload", &json!({"tool_name": "write_file", "tool_input": {"content": content}}).to_string());
        let payload = format!("@{}", sandbox.path("payload").display());
        let arguments = ["fire", "before-tool", "--payload", &payload, "--json"];
        // Ten times what it should take: the run, the longest grace of any dialect, and a second for all else.
        let should_take = if timeout == PATIENT { 10_000 } else { timeout + 6_000 };
        sandbox.fire(env!("CARGO_BIN_EXE_hookrail").as_ref(), &arguments, Duration::from_millis(should_take * 10))
    }

    fn judge(&self, outcome: &Value, (end, decision): (&str, &str)) -> Vec<String> {
        let mut wrong = Vec::new();
        let runs = outcome["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of = |index: usize| runs.get(index).map_or("none at all", |run| run["end"].as_str().unwrap_or_default());
        let bad = match self.row.neighbour {
            Neighbour::Present => 1,
            Neighbour::Absent => 0,
        };
        if runs.len() != bad + 1 || !outcome["skipped"].as_array().is_some_and(Vec::is_empty) {
            wrong.push(format!("{} runs", runs.len()));
        }
        if of(bad) != end {
            let diagnostics = &outcome["diagnostics"];
            wrong.push(format!("the end is {}, not {end}; {diagnostics:.600}", of(bad)));
        }
        let well = match self.dialect {
            Dialect::Llxprt => "answered",
            Dialect::Xcode => "silent",
        };
        if bad == 1 && of(0) != well {
            wrong.push(format!("the neighbour's end is {}", of(0)));
        }
        let decided = outcome["decision"].as_str().unwrap_or("none");
        if decided != decision {
            wrong.push(format!("the decision is {decided}, not {decision}"));
        }
        let found: Vec<&str> = outcome["diagnostics"]
            .as_array()
            .map(|found| found.iter().filter_map(|found| found["code"].as_str()).collect())
            .unwrap_or_default();
        // A guard must answer readably, and has a finding of its own.
        let is_strict = self.policy > 0 && end == "bad-output";
        if is_strict && !found.contains(&"unreadable-answer") {
            wrong.push(format!("`unreadable-answer` is not reported, only {found:?}"));
        }
        for code in self.row.reported {
            let code = if is_strict && *code == "bad-output" { "unreadable-answer" } else { code };
            if !found.contains(&code) {
                wrong.push(format!("`{code}` is not reported, only {found:?}"));
            }
        }
        wrong
    }
}

impl<const POLICIES: usize> Expected<POLICIES> {
    fn of(&self, policy: usize) -> (&'static str, &'static str) {
        (if policy == 0 { self.end } else { self.strict_end }, self.decisions[policy])
    }
}
