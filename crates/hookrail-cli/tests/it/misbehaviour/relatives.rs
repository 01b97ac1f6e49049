//! Rows about time, about processes that a hook leaves behind, and about what it does to its surroundings.

use crate::misbehaviour::commands::{Row, hangs, row};
use crate::misbehaviour::streams::say_deny;

/// Runs `hookrail` with one hook, whose command line this is.
macro_rules! fires {
    ($inner:literal) => {
        concat!(
            r#"i=$(cd .. && pwd)/inner; mkdir -p "$i/.llxprt"; printf '%s' '{"hooksConfig":{"enabled":true},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":""#,
            $inner,
            r#""}]}]}}' > "$i/.llxprt/settings.json"; HOME="$i" "$HOOKRAIL" fire BeforeTool --tool x; true"#
        )
    };
}

pub(crate) const ROWS: &[Row] = &[
    hangs("sleeps past its timeout", "exec sleep 600"),
    hangs("works past its timeout", "while :; do :; done").at_once(),
    hangs("answers and then hangs", concat!(say_deny!(), "; exec sleep 600")).reports(&["decision-discarded"]),
    hangs("prints half an answer and then hangs", r#"printf '{"decision":"de'; exec sleep 600"#),
    hangs("prints text and then hangs", "echo loading; exec sleep 600"),
    hangs(
        "answers only when it is told to end",
        concat!("trap \"", r#"echo '{}'; exit 0"#, "\" TERM; sleep 600 & wait"),
    ),
    hangs("ignores the signal to end", r#"exec "$CHILD" ignore-term"#),
    hangs("ignores the signal to end, and so do its children", "trap '' TERM; sleep 600 & sleep 600"),
    hangs("begins again when it is told to end", "trap 'sleep 600' TERM; sleep 600"),
    hangs("stops itself", r#"exec "$CHILD" stop-self"#),
    hangs("stops its whole group", "kill -STOP 0; exec sleep 600"),
    hangs("becomes itself again for ever", r#"exec "$CHILD" exec-self"#).at_once(),
    hangs("waits for a child of its own", "sleep 600; true"),
    hangs("puts its children into groups of their own", "set -m; sleep 600 & sleep 600 & wait"),
    hangs("leaves a child in a session of its own and stays", r#"exec "$CHILD" escape-session 600"#),
    hangs("leaves an orphan in a session of its own and stays", r#"exec "$CHILD" double-fork 600"#),
    hangs("leaves a chain of processes that never ends", r#"exec "$CHILD" fork-chain 600"#),
    hangs("fires an event whose hook ignores the signal to end", fires!("exec $CHILD ignore-term")),
    hangs(
        "fires an event whose hook ignores the signal to end and leaves an orphan in a session of its own",
        fires!("$CHILD double-fork 600 & exec $CHILD ignore-term"),
    ),
    hangs("has 126 descendants", r#"exec "$CHILD" fork-tree 6 600"#),
    hangs("waits for a writer of a pipe", "mkfifo p; exec cat p"),
    hangs("waits for a lock that is never released", "exec 9> lock; flock 9; exec flock lock true"),
    row("leaves a child that holds its output", concat!("sleep 30 & ", say_deny!()))
        .says("deny")
        .leaves(1)
        .reports(&["survivors"]),
    row("leaves a child that holds only standard error", concat!("sleep 30 > /dev/null & ", say_deny!()))
        .says("deny")
        .leaves(1)
        .reports(&["survivors"]),
    row("leaves a child without streams", concat!("sleep 30 > /dev/null 2>&1 < /dev/null & ", say_deny!()))
        .says("deny")
        .leaves(1)
        .reports(&["survivors"]),
    row(
        "leaves a daemon in a session of its own",
        concat!("setsid sleep 30 > /dev/null 2>&1 < /dev/null & ", say_deny!()),
    )
    .says("deny")
    .leaves(1),
    row("leaves a child that writes later", concat!("(sleep 2; echo later) & ", say_deny!())).says("deny"),
    row(
        "exits while its children write",
        concat!(say_deny!(), r#"; for n in 1 2 3 4; do (sleep 0.01; printf ' ') & done"#),
    )
    .says("deny"),
    row("leaves a child and fails", "sleep 30 & exit 3").fails("exited").leaves(1).reports(&["survivors"]),
    row(
        "floods its output and leaves a child in a session of its own",
        r#"setsid sleep 600 & exec "$CHILD" flood-forever"#,
    )
    .fails("output-limit"),
    row("has no terminal to read from", concat!("cat < /dev/tty || ", say_deny!())).says("deny"),
    row("looks for the user on its input", concat!("test -t 0 || ", say_deny!())).says("deny"),
    row("changes its folder, its mask and its limits", concat!("cd /; umask 777; ulimit -f 0; ", say_deny!()))
        .says("deny"),
    row("deletes its folder", concat!("rm -rf \"$PWD\"; ", say_deny!())).says("deny").alone(),
    row("rewrites its own script", "printf 'echo \"exit 2\" > x.sh; exit 0\\n' > x.sh; sh x.sh")
        .llxprt("silent", ["none"; 3])
        .xcode("silent", ["none"; 2]),
    row("clears its environment", concat!("exec env -i sh -c '", "echo \"{\\\"decision\\\":\\\"deny\\\"}\"", "'"))
        .says("deny"),
    row("writes its answer while it is being replaced", r#"printf '{"decision":'; exec printf '"deny"}'"#).says("deny"),
];
