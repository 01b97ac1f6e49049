//! Which commands compress and remove segments, the settings of both, and what a full disk does to each command that records.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use hookrail::recorder::{Entry, EntryKind, TrustChange, TrustEntry};
use hookrail_journal::{Journal, JournalOptions};
use hookrail_testkit::{HANG, wait_until};
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const FIRE: [&str; 5] = ["fire", "BeforeTool", "--tool", "write_file", "--journal"];

fn sandbox(command: &str) -> Sandbox {
    let sandbox = Sandbox::with_hook("BeforeTool", command);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    std::fs::remove_dir_all(folder(&sandbox)).unwrap();
    sandbox
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.join(".local/state/hookrail/journal")
}

fn configure(sandbox: &Sandbox, journal: &str) {
    let file = sandbox.home.join(".config/hookrail/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("[journal]\nsegment-mib = 1\n{journal}")).unwrap();
}

/// Writes segments that are complete, each with one record of that many bytes that hardly compress.
fn fill(sandbox: &Sandbox, segments: usize, bytes: usize) {
    let journal = Journal::new(JournalOptions { segment_bytes: 1 << 10, ..JournalOptions::new(folder(sandbox)) });
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..segments {
        let letters = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + u8::try_from(state >> 33 & 15).unwrap())
        });
        let text: String = letters.take(bytes).collect();
        let trust = TrustEntry { change: TrustChange::Granted, hook: Some(&text), event: None, content: None };
        let kind = EntryKind::Trust(trust);
        let entry = Entry { at: SystemTime::now(), host: None, project: Path::new("/p"), kind };
        journal.record_blocking(&entry).unwrap();
    }
}

/// The endings of all files in the journal that begin with a number.
fn segments(sandbox: &Sandbox) -> (usize, usize) {
    let entries = std::fs::read_dir(folder(sandbox)).unwrap();
    let names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    let count = |ending: &str| names.iter().filter(|name| name.starts_with('0') && name.ends_with(ending)).count();
    (count(".jsonl"), count(".jsonl.gz"))
}

fn is_sound(sandbox: &Sandbox) {
    sandbox.run(&["journal", "verify"]).ends_with(0);
}

/// A claude that begins or ends a session, or is about to call a tool.
fn bridge(sandbox: &Sandbox, event: &str) -> ProgramOutput {
    ProgramOutput::with_input(&mut sandbox.command(&["bridge", "claude"]), &bridged(sandbox, event).to_string())
}

fn bridged(sandbox: &Sandbox, event: &str) -> Value {
    json!({"session_id": "b", "hook_event_name": event, "cwd": sandbox.project, "transcript_path": "/t",
        "source": "startup", "reason": "other", "tool_name": "Bash", "tool_input": {"command": "ls"}})
}

#[test]
fn fire_compresses_what_is_complete_before_it_ends() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "");
    fill(&sandbox, 3, 1_100_000);
    assert_eq!(segments(&sandbox), (3, 0));
    sandbox.run(&FIRE).ends_with(0);
    assert_eq!(segments(&sandbox), (1, 3), "the last one is over `segment-mib`, so a fourth was begun");
    let is_temporary = |path: PathBuf| path.extension().is_some_and(|ending| ending == "tmp");
    assert!(!std::fs::read_dir(folder(&sandbox)).unwrap().any(|entry| is_temporary(entry.unwrap().path())));
    is_sound(&sandbox);
    // With room in the segment nothing is begun.
    sandbox.run(&FIRE).ends_with(0);
    assert_eq!(segments(&sandbox), (1, 3));
}

#[test]
fn the_bridge_compresses_when_a_session_begins_or_ends() {
    for event in ["SessionStart", "SessionEnd"] {
        let sandbox = sandbox("cat > /dev/null");
        configure(&sandbox, "");
        fill(&sandbox, 3, 1000);
        bridge(&sandbox, "PreToolUse");
        assert_eq!(segments(&sandbox), (3, 0));
        bridge(&sandbox, event);
        assert_eq!(segments(&sandbox), (1, 2), "{event}");
        is_sound(&sandbox);
    }
}

#[test]
fn a_server_and_the_agent_compress_when_they_begin() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "");
    fill(&sandbox, 3, 1000);
    let mut server = sandbox.command(&["serve", "--stdio"]).stdin(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(|| segments(&sandbox) == (1, 2), HANG), "{:?}", segments(&sandbox));
    drop(server.stdin.take());
    server.wait().unwrap();
    fill(&sandbox, 2, 1000);
    sandbox.write("talk.jsonl", format!("{}\n", json!({"text": "done"})));
    sandbox.run(&["agent", "--script", "talk.jsonl", "--prompt", "say done"]).ends_with(0);
    assert_eq!(segments(&sandbox).1, 4);
    is_sound(&sandbox);
}

#[test]
fn old_segments_go_after_retain_days_and_over_retain_mib() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "retain-mib = 1\n");
    fill(&sandbox, 4, 1_100_000);
    sandbox.run(&FIRE).ends_with(0);
    let (plain, sealed) = segments(&sandbox);
    assert!(plain == 1 && (1..4).contains(&sealed), "{plain} {sealed}");
    is_sound(&sandbox);
    // As if they had been begun long ago, and the last one on the day before this one.
    fill(&sandbox, 2, 1_100_000);
    let is_segment = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with('0');
    let entries = std::fs::read_dir(folder(&sandbox)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(is_segment).collect();
    files.sort();
    let yesterday = hookrail::event::timestamp(SystemTime::now() - Duration::from_secs(24 * 60 * 60));
    for (at, path) in files.iter().enumerate() {
        let day = if at + 1 == files.len() { &yesterday[..10] } else { "2020-01-01" };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (number, rest) = name.split_once('-').unwrap();
        let ending = rest.split_once('.').unwrap().1;
        std::fs::rename(path, path.with_file_name(format!("{number}-{day}.{ending}"))).unwrap();
    }
    std::fs::write(folder(&sandbox).join("lock"), "").unwrap();
    configure(&sandbox, "retain-days = 1\n");
    sandbox.run(&FIRE).ends_with(0);
    assert_eq!(segments(&sandbox), (1, 1));
    is_sound(&sandbox);
}

/// What no event failed for is said once, where the other warnings of the command go.
#[test]
fn what_keeps_a_journal_from_being_looked_after_is_reported() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "");
    fill(&sandbox, 2, 1_100_000);
    // A folder in the place of the temporary file keeps the first segment from being compressed.
    let first = std::fs::read_dir(folder(&sandbox)).unwrap().map(|entry| entry.unwrap().path());
    let first = first.filter(|path| path.to_string_lossy().ends_with(".jsonl")).min().unwrap();
    std::fs::create_dir(first.with_extension("jsonl.gz.tmp")).unwrap();
    let warned = "old segments of the journal cannot be compressed or removed: ";
    let fired = sandbox.run(&FIRE).ends_with(0);
    assert!(fired.stderr.contains(&format!("warning: {warned}")), "{}", fired.stderr);
    let bridged = bridge(&sandbox, "SessionStart").ends_with(0);
    assert!(bridged.stderr.contains(&format!("hookrail: {warned}")), "{}", bridged.stderr);
    is_sound(&sandbox);
}

#[cfg(unix)]
#[test]
fn a_journal_that_others_could_read_is_closed_and_reported() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox("cat > /dev/null");
    fill(&sandbox, 1, 1000);
    let open = || std::fs::set_permissions(folder(&sandbox), PermissionsExt::from_mode(0o755)).unwrap();
    let warned = "could be read by other users, with its records and its key; now only its owner can";
    open();
    let fired = sandbox.run(&FIRE).ends_with(0);
    assert!(fired.stderr.contains(warned), "{}", fired.stderr);
    assert!(!sandbox.run(&FIRE).ends_with(0).stderr.contains(warned), "once");
    open();
    assert!(bridge(&sandbox, "PreToolUse").ends_with(0).stderr.contains(warned));
    open();
    let mut server = sandbox.command(&["serve", "--stdio"]).stdin(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(log.into_iter().any(|line| line.contains(warned)));
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[test]
fn a_compressed_segment_that_was_deleted_is_missed() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "");
    fill(&sandbox, 3, 1_100_000);
    sandbox.run(&FIRE).ends_with(0);
    let index = std::fs::read_to_string(folder(&sandbox).join("index.jsonl")).unwrap();
    let last: Value = serde_json::from_str(index.lines().last().unwrap()).unwrap();
    let head = last["hash"].as_str().unwrap();
    let found = sandbox.run(&["journal", "verify", "--head", head]).ends_with(0).stdout;
    assert!(found.contains("the given head is record 3\n"), "{found}");
    for entry in std::fs::read_dir(folder(&sandbox)).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with('0') {
            std::fs::remove_file(path).unwrap();
        }
    }
    let found = sandbox.run(&["journal", "verify", "--head", head]).ends_with(1).stdout;
    assert!(found.contains(":0: records up to 3 were complete in this segment and are gone"), "{found}");
    assert!(found.contains("the given head is not in the journal"), "{found}");
}

/// The verifier that docs/how-to/audit.md shows, run on the journal; none if there is no Python here.
fn verify_in_python(sandbox: &Sandbox) -> Option<ProgramOutput> {
    if Command::new("python3").arg("--version").output().is_err() {
        let is_required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!is_required, "HOOKRAIL_REQUIRE_ALL=1, and python3 is missing");
        println!("skipped: python3 is missing");
        return None;
    }
    let verifier = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/journal/verify.py");
    let mut command = sandbox.place_command("python3");
    Some(ProgramOutput::capture(command.arg(verifier).arg(folder(sandbox))))
}

/// The names of files in the journal with that ending, in order.
fn files(sandbox: &Sandbox, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(sandbox)).unwrap().map(|entry| entry.unwrap().path());
    let is_segment = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with('0');
    let mut found: Vec<PathBuf> =
        entries.filter(|path| is_segment(path) && path.to_string_lossy().ends_with(ending)).collect();
    found.sort();
    found
}

#[test]
fn the_verifier_in_python_agrees_about_journals_that_were_cut_off_compressed_or_cleared() {
    let sandbox = sandbox("cat > /dev/null");
    configure(&sandbox, "retain-mib = 1\n");
    fill(&sandbox, 4, 1_100_000);
    sandbox.run(&FIRE).ends_with(0);
    fill(&sandbox, 2, 1000);
    let index = std::fs::read_to_string(folder(&sandbox).join("index.jsonl")).unwrap();
    assert!(index.contains("removed") && index.contains("sealed"), "{index}");
    // Sealing was ended while it wrote, and again after it had written.
    let sealed = files(&sandbox, ".jsonl.gz").pop().unwrap();
    std::fs::write(sealed.with_extension("gz.tmp"), "half of it").unwrap();
    let (plain, ended) = (files(&sandbox, ".jsonl")[0].clone(), files(&sandbox, ".jsonl").pop().unwrap());
    std::fs::write(plain.with_extension("jsonl.gz"), "not even looked at").unwrap();
    // A writer was ended.
    std::fs::OpenOptions::new().append(true).open(&ended).unwrap().write_all(b"{\"seq\":9,").unwrap();
    is_sound(&sandbox);
    let head = sandbox.run(&["journal", "head"]).ends_with(0).stdout;
    let Some(ran) = verify_in_python(&sandbox) else { return };
    assert_eq!((ran.code, ran.stdout), (0, head), "{}", ran.stderr);
    // What is damaged is damaged for both. One bit makes a line of the index one of nothing.
    let index_file = folder(&sandbox).join("index.jsonl");
    let (before, behind) = index.rsplit_once(':').unwrap();
    std::fs::write(&index_file, format!("{before};{behind}")).unwrap();
    let found = sandbox.run(&["journal", "verify", "--json"]).ends_with(1).json();
    assert_eq!(
        (&found["problems"][0]["segment"], &found["problems"][0]["kind"]),
        (&json!("index.jsonl"), &json!("no-index-line"))
    );
    verify_in_python(&sandbox).unwrap().ends_with(1);
    std::fs::write(&index_file, &index).unwrap();
    is_sound(&sandbox);
    let text = std::fs::read(&plain).unwrap();
    for (damage, told) in [
        (text.iter().map(|byte| if *byte == b'/' { b'x' } else { *byte }).collect(), "was changed"),
        (Vec::new(), "a record is missing before"),
    ] {
        std::fs::write(&plain, damage).unwrap();
        sandbox.run(&["journal", "verify"]).ends_with(1);
        let ran = verify_in_python(&sandbox).unwrap().ends_with(1);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    for path in files(&sandbox, "") {
        std::fs::remove_file(path).unwrap();
    }
    sandbox.run(&["journal", "verify"]).ends_with(1);
    let ran = verify_in_python(&sandbox).unwrap().ends_with(1);
    assert!(ran.stderr.contains("the last records are gone"), "{}", ran.stderr);
}

/// A command in a shell that limits the size of files to less than the journal has.
fn without_room(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut shell = sandbox.place_command("sh");
    shell.args(["-c", "ulimit -f 200; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_hookrail")]).args(args);
    shell
}

#[test]
fn a_full_disk_is_decided_by_the_bridge_and_by_a_server() {
    let sandbox = sandbox("cat > /dev/null");
    fill(&sandbox, 1, 500_000);
    for (policy, is_denied) in [("warn", false), ("block", true)] {
        configure(&sandbox, &format!("on_failure = \"{policy}\"\n"));
        let mut command = without_room(&sandbox, &["bridge", "claude"]);
        let call = bridged(&sandbox, "PreToolUse").to_string();
        let answer = ProgramOutput::with_input(&mut command, &call).ends_with(0);
        assert_eq!(answer.stdout.contains("was not recorded"), is_denied, "{policy}: {}", answer.stdout);
        assert_eq!(answer.stdout.contains("\"deny\""), is_denied, "{policy}: {}", answer.stdout);
        let mut server = without_room(&sandbox, &["serve", "--stdio"]).stdin(Stdio::piped()).spawn().unwrap();
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "BeforeTool",
            "input": {"tool_name": "bash", "tool_input": {}}}});
        writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
        let answer = lines.find(|line| line.contains("HOOK_EXECUTION_RESPONSE")).unwrap();
        assert_eq!(answer.contains("\"deny\""), is_denied, "{policy}: {answer}");
        assert!(answer.contains("record-failed") || is_denied, "{policy}: {answer}");
        drop(server.stdin.take());
        server.wait().unwrap();
    }
    is_sound(&sandbox);
}

/// The agent records by default, and what the user answered to a question of a hook.
#[test]
fn the_agent_records_events_and_answers() {
    let sandbox = sandbox(r#"cat >/dev/null; echo '{"decision":"ask","reason":"sure?"}'"#);
    let call = json!({"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]});
    sandbox.write("talk.jsonl", format!("{call}\n{}\n", json!({"text": "done"})));
    sandbox.run(&["agent", "--script", "talk.jsonl", "--prompt", "write"]);
    let log = sandbox.run(&["log", "--json"]).ends_with(0).stdout;
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = records.iter().find(|record| record["event"] == "before-tool" && record["kind"] == "fired").unwrap();
    assert_eq!((&asked["decision"], &asked["host"]["name"]), (&json!("ask"), &json!("hookrail agent")));
    let answered = records.iter().find(|record| record["kind"] == "answered").unwrap();
    assert_eq!((&answered["fire"], &answered["operation"]), (&asked["fire"], &json!("write_file")));
    assert_eq!((&answered["answer"], &answered["reason"]), (&json!("unavailable"), &json!("sure?")));
    assert_eq!(answered["input"]["path"], "a.txt", "{answered}");
}
