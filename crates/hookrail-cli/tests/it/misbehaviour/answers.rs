//! Rows about what is printed: texts that are no answers, and answers that are nearly none.

use crate::misbehaviour::commands::{Row, row};
use crate::misbehaviour::streams::say_deny;

/// What becomes of text that is no JSON at all: a message in one dialect, and in the other no decision. A guard has failed.
const fn text(row: Row) -> Row {
    row.llxprt("answered", ["allow", "ask", "deny"]).xcode("bad-output", ["none", "deny"]).unreadable()
}

/// The same if a deny can be recognised in it, which a guard's policy never weakens.
const fn text_with_deny(row: Row) -> Row {
    row.llxprt("answered", ["allow", "deny", "deny"]).xcode("bad-output", ["none", "deny"]).unreadable()
}

/// What becomes of an object that is none, and holds a deny.
const fn broken(row: Row) -> Row {
    row.llxprt("bad-output", ["allow", "deny", "deny"]).xcode("bad-output", ["none", "deny"]).reports(&["bad-output"])
}

/// What becomes of an object that decides nothing although it means to.
const fn undecided(row: Row) -> Row {
    row.llxprt("answered", ["none", "ask", "deny"]).xcode("bad-output", ["none", "deny"]).unreadable()
}

pub(crate) const ROWS: &[Row] = &[
    text(row("ends in the middle of a character", r#"exec "$CHILD" half-utf8"#)).reports(&["bad-output"]),
    row("denies with half a character in the reason", r#"printf '{"decision":"deny","reason":"a\342\202"}'"#)
        .says("deny"),
    row("denies in Latin-1", r#"printf '{"decision":"deny","reason":"caf\351"}'"#).says("deny"),
    row(
        "writes a character in two pieces",
        r#"printf '{"decision":"deny","reason":"'; exec "$CHILD" print-bytewise '€"}' 20"#,
    )
    .says("deny"),
    row("denies behind a byte order mark", concat!(r"printf '\357\273\277'; ", say_deny!())).says("deny"),
    text(row("denies in UTF-16", r#"exec "$CHILD" print-utf16 '{"decision":"deny"}'"#)).reports(&["bad-output"]),
    text_with_deny(row("denies among zero bytes", concat!(r"printf '\0'; ", say_deny!(), r"; printf '\0'"))),
    row(
        "writes control sequences into its reason",
        r#"printf '{"decision":"deny","reason":"\\u001b[2J\\u001b]0;x\\u0007"}'"#,
    )
    .says("deny"),
    row("writes raw control characters into its reason", r#"printf '{"decision":"deny","reason":"\033[2J"}'"#)
        .llxprt("answered", ["deny"; 3])
        .xcode("bad-output", ["none", "deny"])
        .reports(&["bad-output"]),
    row("writes half an escaped character into its reason", r#"echo '{"decision":"deny","reason":"\ud800"}'"#)
        .says("deny"),
    broken(row("denies and then allows", concat!(say_deny!(), r#"; echo '{"decision":"allow"}'"#))),
    broken(row("denies and then goes on talking", concat!(say_deny!(), "; echo done"))),
    text_with_deny(row("denies after a line of noise", concat!("echo loading; ", say_deny!()))),
    broken(row("prints half an answer", r#"printf '{"decision":"deny","reason":"'"#)),
    broken(row("denies with a comma too many", r#"echo '{"decision":"deny",}'"#)),
    broken(row("denies with a comment", r#"echo '{"decision":"deny" /* sure */}'"#)),
    broken(row("denies in single quotes", r#"echo "{'decision':'deny'}""#)),
    broken(row("denies beside a number with a leading zero", r#"echo '{"decision":"deny","n":01}'"#)),
    broken(row("denies beside a number that is none", r#"echo '{"decision":"deny","n":NaN}'"#)),
    row(
        "denies beside a number that no type holds",
        r#"echo '{"decision":"deny","n":1e999999,"m":123456789012345678901234567890}'"#,
    )
    .says("deny"),
    row("says allow and deny under the same key", r#"echo '{"decision":"allow","decision":"deny"}'"#).says("deny"),
    row("says deny and allow under the same key", r#"echo '{"decision":"deny","decision":"allow"}'"#).says("deny"),
    row("nests a value 100 000 levels deep", r#"exec "$CHILD" print-nested 100000"#).says("deny"),
    row("answers with 20 000 unknown keys", r#"exec "$CHILD" print-many-keys 20000"#).says("deny"),
    undecided(row("denies with a list", r#"echo '{"decision":["deny"]}'"#)),
    undecided(row("shouts", r#"echo '{"decision":"DENY"}'"#)),
    undecided(row("misspells the key", r#"echo '{"decison":"deny"}'"#)),
    row("denies with fields of the wrong type", r#"echo '{"decision":"deny","reason":{},"continue":"no","args":[]}'"#)
        .says("deny")
        .unreadable(),
    row("denies in the other dialect's words", r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'"#)
        .llxprt("answered", ["deny"; 3])
        .xcode("bad-output", ["none", "deny"]),
    row("encodes its answer twice", r#"echo '"{\"decision\":\"deny\"}"'"#)
        .llxprt("answered", ["deny"; 3])
        .xcode("bad-output", ["none", "deny"])
        .unreadable(),
    text_with_deny(row("answers with a list of answers", r#"echo '[{"decision":"deny"}]'"#)),
    row("answers with null", "echo null")
        .llxprt("silent", ["none", "ask", "deny"])
        .xcode("bad-output", ["none", "deny"])
        .unreadable(),
];
