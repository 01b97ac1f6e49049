//! Rows about exit codes, signals and what the shell cannot start.

use crate::misbehaviour::commands::{Row, row};
use crate::misbehaviour::streams::say_deny;

/// What becomes of exit code 2: a block in one dialect, a failure in the other.
const fn exit_2(row: Row) -> Row {
    row.llxprt("exited", ["deny"; 3]).xcode("exited", ["none", "deny"])
}

/// A program that dies of a signal.
const fn dies(name: &'static str, command: &'static str) -> Row {
    row(name, command).fails("signalled").reports(&["hook-signalled"])
}

pub(crate) const ROWS: &[Row] = &[
    row("exits with 1", "exit 1").fails("exited").reports(&["hook-exited"]),
    exit_2(row("exits with 2 and says nothing", "exit 2")),
    exit_2(row("exits with 2 and says allow", r#"echo '{"decision":"allow"}'; exit 2"#)),
    exit_2(row("exits with 2 and half an answer", r#"printf '{"decision":"al'; exit 2"#)),
    row("exits with 3", "echo some words >&2; exit 3").fails("exited"),
    row("exits with 126", "exit 126").fails("exited").reports(&["command-not-runnable"]),
    row("exits with 127", "exit 127").fails("exited").reports(&["command-not-found"]),
    row("exits with 255", "exit 255").fails("exited"),
    row("denies and exits with 1", concat!(say_deny!(), "; exit 1")).fails("exited").reports(&["decision-discarded"]),
    row("allows and exits with 1", r#"echo '{"decision":"allow"}'; exit 1"#).fails("exited"),
    row("is a program that is not there", "/no/such/hook --check").fails("exited").reports(&["command-not-found"]),
    row("is a file that cannot be executed", "touch x.sh; ./x.sh").fails("exited").reports(&["command-not-runnable"]),
    row("is a folder", "/").fails("exited").reports(&["command-not-runnable"]),
    row("names an interpreter that is not there", "printf '#!/no/such/sh\\n' > x; chmod +x x; ./x").fails("exited"),
    row("is a script of the wrong system", "printf '#!/bin/sh\\r\\nexit 0\\r\\n' > x; chmod +x x; ./x").fails("exited"),
    // A syntax error is exit code 2 to most shells: the guard blocks, and says what the shell said.
    exit_2(row("is no valid shell command", "if then")),
    row("is empty but for a comment", "# nothing").llxprt("silent", ["none"; 3]).xcode("silent", ["none"; 2]),
    dies("hangs up", r#"exec "$CHILD" kill-self 1"#),
    dies("interrupts itself", r#"exec "$CHILD" kill-self 2"#),
    dies("quits with a core dump", r#"ulimit -c unlimited; exec "$CHILD" kill-self 3"#),
    dies("dies of an illegal instruction", r#"exec "$CHILD" kill-self 4"#),
    dies("aborts", r#"exec "$CHILD" kill-self 6"#),
    dies("dies of a bus error", r#"exec "$CHILD" kill-self 7"#),
    dies("divides by zero", r#"exec "$CHILD" kill-self 8"#),
    dies("kills itself", "kill -KILL $$"),
    dies("dies of a bad address", r#"exec "$CHILD" kill-self 11"#),
    dies("dies of a broken pipe", r#"exec "$CHILD" kill-self 13"#),
    dies("dies of its own alarm", r#"exec "$CHILD" kill-self 14"#),
    dies("terminates itself", r#"exec "$CHILD" kill-self 15"#),
    dies("dies of a signal of its own", r#"exec "$CHILD" kill-self 10"#),
    dies("makes a system call that does not exist", r#"exec "$CHILD" kill-self 31"#),
    dies("dies of a real-time signal", r#"exec "$CHILD" kill-self 40"#),
    dies("dies of the signal for used up processor time", "kill -XCPU $$"),
    dies("writes a file larger than it may", "ulimit -f 0; echo x > large; exec sleep 600"),
    dies("kills its whole group", "sleep 600 & kill -KILL 0; exec sleep 600"),
    // A plugin's deny outlives the signal, as in the original.
    dies("denies and dies", concat!(say_deny!(), "; kill -KILL $$")).xcode("signalled", ["deny"; 2]),
    row("runs a program that dies of a signal", r#""$CHILD" kill-self 11; exit $?"#).fails("exited"),
    row("may open no file", concat!("ulimit -n 0; ", say_deny!())).says("deny"),
];
