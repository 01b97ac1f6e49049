//! Lines of the journal's form.

use serde_json::{Value, json};

/// The line of a record.
pub(crate) fn line(record: &Value) -> String {
    record.to_string()
}

/// A record of a fired event in which three hooks took part: one allowed, one rewrote, one denied if asked to.
pub(crate) fn fired(seq: u64) -> Value {
    let decision = match seq % 5 {
        0 => json!("deny"),
        3 => json!("ask"),
        _ => Value::Null,
    };
    let (tool, input) = match seq % 3 {
        0 => ("run_shell_command", json!({ "command": format!("git push --force origin main # {seq}") })),
        1 => ("write_file", json!({ "file_path": format!("src/part{}.rs", seq % 40), "content": "fn main() {}\n" })),
        _ => ("read_file", json!({ "path": format!("docs/page{}.md", seq % 17) })),
    };
    let reason = (decision == "deny").then_some(match seq % 3 {
        0 => "a forced push rewrites what others have; use --force-with-lease",
        1 => "this folder is generated; change its template",
        _ => "this page is not published yet",
    });
    let source = |line: u64| json!({"kind": "project", "file": "/home/me/project/.llxprt/settings.json", "line": line});
    let run = |hook: &str, end: &str, decision: &Value, ms: f64, line: u64, code: Option<u8>| {
        json!({"hook": hook, "dialect": "llxprt", "source": source(line), "end": end, "exitCode": code, "signal": null,
            "decision": decision, "durationMs": ms, "stdout": "", "stderr": reason.unwrap_or_default()})
    };
    let rewrite = (seq % 21 == 1)
        .then(|| json!({"file_path": format!("src/part{}.rs", seq % 40), "content": "// formatted\nfn main() {}\n"}));
    let time = |offset: f64| offset + (seq % 11) as f64;
    let second = seq % 60;
    let (minute, hour) = (seq / 60 % 60, (9 + seq / 3600) % 24);
    let shadow = if seq.is_multiple_of(6) {
        json!([{"hook": "new-guard", "dialect": "llxprt", "source": source(40), "exitCode": 0, "signal": null, "durationMs": 4.0, "decision": "deny", "end": "answered", "reason": "would have blocked", "stop": false, "stopReason": null, "additionalContext": null, "rewrite": {"toolInput": {"command": "true"}}}])
    } else {
        json!([])
    };
    let outcome = json!({"event": "before-tool", "decision": decision, "reason": reason, "stop": false, "stopReason": null, "toolInput": rewrite,
        "toolOutput": null, "toolConfig": null, "prompt": null, "llmRequest": null, "llmResponse": null, "nativeRequest": null,
        "nativeResponse": null, "messages": [], "entries": [], "result": null, "additionalContext": null, "systemMessage": null,
        "suppressOutput": false, "clearContext": false, "aggregated": null,
        "runs": [run("audit", "silent", &Value::Null, time(3.0), 8, Some(0)),
            run("format", "answered", &Value::Null, time(9.0), 14, Some(0)),
            run("guard-push", if seq % 25 == 4 { "timed-out" } else { "exited" }, &decision, time(6.0), 21, Some(2))],
        "skipped": [{"hook": "lint", "dialect": "llxprt", "why": "matcher", "detail": format!("`^edit$` does not match tool_name `{tool}`"), "source": source(30)},
            {"hook": "notify", "dialect": "xcode", "why": "untrusted", "detail": "the project's hook is not granted", "source": source(2)}],
        "shadow": shadow,
        "diagnostics": []});
    let mut record = json!({
        "seq": seq, "prev": "9f86", "v": 1, "at": format!("2026-11-16T{hour:02}:{minute:02}:{second:02}.123Z"), "kind": "fired",
        "machine": "laptop", "user": "1000", "host": {"name": "hookrail serve", "version": "0.1.0"},
        "project": "/home/me/project", "fire": format!("5c1f0a9b-{seq}"), "session": format!("s{}", seq % 9),
        "event": "before-tool", "tool": tool, "cwd": "/home/me/project", "transcript": "/home/me/.state/transcript.jsonl",
        "config": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "decision": decision,
        "input": {"tool_name": tool, "tool_input": input, "call_id": "c1"},
        "outcome": outcome,
        "hooks": [
            {"id": "aa01", "hook": "audit", "dialect": "llxprt", "layer": "system", "fingerprint": "2c26", "end": "silent", "exit": 0, "decision": null, "start": 0.2, "ms": time(3.0)},
            {"id": "aa02", "hook": "format", "dialect": "llxprt", "layer": "user", "fingerprint": "2c27", "end": "answered", "exit": 0, "decision": null, "start": 0.3, "ms": time(9.0)},
            {"id": "aa03", "hook": "guard-push", "dialect": "llxprt", "layer": "project", "fingerprint": format!("f{}", seq % 2), "end": if seq % 25 == 4 { "timed-out" } else { "exited" }, "exit": 2, "decision": decision, "start": time(9.6), "ms": time(6.0)},
        ],
        "ms": time(17.0), "hash": "6030",
    });
    if seq.is_multiple_of(6) {
        record["shadow"] = json!([{"id": "bb02", "hook": "new-guard", "dialect": "llxprt", "layer": "user", "fingerprint": "2c29", "end": "answered", "exit": 0, "decision": "deny", "ms": 4.0}]);
    }
    if seq % 25 == 4 {
        record["hooks"][2]["health"] = json!("failed");
    }
    record
}

/// What the user answered to the question of an event.
pub(crate) fn answered(seq: u64, fire: u64) -> Value {
    json!({"seq": seq, "prev": "9f", "v": 1, "at": "2026-11-16T03:00:10.000Z", "kind": "answered", "machine": "laptop",
        "user": "1000", "project": "/home/me/project", "fire": format!("5c1f0a9b-{fire}"),
        "session": "s3", "event": "before-tool", "operation": "run_shell_command", "answer": "refused", "because": "not on a Friday",
        "reason": "a guard asks", "input": {"command": "git push --force"}, "hash": "61"})
}

/// An outcome that is not the recorded one.
pub(crate) fn corrected(seq: u64, fire: u64) -> Value {
    json!({"seq": seq, "prev": "9f", "v": 1, "at": "2026-11-16T03:00:12.000Z", "kind": "corrected", "machine": "laptop",
        "user": "1000", "host": {"name": "hookrail serve", "version": "0.1.0"}, "project": "/home/me/project", "fire": format!("5c1f0a9b-{fire}"),
        "session": "s3", "event": "before-tool", "tool": "run_shell_command", "decision": "deny", "reason": "the record could not be made safe", "hash": "63"})
}

/// Something that an agent could not be made to do.
pub(crate) fn lost(seq: u64) -> Value {
    json!({"seq": seq, "prev": "9f", "v": 1, "at": "2026-11-16T03:00:13.000Z", "kind": "lost", "machine": "laptop",
        "user": "1000", "host": {"name": "hookrail bridge claude", "version": "0.1.0"}, "project": "/home/me/project",
        "fire": "5c1f0a9b-3", "session": "s3", "event": "before-tool", "tool": "run_shell_command", "loss": "loss.ask", "instead": "the call was denied", "hash": "64"})
}

/// Trust that was granted.
pub(crate) fn trust(seq: u64) -> Value {
    json!({"seq": seq, "prev": "9f", "v": 1, "at": "2026-11-16T03:00:14.000Z", "kind": "trust", "machine": "laptop",
        "user": "1000", "host": {"name": "hookrail trust", "version": "0.1.0"}, "project": "/home/me/project",
        "change": "granted", "hook": "guard-push", "event": "before-tool", "content": "2c26b46b68ffc68ff99b453c1d304134", "hash": "65"})
}

/// A shadow hook that ended after the outcome of its event.
pub(crate) fn late(seq: u64, fire: u64) -> Value {
    let source = json!({"kind": "user", "file": "/home/me/.llxprt/settings.json", "line": 3});
    let verdict = json!({"hook": "slow-guard", "dialect": "llxprt", "source": source, "end": "exited", "exitCode": 2, "signal": null,
        "durationMs": 900.0, "decision": "deny", "reason": "slow and strict", "stop": false, "stopReason": null,
        "additionalContext": null, "rewrite": {}});
    json!({"seq": seq, "prev": "9f", "v": 1, "at": "2026-11-16T03:00:11.000Z", "kind": "late", "machine": "laptop",
        "user": "1000", "host": {"name": "hookrail serve", "version": "0.1.0"}, "project": "/home/me/project", "fire": format!("5c1f0a9b-{fire}"),
        "session": "s3", "event": "before-tool", "why": "shadow", "reason": "slow and strict",
        "outcome": {"shadow": [verdict]},
        "hooks": [{"id": "bb01", "hook": "slow-guard", "dialect": "llxprt", "layer": "user", "fingerprint": "2c28", "end": "exited", "exit": 2, "decision": "deny", "start": 1.0, "ms": 900.0}], "hash": "62"})
}

/// A record of every kind but the first.
pub(crate) fn others(seq: u64, fire: u64) -> [Value; 5] {
    [late(seq, fire), answered(seq + 1, fire), corrected(seq + 2, fire), lost(seq + 3), trust(seq + 4)]
}
