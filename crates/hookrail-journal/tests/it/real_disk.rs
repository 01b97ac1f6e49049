//! Disks that are full and folders that cannot be written. Each test runs in a process of its own, in a file system that only this
//! process sees, or without the right of root to write everywhere. Where that cannot be had it is skipped, and fails with
//! `HOOKRAIL_REQUIRE_ALL=1`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use hookrail::recorder::{
    Entry, EntryKind, RecordError, RecordErrorKind, Recorded, Recorder as _, TrustChange, TrustEntry,
};
use hookrail_journal::{Journal, JournalOptions, Retention};

use super::{append, journal, records};

/// Names the place of a child.
const PLACE: &str = "HOOKRAIL_TEST_REAL_DISK";

/// The last line of a child whose assertions hold.
const DONE: &str = "the child has come to its end";

/// Runs a test of this file as a child of a shell that prepares it. The shell ends with status 77 if it cannot.
fn run_prepared(test: &str, prepare: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let (program, arguments) = prepare.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .arg(std::env::current_exe().unwrap())
        .args([&format!("real_disk::{test}"), "--exact", "--nocapture"])
        .env(PLACE, dir.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) => output,
        _ => {
            let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and {prepare:?} does not work here");
            println!("skipped: {test}, because {prepare:?} does not work here");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains(DONE), "{text}");
}

fn place_of_child() -> Option<PathBuf> {
    std::env::var_os(PLACE).map(PathBuf::from)
}

/// A shell in a file system of 400 KiB.
const SMALL_DISK: [&str; 5] = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    r#"mount -t tmpfs -o size=400k,mode=700 none "$HOOKRAIL_TEST_REAL_DISK" || exit 77; exec "$0" "$@""#,
];

fn record(journal: &Journal, text: &str) -> Result<Recorded, RecordError> {
    let entry = TrustEntry { change: TrustChange::Granted, hook: Some(text), event: None, content: None };
    let kind = EntryKind::Trust(entry);
    journal.record(&Entry { at: SystemTime::now(), host: None, project: Path::new("/p"), kind })
}

/// Appends until the disk is full, and returns how many records there are.
fn fill(journal: &Journal) -> u64 {
    for count in 0.. {
        match append(journal, &"x".repeat(700)) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind, RecordErrorKind::NoSpace, "{error}");
                return count;
            }
        }
    }
    0
}

#[test]
fn child_on_a_full_disk() {
    let Some(place) = place_of_child() else { return };
    let folder = place.join("journal");
    let options = JournalOptions { segment_bytes: 30_000, ..JournalOptions::new(&folder) };
    let keeping_all = Journal::new(options.clone());
    let count = fill(&keeping_all);
    assert!(count > 100, "{count}");
    let found = keeping_all.verify(None).unwrap();
    assert!(found.is_sound() && !found.has_unfinished_record && found.records == count, "{found:?}");
    // Decisions go on: a process that may remove old segments finds room when a record does not fit.
    let retention = Retention { bytes: 100_000, ..Retention::default() };
    let keeping_less = Journal::new(JournalOptions { retention, ..options });
    let error = record(&keeping_less, &"y".repeat(2000)).unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::NoSpace, "{error}");
    keeping_less.finish_maintenance();
    record(&keeping_less, &"y".repeat(2000)).unwrap();
    let found = keeping_less.verify(None).unwrap();
    assert!(found.is_sound() && found.records < count, "{found:?}");
    assert_eq!(found.head.unwrap().seq, count + 1);
    let is_temporary = |path: PathBuf| path.extension().is_some_and(|ending| ending == "tmp");
    assert!(!std::fs::read_dir(&folder).unwrap().any(|entry| is_temporary(entry.unwrap().path())));
    println!("{DONE}");
}

#[test]
fn a_disk_that_is_really_full_loses_nothing_and_retention_makes_room() {
    run_prepared("child_on_a_full_disk", &SMALL_DISK);
}

#[test]
fn child_on_a_disk_that_becomes_read_only() {
    let Some(place) = place_of_child() else { return };
    let folder = place.join("journal");
    append(&journal(&folder), "a").unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&place).status().unwrap();
    assert!(remounted.success());
    let error = append(&journal(&folder), "b").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::NotWritable, "{error}");
    assert_eq!(records(&journal(&folder)).len(), 1);
    assert!(journal(&folder).verify(None).unwrap().is_sound());
    println!("{DONE}");
}

#[test]
fn a_disk_that_becomes_read_only_is_a_clear_error() {
    run_prepared("child_on_a_disk_that_becomes_read_only", &SMALL_DISK);
}

#[test]
fn child_in_a_read_only_folder() {
    let Some(place) = place_of_child() else { return };
    let folder = place.join("journal");
    append(&journal(&folder), "a").unwrap();
    let set = |mode| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    // The segment may be written, and a new one cannot be made.
    set(0o500);
    append(&journal(&folder), "b").unwrap();
    let segments = super::segment_files(&folder);
    std::fs::set_permissions(&segments[0], std::fs::Permissions::from_mode(0o400)).unwrap();
    let error = append(&journal(&folder), "c").unwrap_err();
    assert_eq!(error.kind, RecordErrorKind::NotWritable, "{error}");
    let elsewhere = place.join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o500)).unwrap();
    for folder in [elsewhere.clone(), elsewhere.join("journal")] {
        let error = append(&journal(&folder), "d").unwrap_err();
        assert_eq!(error.kind, RecordErrorKind::NotWritable, "{error}");
    }
    set(0o700);
    assert_eq!(super::texts(&journal(&folder)), ["a", "b"]);
    println!("{DONE}");
}

#[test]
fn a_read_only_folder_is_a_clear_error() {
    let drop_rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "sh", "-c", r#"exec "$0" "$@""#];
    let is_root = nix::unistd::geteuid().is_root();
    run_prepared("child_in_a_read_only_folder", if is_root { &drop_rights } else { &drop_rights[2..] });
}
