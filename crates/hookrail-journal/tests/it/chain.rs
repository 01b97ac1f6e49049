//! Appending, reading and verifying.

use std::os::unix::fs::PermissionsExt as _;

use hookrail_journal::{ExpectedHead, Filter, ProblemKind, SyncPolicy};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::{JournalOptions, append, journal, place, records, segment_files, texts};

#[test]
fn records_are_numbered_and_linked() {
    let (_dir, folder) = place();
    let journal = journal(&folder);
    for text in ["a", "b", "c"] {
        append(&journal, text).unwrap();
    }
    let records = records(&journal);
    assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(records[0].prev, "0".repeat(64));
    assert!(records.windows(2).all(|pair| pair[1].prev == pair[0].hash));
    // The rule as an auditor reads it.
    for record in &records {
        let (hashed, _) = record.line.rsplit_once(",\"hash\"").unwrap();
        let hash: String = Sha256::digest(hashed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, record.hash);
    }
    let found = journal.verify(None).unwrap();
    assert!(found.is_sound(), "{found:?}");
    assert_eq!((found.records, found.first), (3, Some(1)));
    assert_eq!(found.head, journal.head().unwrap());
    assert_eq!(found.head.unwrap().hash, records[2].hash);
}

#[test]
fn everything_is_the_users_alone() {
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_head_that_was_kept_elsewhere_shows_a_cut_tail() {
    let (_dir, folder) = place();
    let journal = journal(&folder);
    append(&journal, "a").unwrap();
    append(&journal, "b").unwrap();
    let head = journal.head().unwrap().unwrap();
    append(&journal, "c").unwrap();
    let found = journal.verify(Some(&head.hash)).unwrap();
    assert_eq!(found.expected, Some(ExpectedHead::Found(2)));
    let file = segment_files(&folder).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let found = journal.verify(None).unwrap();
    assert!(found.is_sound(), "a chain alone does not show a cut tail");
    let found = journal.verify(Some(&head.hash)).unwrap();
    assert_eq!(found.expected, Some(ExpectedHead::Missing));
    assert!(!found.is_sound());
}

#[test]
fn a_record_that_was_changed_removed_or_moved_is_located() {
    let (_dir, folder) = place();
    let journal = journal(&folder);
    for text in ["first", "second", "third", "fourth"] {
        append(&journal, text).unwrap();
    }
    let file = segment_files(&folder).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kinds = |lines: &[&str]| {
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let found = journal.verify(None).unwrap();
        found.problems.into_iter().map(|problem| (problem.line, problem.kind)).collect::<Vec<_>>()
    };
    let changed = lines[1].replace("second", "2nd");
    assert_eq!(
        kinds(&[lines[0], &changed, lines[2], lines[3]]),
        [(2, ProblemKind::Changed { seq: 2 }), (3, ProblemKind::NotContinuing { seq: 3, before: 1 })]
    );
    assert_eq!(kinds(&[lines[0], lines[2], lines[3]]), [(2, ProblemKind::NotContinuing { seq: 3, before: 1 })]);
    assert_eq!(kinds(&[lines[1], lines[2]]), [(1, ProblemKind::UnknownBeginning { seq: 2 })]);
    assert_eq!(kinds(&[lines[0], "nonsense", lines[1]]), [(2, ProblemKind::NoRecord)]);
    assert_eq!(kinds(&lines), []);
}

#[test]
fn two_journals_in_one_process_and_two_clones_share_a_chain() {
    let (_dir, folder) = place();
    let (one, two) = (journal(&folder), journal(&folder));
    let third = one.clone();
    std::thread::scope(|scope| {
        for journal in [&one, &two, &third] {
            scope.spawn(move || (0..200).for_each(|number| append(journal, &number.to_string()).unwrap()));
        }
    });
    let found = one.verify(None).unwrap();
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.records, 600);
}

/// All of them make the key and the first segment at the same moment.
#[test]
fn writers_that_begin_together_have_one_key_and_one_chain() {
    for _ in 0..20 {
        let (_dir, folder) = place();
        let barrier = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (folder, barrier) = (&folder, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    append(&journal(folder), &number.to_string()).unwrap();
                });
            }
        });
        let found = journal(&folder).verify(None).unwrap();
        assert!(found.is_sound() && found.records == 6, "{found:?}");
    }
}

#[test]
fn an_iterator_goes_on_with_what_is_appended() {
    let (_dir, folder) = place();
    let journal = journal(&folder);
    let mut following = journal.read(Filter::default()).unwrap();
    assert!(following.next().is_none());
    for text in ["a", "b"] {
        append(&journal, text).unwrap();
        assert_eq!(following.next().unwrap().unwrap().hook.as_deref(), Some(text));
        assert!(following.next().is_none());
    }
}

#[test]
fn every_sync_policy_records() {
    for sync in SyncPolicy::ALL {
        let (_dir, folder) = place();
        let journal = hookrail_journal::Journal::new(JournalOptions::new(&folder).sync(sync));
        append(&journal, "a").unwrap();
        append(&journal, "b").unwrap();
        assert_eq!(texts(&journal), ["a", "b"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is recorded reads back, holds, and is one line.
    #[test]
    fn whatever_is_recorded_reads_back(written in prop::collection::vec(".{1,60}", 1..20)) {
        let (_dir, folder) = place();
        let journal = journal(&folder);
        for text in &written {
            append(&journal, text).unwrap();
        }
        prop_assert_eq!(&texts(&journal), &written);
        let found = journal.verify(None).unwrap();
        prop_assert!(found.is_sound());
        prop_assert_eq!(found.records, written.len() as u64);
    }

    /// Any rearrangement of lines other than none, and other than a shorter tail, is found.
    #[test]
    fn any_rearrangement_is_found(order in prop::collection::vec(0usize..6, 0..8)) {
        let (_dir, folder) = place();
        let journal = journal(&folder);
        (0..6).for_each(|number| append(&journal, &number.to_string()).unwrap());
        let file = segment_files(&folder).remove(0);
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let arranged: String = order.iter().map(|at| format!("{}\n", lines[*at])).collect();
        std::fs::write(&file, arranged).unwrap();
        let is_prefix = order.iter().enumerate().all(|(at, line)| at == *line);
        prop_assert_eq!(journal.verify(None).unwrap().is_sound(), is_prefix);
    }
}
