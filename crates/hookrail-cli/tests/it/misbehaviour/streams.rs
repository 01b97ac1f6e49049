//! Rows about standard input, output and error.

use crate::misbehaviour::commands::{Row, hangs, row};

/// The shell words that deny. They stand for an answer that must not be lost.
macro_rules! say_deny {
    () => {
        "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'"
    };
}
pub(crate) use say_deny;

pub(crate) const ROWS: &[Row] = &[
    row("never reads its input", say_deny!()).with_large_input().says("deny"),
    row("closes its input at once", concat!("exec <&-; ", say_deny!())).with_large_input().says("deny"),
    row("reads one byte of its input", concat!("head -c 1 >&2; ", say_deny!())).with_large_input().says("deny"),
    hangs("never reads its input and never ends", "exec sleep 600").with_large_input(),
    row("answers before it reads its input", concat!(say_deny!(), "; cat > /dev/null")).with_large_input().says("deny"),
    row(
        "writes more than a pipe holds before it reads its input",
        concat!("head -c 500000 /dev/zero | tr '\\0' ' '; cat > /dev/null; ", say_deny!()),
    )
    .with_large_input()
    .says("deny"),
    row("leaves its input to a child that never reads it", concat!("sleep 30 <&0 >&- 2>&- & ", say_deny!()))
        .with_large_input()
        .says("deny")
        .leaves(1)
        .reports(&["survivors"]),
    row("echoes its large input", "cat")
        .with_large_input()
        .llxprt("answered", ["none", "ask", "deny"])
        .xcode("bad-output", ["none", "deny"])
        .unreadable(),
    row("floods its output for ever", r#"exec "$CHILD" flood-forever"#)
        .fails("output-limit")
        .reports(&["output-limit"]),
    row("floods its output from two children for ever", r#""$CHILD" flood-forever & "$CHILD" flood-forever; wait"#)
        .fails("output-limit"),
    row("answers with 100 MiB of JSON", r#"exec "$CHILD" print-long-reason 104857600"#).fails("output-limit"),
    row("answers with one byte more than is kept", r#"exec "$CHILD" print-long-reason 8388578"#).fails("output-limit"),
    row("answers with all that is kept", r#"exec "$CHILD" print-long-reason 8388577"#).says("deny").within(256),
    row("prints 1 MB of plain text", "head -c 1000000 /dev/zero | tr '\\0' x")
        .llxprt("answered", ["allow", "ask", "deny"])
        .xcode("bad-output", ["none", "deny"])
        .unreadable(),
    row("prints 1 MB of blanks", "head -c 1000000 /dev/zero | tr '\\0' ' '")
        .llxprt("silent", ["none"; 3])
        .xcode("silent", ["none"; 2]),
    row("prints 1 MB of opening braces", "head -c 1000000 /dev/zero | tr '\\0' '{'")
        .llxprt("bad-output", ["allow", "ask", "deny"])
        .xcode("bad-output", ["none", "deny"]),
    row("writes too much and then exits with 2", r#""$CHILD" flood-stdout 9000000; exit 2"#)
        .llxprt("exited", ["deny"; 3])
        .xcode("exited", ["none", "deny"])
        .within(256),
    hangs("floods its standard error for ever", r#""$CHILD" flood-stderr 18446744073709551615"#)
        .reports(&["stderr-truncated"]),
    row(
        "floods its standard error and then answers",
        concat!(r#""$CHILD" flood-stderr 20000000 > /dev/null; "#, say_deny!()),
    )
    .says("deny")
    .reports(&["stderr-truncated"]),
    row("exits with 2 after 2 MiB of standard error", r#""$CHILD" flood-stderr 2097152 > /dev/null; exit 2"#)
        .llxprt("exited", ["deny"; 3])
        .xcode("exited", ["none", "deny"]),
    row("writes its answer byte by byte", r#"exec "$CHILD" print-bytewise '{"decision":"deny"}' 5"#).says("deny"),
    hangs("writes its answer too slowly", r#"exec "$CHILD" print-bytewise '{"decision":"deny","reason":"slow"}' 100"#),
    row("closes its output at once", "exec >&-").llxprt("silent", ["none"; 3]).xcode("silent", ["none"; 2]),
    row("closes its output and writes to it", "exec >&-; exec cat /etc/hostname")
        .fails("exited")
        .reports(&["hook-exited"]),
    hangs("closes all its streams and stays", "exec <&- >&- 2>&-; exec sleep 600"),
    row("answers on standard error", concat!(say_deny!(), " >&2"))
        .llxprt("silent", ["none"; 3])
        .xcode("silent", ["none"; 2]),
    row("answers on another descriptor", concat!(say_deny!(), " >&3")).fails("exited"),
];
