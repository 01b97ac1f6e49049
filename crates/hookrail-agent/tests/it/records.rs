//! What was acknowledged is in the session, and nothing is sent to a model that is not: full disks, cut lines, two agents
//! on one session, clocks that were set back.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::talk::Talk;
use crate::world::{Shows as _, World, says, turns};

/// A real disk of 64 KiB, which is full when the test wants it.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// None where this user may not mount one.
    fn mounted(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs"]).arg(folder.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        eprintln!("skipped: {test} needs a user who may mount a disk");
        None
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn filler(&self) -> PathBuf {
        self.folder.path().join("filler")
    }

    /// Fills the disk up to some room.
    fn fill(&self, room: u64) {
        let mut filler = fs::File::create(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
        let length = filler.metadata().unwrap().len();
        filler.set_len(length - room).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

/// The lines of a session's file, all of which must be whole.
#[track_caller]
fn whole_lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "the last line has its end: {text}");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn session_file(talk: &mut Talk) -> PathBuf {
    PathBuf::from(talk.next("session")["file"].as_str().unwrap())
}

#[test]
fn with_a_full_disk_the_model_is_not_asked_and_later_prompts_are_recorded() {
    let Some(disk) = Disk::mounted("with_a_full_disk_the_model_is_not_asked_and_later_prompts_are_recorded") else {
        return;
    };
    let world = World::new(turns(json!([
        {"text": "answer one"},
        {"text": "answer three", "expect": {"contains": ["first prompt", "third prompt"], "lacks": ["second prompt"]}}
    ])));
    let mut talk = Talk::start(&world, &["--session-dir", disk.path()]);
    let file = session_file(&mut talk);
    assert_eq!(talk.prompt("first prompt")["end"], "answered");
    disk.fill(0);
    for _ in 0..2 {
        let failed = talk.prompt(&format!("second prompt {}", "x".repeat(10_000)));
        assert_eq!(failed["end"], "failed");
        let detail = failed["detail"].as_str().unwrap();
        assert!(detail.contains("cannot be recorded") && detail.contains("No space left on device"), "{detail}");
        whole_lines(&file);
    }
    disk.make_room();
    assert_eq!(talk.prompt("third prompt")["end"], "answered");
    talk.finish().ends_with(0);
    whole_lines(&file);
    let expect =
        json!({"contains": ["first prompt", "answer one", "third prompt", "answer three"], "lacks": ["second prompt"]});
    world.script(turns(json!([{"text": "yes", "expect": expect}])));
    let ran = world.run(&["--session-dir", disk.path(), "--resume", "--headless", "--prompt", "go on"]).ends_with(0);
    assert!(ran.shown("warning").is_empty(), "{}", ran.stdout);
}

#[test]
fn an_answer_that_cannot_be_recorded_runs_no_tools() {
    let Some(disk) = Disk::mounted("an_answer_that_cannot_be_recorded_runs_no_tools") else { return };
    let call = json!({"name": "write_file", "args": {"path": "a.txt", "content": "x"}});
    let world = World::new(turns(json!([{"text": "x".repeat(10_000), "calls": [call]}, {"text": "never said"}])));
    let mut talk = Talk::start(&world, &["--session-dir", disk.path()]);
    let file = session_file(&mut talk);
    disk.fill(0);
    let failed = talk.prompt("go");
    assert_eq!(failed["end"], "failed");
    assert!(!world.exists("a.txt"));
    talk.finish().ends_with(1);
    whole_lines(&file);
}

#[test]
fn what_hooks_say_at_the_beginning_is_recorded_or_the_agent_does_not_begin() {
    let name = "what_hooks_say_at_the_beginning_is_recorded_or_the_agent_does_not_begin";
    let Some(disk) = Disk::mounted(name) else { return };
    let context = r#"cat >/dev/null; printf '{"hookSpecificOutput":{"additionalContext":"%s"}}' "$(head -c 20000 /dev/zero | tr '\0' x)""#;
    let world = World::with(&[("SessionStart", "", context), ("SessionEnd", "", "cat > end.json")], says("never said"));
    disk.fill(8192);
    let ran = world.run(&["--session-dir", disk.path(), "--prompt", "go"]).ends_with(1);
    assert!(ran.stderr.contains("the effects of hooks cannot be recorded"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("never said"));
    assert!(world.exists("end.json"), "the session that began has ended");
}

#[test]
fn a_file_that_cannot_be_changed_for_lack_of_room_stays_as_it_was() {
    let Some(disk) = Disk::mounted("a_file_that_cannot_be_changed_for_lack_of_room_stays_as_it_was") else { return };
    let path = disk.folder.path().join("notes");
    fs::write(&path, "precious").unwrap();
    let long = "y".repeat(10_000);
    let world = World::new(turns(json!([
        {"calls": [{"name": "write_file", "args": {"path": path, "content": long}}]},
        {"calls": [{"name": "replace", "args": {"path": path, "old_string": "precious", "new_string": long}}]},
        {"text": "done", "expect": {"contains": ["No space left on device"]}}
    ])));
    disk.fill(0);
    world.run(&["--allow", disk.path(), "--prompt", "go"]).ends_with(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_not_the_end() {
    let world = World::with(
        &[("SessionEnd", "", "cat > end.json")],
        turns(json!([{"text": "answer", "expect": {"lacks": ["xxxx"]}}])),
    );
    let agent = world.agent(&["--headless"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16; exec \"$@\"", "sh"]).arg(agent.get_program()).args(agent.get_args());
    limited.current_dir(&world.project).env_clear();
    limited.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut talk = Talk::of(&mut limited);
    let file = session_file(&mut talk);
    let failed = talk.prompt(&"x".repeat(40_000));
    assert!(failed["detail"].as_str().unwrap().contains("File too large"), "{failed}");
    assert_eq!(talk.prompt("short")["end"], "answered");
    talk.finish().ends_with(0);
    assert!(world.exists("end.json"));
    assert_eq!(whole_lines(&file).iter().filter(|line| line["type"] == "message").count(), 2);
}

#[test]
fn a_session_file_that_was_removed_is_noticed_at_the_end_of_the_turn() {
    let world = World::new(turns(json!([{"text": "one"}, {"text": "two"}, {"text": "three"}])));
    let mut talk = Talk::start(&world, &[]);
    let file = session_file(&mut talk);
    assert_eq!(talk.prompt("first")["end"], "answered");
    fs::remove_file(&file).unwrap();
    let failed = talk.prompt("second");
    assert!(failed["detail"].as_str().unwrap().contains("it was removed; `/clear` starts a new session"), "{failed}");
    talk.send("/clear");
    let new = session_file(&mut talk);
    assert_eq!(talk.prompt("third")["end"], "answered");
    talk.finish().ends_with(0);
    assert!(whole_lines(&new).len() >= 3);
}

#[test]
fn one_session_has_one_agent_and_a_copy_can_be_made() {
    let world = World::new(turns(json!([{"text": "answer one"}, {"text": "answer two"}])));
    let mut first = Talk::start(&world, &[]);
    let file = session_file(&mut first);
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    first.prompt("first prompt");
    world.script(turns(json!([{"text": "copied", "expect": {"contains": ["first prompt", "answer one"]}}])));
    for args in [["--resume", "--prompt", "second prompt"], [&format!("--resume={id}"), "--prompt", "second prompt"]] {
        let refused = world.run(&args).ends_with(1);
        let wanted = format!("the session `{id}` is in use by process {}", first.id());
        assert!(refused.stderr.contains(&wanted) && refused.stderr.contains("--fork"), "{}", refused.stderr);
    }
    let inside = world.lines(&[], &[&format!("/resume {id}")]).ends_with(0);
    assert!(inside.texts("error", "text")[0].contains("is in use by process"), "{}", inside.stdout);
    let copy = world.run(&["--resume", &id, "--fork", "--headless", "--prompt", "prompt of the copy"]).ends_with(0);
    let copied = PathBuf::from(copy.texts("session", "file")[0].clone());
    assert_ne!(copied, file);
    first.prompt("third prompt");
    first.finish().ends_with(0);
    let texts = |file: &Path| fs::read_to_string(file).unwrap();
    assert!(texts(&file).contains("third prompt") && !texts(&file).contains("prompt of the copy"));
    assert!(texts(&copied).contains("first prompt") && !texts(&copied).contains("third prompt"));
    world.script(says("it is free again"));
    world.run(&["--resume", &id, "--prompt", "fourth prompt"]).ends_with(0);
    let ids: Vec<Value> = whole_lines(&file).into_iter().skip(1).map(|line| line["id"].clone()).collect();
    assert!(ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id)), "{ids:?}");
}

#[test]
fn of_many_agents_that_want_one_session_one_has_it() {
    let world = World::new(says("began"));
    world.say("begin").ends_with(0);
    let hook = "cat >/dev/null; while [ ! -e go-on ]; do sleep 0.05; done";
    world.hooks(&[("BeforeModel", "", hook)]);
    world.script(says("mine"));
    let start = |_| world.agent(&["--resume", "--prompt", "mine alone"]).spawn().unwrap();
    let mut agents: Vec<_> = (0..6).map(start).collect();
    let ended = || agents.iter_mut().filter_map(|agent| agent.try_wait().unwrap()).count();
    let mut ended = ended;
    assert!(hookrail_testkit::wait_until(|| ended() == 5, hookrail_testkit::HANG), "five are refused");
    world.write("go-on", "");
    let codes: Vec<_> = agents.into_iter().map(|agent| agent.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    let prompts = fs::read_to_string(world.sessions().last().unwrap()).unwrap().matches("mine alone").count();
    assert_eq!(prompts, 1);
}

#[test]
fn the_session_that_was_used_last_is_taken_up_whatever_the_clock_says() {
    let world = World::new(turns(json!([{"text": "ok", "repeat": true}])));
    let began = |prompt: &str| world.say(prompt).ends_with(0).texts("session", "id")[0].clone();
    let (old, new) = (began("in the old one"), began("in the new one"));
    let resumed = |args: &[&str]| world.run(args).ends_with(0).texts("session", "id")[0].clone();
    assert_eq!(resumed(&["--resume", "--headless", "--prompt", "x"]), new);
    assert_eq!(resumed(&["--resume", &old, "--headless", "--prompt", "x"]), old);
    // A session that was begun, and a file that was changed, while the clock was ahead.
    let folder = world.sessions()[0].parent().unwrap().to_owned();
    let ahead = folder.join("9999999999999-00000000.jsonl");
    fs::write(&ahead, "{\"type\":\"session\",\"version\":1,\"id\":\"9999999999999-00000000\"}\n").unwrap();
    let tomorrow = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
    for file in [ahead, folder.join(format!("{new}.jsonl"))] {
        fs::File::options().append(true).open(file).unwrap().set_modified(tomorrow).unwrap();
    }
    assert_eq!(resumed(&["--resume", "--headless", "--prompt", "x"]), old, "it was used last");
    let ran = world.lines(&[], &["/resume", "/sessions"]).ends_with(0);
    assert_eq!(ran.texts("session", "id").last(), Some(&old), "the command means the same one");
    let listed: Vec<String> = ran.shown("listing")[0]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap().trim_start_matches(['*', ' ']).to_owned())
        .collect();
    assert_eq!(listed.last(), Some(&old));
    assert!(listed.contains(&new) && listed.len() == 4, "{listed:?}");
}

#[test]
fn of_two_agents_at_work_the_one_that_recorded_last_used_its_session_last() {
    let world = World::new(turns(json!([{"text": "ok", "repeat": true}])));
    let (mut one, mut two) = (Talk::start(&world, &[]), Talk::start(&world, &[]));
    let (first, second) = (session_file(&mut one), session_file(&mut two));
    two.prompt("x");
    one.prompt("x");
    two.finish().ends_with(0);
    one.finish().ends_with(0);
    let resumed = world.run(&["--resume", "--headless", "--prompt", "x"]).ends_with(0).texts("session", "file");
    assert_eq!(resumed[0], first.to_str().unwrap());
    assert_ne!(first, second);
}
