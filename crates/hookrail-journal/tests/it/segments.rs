//! Segments by size, sealing, retention, and reading over their borders.

use std::time::{Duration, SystemTime};

use hookrail_journal::{
    ExpectedHead, Filter, Journal, JournalOptions, ProblemKind, Retention, ShippingPosition, UnreadableCause,
};

use super::{append, journal, place, segment_files, texts};

fn small(folder: &std::path::Path) -> Journal {
    Journal::new(JournalOptions { segment_bytes: 2000, ..JournalOptions::new(folder) })
}

fn filled(folder: &std::path::Path, count: usize) -> (Journal, Vec<String>) {
    let journal = small(folder);
    let written: Vec<String> = (0..count).map(|number| format!("record {number}")).collect();
    written.iter().for_each(|text| append(&journal, text).unwrap());
    (journal, written)
}

/// The day before this one: what was recorded then confirms the clock.
fn yesterday() -> String {
    hookrail::event::timestamp(SystemTime::now() - Duration::from_secs(24 * 3600))[..10].to_owned()
}

#[test]
fn a_full_segment_is_followed_by_another_one() {
    let (_dir, folder) = place();
    let (journal, written) = filled(&folder, 40);
    assert!(segment_files(&folder).len() > 3);
    assert_eq!(texts(&journal), written);
    assert!(journal.verify(None).unwrap().is_sound());
}

#[test]
fn sealed_segments_read_and_verify_as_before() {
    let (_dir, folder) = place();
    let (journal, mut written) = filled(&folder, 40);
    let head = journal.head().unwrap();
    let done = journal.maintain().unwrap();
    assert!(done.sealed > 2 && done.removed == 0, "{done:?}");
    let sealed = segment_files(&folder).iter().filter(|path| path.extension().unwrap() == "gz").count();
    assert_eq!(sealed, done.sealed);
    assert_eq!(texts(&journal), written);
    assert!(journal.verify(None).unwrap().is_sound());
    assert_eq!(journal.head().unwrap(), head);
    assert_eq!(journal.maintain().unwrap().sealed, 0);
    append(&small(&folder), "next").unwrap();
    written.push("next".to_owned());
    assert_eq!(texts(&journal), written);
    assert!(journal.verify(None).unwrap().is_sound());
}

#[test]
fn a_following_reader_crosses_borders_and_sealing() {
    let (_dir, folder) = place();
    let journal = small(&folder);
    let mut following = journal.read(Filter::default()).unwrap();
    let mut seen = Vec::new();
    for number in 0..60 {
        append(&journal, &number.to_string()).unwrap();
        if number % 7 == 0 {
            journal.maintain().unwrap();
        }
        if number % 3 == 0 {
            seen.extend(following.by_ref().map(|record| record.unwrap().seq));
        }
    }
    seen.extend(following.by_ref().map(|record| record.unwrap().seq));
    assert_eq!(seen, (1..=60).collect::<Vec<u64>>());
}

#[test]
fn what_is_removed_leaves_its_last_hash() {
    let (_dir, folder) = place();
    let (journal, written) = filled(&folder, 40);
    let before = journal.verify(None).unwrap().head.unwrap();
    let retention = Retention { bytes: 1500, ..Retention::default() };
    let keeping = Journal::new(JournalOptions { retention, ..JournalOptions::new(&folder) });
    let done = keeping.maintain().unwrap();
    assert!(done.removed > 0, "{done:?}");
    let left = texts(&journal);
    assert!(!left.is_empty() && left.len() < 40);
    assert_eq!(left, written[40 - left.len()..]);
    let found = journal.verify(Some(&before.hash)).unwrap();
    assert!(found.is_sound(), "{found:?}");
    // Without the index the beginning is not known.
    std::fs::remove_file(folder.join("index.jsonl")).unwrap();
    let found = journal.verify(None).unwrap();
    assert!(matches!(found.problems[0].kind, ProblemKind::UnknownBeginning { .. }), "{found:?}");
}

#[test]
fn old_segments_are_removed_and_the_newest_never_is() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 20);
    let files = segment_files(&folder);
    // As if they had been begun long ago, and the last one on the day before this one.
    for (at, file) in files.iter().enumerate() {
        let day = if at + 1 == files.len() { yesterday() } else { "2020-01-01".to_owned() };
        std::fs::rename(file, folder.join(format!("{:08}-{day}.jsonl", at + 1))).unwrap();
    }
    std::fs::write(folder.join("lock"), "").unwrap();
    let head = journal.head().unwrap();
    let retention = Retention { age: Duration::from_secs(24 * 3600), ..Retention::default() };
    let keeping = Journal::new(JournalOptions { retention, ..JournalOptions::new(&folder) });
    keeping.maintain().unwrap();
    assert_eq!(segment_files(&folder).len(), 1);
    assert!(journal.verify(None).unwrap().is_sound());
    assert_eq!(keeping.head().unwrap(), head);
    append(&keeping, "today").unwrap();
    assert!(journal.verify(None).unwrap().is_sound());
    assert_eq!(journal.head().unwrap().unwrap().seq, 21);
}

/// A segment that was begun while the clock was ahead does not keep those behind it, and one that was begun while the clock
/// was behind does not take those before it along.
#[test]
fn clocks_that_jumped_neither_end_retention_nor_remove_too_much() {
    let left = |days: &[&str]| {
        let (_dir, folder) = place();
        let (journal, _) = filled(&folder, 60);
        let files = segment_files(&folder);
        let lately = yesterday();
        for (at, file) in files.iter().enumerate() {
            let day = days.get(at).copied().unwrap_or(lately.as_str());
            std::fs::rename(file, folder.join(format!("{:08}-{day}.jsonl", at + 1))).unwrap();
        }
        std::fs::write(folder.join("lock"), "").unwrap();
        let retention = Retention { age: Duration::from_secs(24 * 3600), ..Retention::default() };
        let removed = Journal::new(JournalOptions { retention, ..JournalOptions::new(&folder) }).maintain().unwrap();
        assert!(journal.verify(None).unwrap().is_sound());
        (removed.removed, files.len() - segment_files(&folder).len())
    };
    assert_eq!(left(&["2020-01-01", "2020-01-02", "2020-01-03"]), (3, 3));
    assert_eq!(left(&["2999-01-01", "2020-01-02", "2020-01-03"]), (3, 3), "the first is older than the second");
    assert_eq!(left(&["2020-01-01", "2999-01-02", "2998-01-01", "2020-01-03"]), (4, 4));
    assert_eq!(left(&["2999-01-01"]), (0, 0), "it may be new");
    assert_eq!(left(&[&yesterday(), "1970-01-01"]), (0, 0), "what is before the second one is new");
}

#[test]
fn a_damaged_sealed_segment_is_reported_and_the_others_are_read() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    journal.maintain().unwrap();
    let files = segment_files(&folder);
    let mut bytes = std::fs::read(&files[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&files[1], bytes).unwrap();
    let found = journal.verify(None).unwrap();
    assert!(!found.is_sound());
    assert!(found.problems[0].segment.starts_with("00000002"), "{found:?}");
    let read = journal.read(Filter::default()).unwrap();
    let last = read.flatten().last().unwrap();
    assert_eq!(last.seq, 40);
}

/// A process was killed after it had made the file of the next segment and before it had named it. Writers that know the old
/// one, and writers that begin now, go on with the same.
#[test]
fn a_segment_that_was_made_and_not_named_splits_no_chain() {
    let (_dir, folder) = place();
    let old = super::journal(&folder);
    append(&old, "a").unwrap();
    let first = segment_files(&folder).remove(0);
    let second = first.to_string_lossy().replace("/00000001-", "/00000002-");
    std::fs::write(second, "").unwrap();
    for text in ["b", "c"] {
        append(&super::journal(&folder), text).unwrap();
        append(&old, &format!("old {text}")).unwrap();
        old.maintain().unwrap();
    }
    assert_eq!(texts(&old), ["a", "b", "old b", "c", "old c"]);
    assert!(old.verify(None).unwrap().is_sound());
}

#[test]
fn a_journal_whose_files_vanish_under_a_writer_goes_on() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 3);
    std::fs::remove_dir_all(&folder).unwrap();
    append(&journal, "after").unwrap();
    assert_eq!(texts(&journal), ["after"]);
    std::fs::remove_file(segment_files(&folder).remove(0)).unwrap();
    append(&journal, "again").unwrap();
    assert_eq!(texts(&journal), ["again"]);
}

#[test]
fn what_is_not_shipped_is_not_removed() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    let options =
        JournalOptions { retention: Retention { age: Duration::MAX, bytes: 0 }, ..JournalOptions::new(&folder) };
    let keeping_nothing = Journal::new(options);
    let shipped = |seq| ShippingPosition { subject: "s".to_owned(), seq, ..ShippingPosition::default() };
    shipped(0).write(&folder).unwrap();
    assert_eq!(keeping_nothing.maintain().unwrap().removed, 0);
    assert_eq!(texts(&journal).len(), 40);
    shipped(20).write(&folder).unwrap();
    assert!(keeping_nothing.maintain().unwrap().removed > 0);
    let left = journal.read(Filter::default()).unwrap().map(|record| record.unwrap().seq).min().unwrap();
    assert!((2..=21).contains(&left), "{left}");
    shipped(40).write(&folder).unwrap();
    keeping_nothing.maintain().unwrap();
    let left = journal.read(Filter::default()).unwrap().map(|record| record.unwrap().seq).min().unwrap();
    assert!(left > 21, "{left}");
}

#[test]
fn records_after_a_number_are_found_in_any_segment() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    for is_sealed in [false, true] {
        if is_sealed {
            journal.maintain().unwrap();
        }
        for after in [0, 1, 7, 20, 39, 40, 100] {
            let filter = Filter { after: Some(after), ..Filter::default() };
            let found: Vec<u64> = journal.read(filter).unwrap().map(|record| record.unwrap().seq).collect();
            assert_eq!(found, (after + 1..=40).collect::<Vec<u64>>(), "after {after}");
        }
    }
}

/// What the index knows of sealed segments does not stand in for them: only what retention removed may be missing.
#[test]
fn sealed_segments_that_were_deleted_are_missed() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    journal.maintain().unwrap();
    let files = segment_files(&folder);
    assert!(files.len() > 4);
    let delete = |from: usize, to: usize| {
        let kept: Vec<_> = files[from..to].iter().map(|file| (file, std::fs::read(file).unwrap())).collect();
        kept.iter().for_each(|(file, _)| std::fs::remove_file(file).unwrap());
        let found = journal.verify(None).unwrap();
        kept.iter().for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
        found
    };
    let found = delete(0, 2);
    assert!(matches!(found.problems[0].kind, ProblemKind::UnknownBeginning { .. }), "{found:?}");
    let found = delete(1, 3);
    assert!(matches!(found.problems[0].kind, ProblemKind::NotContinuing { .. }), "{found:?}");
    let found = delete(files.len() - 2, files.len());
    assert!(matches!(found.problems[0].kind, ProblemKind::Gone { .. }), "{found:?}");
    assert!(found.problems[0].to_string().contains(":0: records up to "), "{}", found.problems[0]);
    let found = delete(0, files.len());
    assert!(matches!(found.problems[0].kind, ProblemKind::Gone { .. }) && !found.is_sound(), "{found:?}");
    assert!(journal.verify(None).unwrap().is_sound());
}

/// Whichever bit of the index's last line is damaged: the segment that it knew does not vanish without a word.
#[test]
fn a_damaged_index_hides_no_deleted_segment() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    journal.maintain().unwrap();
    let index = folder.join("index.jsonl");
    let whole = std::fs::read(&index).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let files = segment_files(&folder);
    let verify = |damage: Option<(usize, u8)>| {
        let mut text = whole.clone();
        damage.into_iter().for_each(|(at, bit)| text[at] ^= 1 << bit);
        std::fs::write(&index, text).unwrap();
        journal.verify(None).unwrap()
    };
    let damages = || (last_line..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit)));
    assert!(verify(None).is_sound(), "the control");
    let at = last_line + whole[last_line..].iter().position(|byte| *byte == b':').unwrap();
    let found = verify(Some((at, 0)));
    let line = whole.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!((found.problems[0].segment.as_str(), found.problems[0].line), ("index.jsonl", line), "{found:?}");
    assert_eq!(found.problems[0].kind, ProblemKind::NoIndexLine);
    // The newest sealed one and the one that was being written, with the lock that names it.
    files[files.len() - 2..].iter().for_each(|file| std::fs::remove_file(file).unwrap());
    assert!(verify(None).problems.iter().any(|problem| problem.kind == ProblemKind::NewestGone));
    std::fs::remove_file(folder.join("lock")).unwrap();
    for (at, bit) in damages() {
        assert!(!verify(Some((at, bit))).is_sound(), "byte {at} bit {bit}");
    }
}

/// A line that was cut by a loss of power was never acknowledged; one that was damaged stays to be seen.
#[test]
fn an_unfinished_line_of_the_index_is_replaced_and_a_damaged_one_stays() {
    for (tail, is_sound) in [("{\"segment\":\"0000", true), ("{\"segment\":\"0\"}\u{b}", false)] {
        let (_dir, folder) = place();
        let (journal, _) = filled(&folder, 40);
        journal.maintain().unwrap();
        let index = folder.join("index.jsonl");
        let mut text = std::fs::read_to_string(&index).unwrap();
        text.push_str(tail);
        std::fs::write(&index, text).unwrap();
        assert!(!journal.verify(None).unwrap().is_sound(), "{tail}");
        (0..12).for_each(|number| append(&small(&folder), &number.to_string()).unwrap());
        assert!(journal.maintain().unwrap().sealed > 0);
        let found = journal.verify(None).unwrap();
        assert_eq!(found.is_sound(), is_sound, "{tail}: {found:?}");
    }
}

/// A chain goes on behind what is known to be gone, so no number is given twice and the gap stays visible.
#[test]
fn numbers_of_deleted_records_are_not_given_again() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    journal.maintain().unwrap();
    let files = segment_files(&folder);
    files.iter().rev().take(2).for_each(|file| std::fs::remove_file(file).unwrap());
    let left = journal.head().unwrap().unwrap().seq;
    std::fs::remove_file(folder.join("lock")).unwrap();
    append(&small(&folder), "next").unwrap();
    let next = journal.head().unwrap().unwrap().seq;
    assert!(next > left + 1, "{next} after {left}");
    let found = journal.verify(None).unwrap();
    assert_eq!(found.problems[0].kind, ProblemKind::NotContinuing { seq: next, before: left });
}

#[test]
fn a_given_head_is_found_only_in_records_or_where_retention_removed_it() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    journal.maintain().unwrap();
    let last_of_first = {
        let index = std::fs::read_to_string(folder.join("index.jsonl")).unwrap();
        let line: serde_json::Value = serde_json::from_str(index.lines().next().unwrap()).unwrap();
        (line["seq"].as_u64().unwrap(), line["hash"].as_str().unwrap().to_owned())
    };
    let verify = || journal.verify(Some(&last_of_first.1)).unwrap();
    assert_eq!(verify().expected, Some(ExpectedHead::Found(last_of_first.0)));
    let first = segment_files(&folder).remove(0);
    let bytes = std::fs::read(&first).unwrap();
    std::fs::remove_file(&first).unwrap();
    assert_eq!(verify().expected, Some(ExpectedHead::Missing));
    std::fs::write(&first, bytes).unwrap();
    let retention = Retention { bytes: 1500, ..Retention::default() };
    Journal::new(JournalOptions { retention, ..JournalOptions::new(&folder) }).maintain().unwrap();
    let found = verify();
    assert_eq!(found.expected, Some(ExpectedHead::Removed(last_of_first.0)));
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn a_reader_goes_on_behind_segments_that_are_removed_meanwhile() {
    let (_dir, folder) = place();
    let (journal, _) = filled(&folder, 40);
    let mut reading = journal.read(Filter::default()).unwrap();
    assert_eq!(reading.next().unwrap().unwrap().seq, 1);
    let retention = Retention { bytes: 0, ..Retention::default() };
    let keeping_nothing = Journal::new(JournalOptions { retention, ..JournalOptions::new(&folder) });
    assert!(keeping_nothing.maintain().unwrap().removed > 2);
    let read: Vec<u64> = reading.map(|record| record.unwrap().seq).collect();
    assert_eq!(read.last(), Some(&40));
}

/// What follows a journal goes on in a folder that was made anew, and says so once. The control is a folder that stays.
#[test]
fn a_reader_follows_into_a_folder_that_was_made_anew() {
    type Clear = fn(&std::path::Path);
    let deleted: Clear = |folder| std::fs::remove_dir_all(folder).unwrap();
    let emptied: Clear = |folder| {
        std::fs::read_dir(folder).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    };
    let kept: Clear = |_| {};
    for (clear, times) in [(deleted, 1), (emptied, 1), (kept, 0)] {
        let (_dir, folder) = place();
        let (_, written) = filled(&folder, 3);
        let mut reading = journal(&folder).read(Filter { after: Some(1), ..Filter::default() }).unwrap();
        assert_eq!(reading.by_ref().count(), written.len() - 1);
        clear(&folder);
        assert!(reading.next().is_none(), "nothing is said before there is something to follow");
        append(&journal(&folder), "next").unwrap();
        let read: Vec<_> = reading.by_ref().collect();
        let said =
            read.iter().filter(|item| item.as_ref().is_err_and(|problem| problem.cause == UnreadableCause::MadeAnew));
        assert_eq!(said.count(), times, "{read:?}");
        let texts: Vec<_> = read.into_iter().flatten().map(|record| record.hook.unwrap()).collect();
        assert_eq!(texts, ["next"]);
        append(&journal(&folder), "again").unwrap();
        assert_eq!(reading.map(|record| record.unwrap().hook.unwrap()).collect::<Vec<_>>(), ["again"]);
    }
}

/// The names of the new segments alone say nothing if there are more of them than before.
#[test]
fn a_reader_begins_with_the_first_segment_of_a_folder_that_was_made_anew() {
    for is_made_anew in [true, false] {
        let (_dir, folder) = place();
        append(&small(&folder), "old").unwrap();
        let mut reading = journal(&folder).read(Filter::default()).unwrap();
        assert_eq!(reading.by_ref().count(), 1);
        if is_made_anew {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let (_, written) = filled(&folder, 40);
        assert!(segment_files(&folder).len() > 2);
        let read: Vec<_> = reading.collect();
        let said = read.iter().filter(|item| item.is_err()).count();
        assert_eq!((said, read.len() - said), (usize::from(is_made_anew), written.len()), "made anew: {is_made_anew}");
    }
}
