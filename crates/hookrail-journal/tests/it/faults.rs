//! Places that cannot be used, and disks without room.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::SystemTime;

use hookrail::recorder::{Entry, EntryKind, Interest, RecordErrorKind, Recorder as _, TrustChange, TrustEntry};
use hookrail_journal::{Filter, Journal, JournalOptions, JournalWarning, ShippingPosition};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::{append, journal, place, records, segment_files, texts};

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[test]
fn links_are_not_followed() {
    let (dir, folder) = place();
    let elsewhere = dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    let error = append(&journal(&folder), "a").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::Unsafe, "{error}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(journal(&folder).read(Filter::default()).is_err());
    assert!(journal(&folder).verify(None).is_err());
    std::fs::remove_file(&folder).unwrap();
    // A segment, the lock or the key that is a link.
    append(&journal(&folder), "a").unwrap();
    for file in [segment_files(&folder).remove(0), folder.join("lock"), folder.join("key")] {
        let target = dir.path().join("target");
        std::fs::rename(&file, &target).unwrap();
        symlink(&target, &file).unwrap();
        let before = std::fs::read(&target).unwrap();
        let error = append(&journal(&folder), "b").unwrap_err();
        assert_eq!(error.kind, RecordErrorKind::Unsafe, "{}: {error}", file.display());
        assert_eq!(std::fs::read(&target).unwrap(), before);
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(&target, &file).unwrap();
    }
    append(&journal(&folder), "b").unwrap();
    assert_eq!(texts(&journal(&folder)), ["a", "b"]);
}

#[test]
fn a_segment_with_a_second_name_is_not_written() {
    let (dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    std::fs::hard_link(segment_files(&folder).remove(0), dir.path().join("other")).unwrap();
    assert_eq!(append(&journal(&folder), "b").unwrap_err().kind, RecordErrorKind::Unsafe);
}

#[test]
fn a_folder_that_others_can_write_is_not_used() {
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    let error = append(&journal(&folder), "b").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::Unsafe, "{error}");
}

/// The folder and its files are closed, and the host can say so.
#[test]
fn a_folder_that_others_can_read_is_closed_to_them() {
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    for by_maintenance in [false, true] {
        files().for_each(|file| std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap());
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        let journal = journal(&folder);
        if by_maintenance {
            journal.maintain().unwrap();
        } else {
            append(&journal, "b").unwrap();
        }
        assert_eq!(journal.take_warnings(), [JournalWarning::WasReadable(folder.clone())]);
        append(&journal, "c").unwrap();
        assert_eq!(journal.take_warnings(), [], "once");
        assert_eq!(mode(&folder), 0o700);
        for file in [segment_files(&folder).remove(0), folder.join("key"), folder.join("lock")] {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}

#[test]
fn what_is_in_the_place_of_a_folder_is_named() {
    let refused = |put: &dyn Fn(&Path)| {
        let (dir, folder) = place();
        put(dir.path());
        let error = append(&journal(&folder), "a").unwrap_err();
        assert_eq!(error.kind, RecordErrorKind::Unsafe, "{error}");
        error.message.replace(dir.path().to_str().unwrap(), "")
    };
    let file = |dir: &Path| std::fs::write(dir.join("state"), "").unwrap();
    assert_eq!(refused(&file), "the journal cannot be written: `/state` is no folder");
    let link = |dir: &Path| symlink(dir.join("nothing"), dir.join("state")).unwrap();
    assert_eq!(refused(&link), "the journal cannot be written: `/state` is a link that leads nowhere");
    let folder = |dir: &Path| {
        std::fs::create_dir_all(dir.join("state/hookrail")).unwrap();
        std::fs::write(dir.join("state/hookrail/journal"), "").unwrap();
    };
    assert_eq!(refused(&folder), "the journal cannot be written: `/state/hookrail/journal` is no folder");
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    if !is_root() {
        return;
    }
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    std::os::unix::fs::chown(&folder, Some(12345), Some(12345)).unwrap();
    let error = append(&journal(&folder), "b").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::Unsafe, "{error}");
    std::os::unix::fs::chown(&folder, Some(0), Some(0)).unwrap();
    let file = segment_files(&folder).remove(0);
    std::os::unix::fs::chown(&file, Some(12345), Some(12345)).unwrap();
    let error = append(&journal(&folder), "b").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::Unsafe, "{error}");
}

#[test]
fn a_pipe_in_the_place_of_a_segment_is_not_waited_for() {
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    let file = segment_files(&folder).remove(0);
    std::fs::remove_file(&file).unwrap();
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(append(&journal(&folder), "b").is_err());
    assert!(journal(&folder).read(Filter::default()).unwrap().all(|record| record.is_err()));
}

/// A child of this test: it may write no file beyond a few KiB.
#[test]
fn writer_without_room() {
    let Some(folder) = std::env::var_os("HOOKRAIL_TEST_NO_ROOM") else { return };
    let folder = std::path::PathBuf::from(folder);
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    let journal = journal(&folder);
    append(&journal, "a").unwrap();
    let used = std::fs::metadata(segment_files(&folder).remove(0)).unwrap().len();
    setrlimit(Resource::RLIMIT_FSIZE, used + 100, hard).unwrap();
    for _ in 0..3 {
        let error = append(&journal, "too long for the room that is left").unwrap_err();
        assert_eq!(error.kind, RecordErrorKind::NoSpace, "{error}");
    }
    setrlimit(Resource::RLIMIT_FSIZE, hard, hard).unwrap();
    append(&journal, "b").unwrap();
    assert_eq!(texts(&journal), ["a", "b"]);
    assert!(journal.verify(None).unwrap().is_sound());
    println!("the child has come to its end");
}

#[test]
fn a_full_disk_is_a_clear_error_and_takes_back_what_was_begun() {
    let (_dir, folder) = place();
    // The signal is ignored, because it would end the process, as it would end any other program.
    let output = std::process::Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap())
        .args(["faults::writer_without_room", "--exact", "--nocapture"])
        .env("HOOKRAIL_TEST_NO_ROOM", &folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("come to its end"), "{text}");
}

#[test]
fn a_lock_that_is_held_too_long_is_a_clear_error() {
    let (_dir, folder) = place();
    let journal: Journal = journal(&folder);
    append(&journal, "a").unwrap();
    let lock = std::fs::File::open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let error = append(&journal, "b").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::NotWritable, "{error}");
    lock.unlock().unwrap();
    append(&journal, "c").unwrap();
    assert_eq!(texts(&journal), ["a", "c"]);
}

/// Only the first record waits for the holder; the server that records would otherwise stall for every event.
#[test]
fn a_lock_that_stays_held_is_waited_for_once() {
    let (_dir, folder) = place();
    let journal: Journal = journal(&folder);
    append(&journal, "a").unwrap();
    let lock = std::fs::File::open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let begin = std::time::Instant::now();
    for _ in 0..10 {
        assert_eq!(append(&journal, "b").unwrap_err().kind, RecordErrorKind::NotWritable);
    }
    // One wait is 2 s, ten would be 20 s.
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
    lock.unlock().unwrap();
    append(&journal, "c").unwrap();
    assert_eq!(texts(&journal), ["a", "c"]);
}

/// Whatever cut the key short: no value can be compared with that of an old record, but recording goes on.
#[test]
fn a_key_that_was_cut_short_is_made_anew() {
    for length in [0, 31] {
        let (_dir, folder) = place();
        append(&journal(&folder), "a").unwrap();
        let key = folder.join("key");
        std::fs::OpenOptions::new().write(true).open(&key).unwrap().set_len(length).unwrap();
        append(&journal(&folder), "b").unwrap();
        let made = std::fs::read(&key).unwrap();
        assert_eq!(made.len(), 32);
        append(&journal(&folder), "c").unwrap();
        assert_eq!(std::fs::read(&key).unwrap(), made, "the next process uses it");
        assert_eq!(texts(&journal(&folder)), ["a", "b", "c"]);
    }
}

#[test]
fn a_backlog_over_its_limit_is_reported_and_loses_nothing() {
    let (_dir, folder) = place();
    append(&journal(&folder), "first").unwrap();
    let limited = |seq| {
        let position = ShippingPosition { seq, backlog_limit: Some(2), ..ShippingPosition::default() };
        position.write(&folder).unwrap();
    };
    limited(1);
    // Each process looks at the position when it begins.
    let record = || {
        let entry = TrustEntry { change: TrustChange::Granted, hook: Some("x"), event: None, content: None };
        let kind = EntryKind::Trust(entry);
        journal(&folder).record(&Entry { at: SystemTime::now(), host: None, project: Path::new("/p"), kind })
    };
    assert!(record().is_ok() && record().is_ok());
    let error = record().err().unwrap();
    assert_eq!(error.kind, RecordErrorKind::Backlog);
    assert_eq!(error.message, "3 records wait for being shipped, and the limit is 2; run `hookrail fleet status`");
    assert_eq!(texts(&journal(&folder)).len(), 4, "the record is there");
    limited(4);
    assert!(record().is_ok());
    assert!(journal(&folder).verify(None).unwrap().is_sound());
}

/// What is denied because of a backlog is recorded as denied, in one process and in one after the other.
#[test]
fn an_event_over_the_backlog_limit_is_recorded_with_its_outcome() {
    use hookrail::recorder::OnRecordFailure;
    use hookrail::{Decision, Environment, Event, EventKind, HookSystem};
    for (policy, decision) in [(OnRecordFailure::Warn, None), (OnRecordFailure::Block, Some(Decision::Deny))] {
        let (_dir, folder) = place();
        append(&journal(&folder), "first").unwrap();
        let position = ShippingPosition { seq: 1, backlog_limit: Some(1), ..ShippingPosition::default() };
        position.write(&folder).unwrap();
        let system = || {
            let options = JournalOptions { events: Interest::Gating, ..JournalOptions::new(&folder) };
            let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new());
            builder.recorder(Journal::new(options)).on_record_failure(policy).build()
        };
        let event = || Event::new(EventKind::Prompt, "/p").with_text("prompt", "p");
        let first = system();
        assert_eq!(first.fire_blocking(event()).diagnostics.len(), 0, "one may wait");
        for system in [first, system()] {
            let outcome = system.fire_blocking(event());
            assert_eq!(outcome.effects.decision, decision);
            assert!(outcome.diagnostics[0].message.contains("records wait for being shipped"), "{outcome:?}");
            let record = records(&journal(&folder)).pop().unwrap();
            assert_eq!(record.decision.as_deref(), decision.map(Decision::name));
            assert!(record.line.contains("\"code\":\"record-failed\""), "{}", record.line);
        }
        assert_eq!(records(&journal(&folder)).len(), 4, "nothing is left out, nothing is there twice");
    }
}
