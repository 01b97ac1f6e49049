#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use super::*;
use crate::JournalOptions;
use crate::segment::SegmentName;
use crate::writer::Writer;

fn at(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(days * DAY)
}

/// A journal with one record on each of these days, which is looked after as the writer of the last record does.
fn journal_of(days: &[u64]) -> (tempfile::TempDir, Vec<SegmentName>) {
    let dir = tempfile::tempdir().unwrap();
    let options = JournalOptions::new(dir.path().join("journal"));
    let mut writer = Writer::new(&options, "m".to_owned());
    for day in days {
        writer.append(br#""v":1,"kind":"trust""#, at(*day)).unwrap();
        maintain(&options.directory, Retention::default(), at(*day)).unwrap();
    }
    assert!(crate::verify::verify(&options.directory, None).unwrap().is_sound());
    let left = segment::list(&options.directory).unwrap().into_iter().map(|segment| segment.name).collect();
    (dir, left)
}

fn numbers_left(days: &[u64]) -> Vec<u64> {
    journal_of(days).1.into_iter().map(|name| name.number).collect()
}

#[test]
fn one_event_under_a_clock_that_is_ahead_removes_nothing() {
    assert_eq!(numbers_left(&[20_000, 20_001, 20_002, 20_003, 20_003, 20_368]), [1, 2, 3, 4, 5]);
    assert_eq!(numbers_left(&[20_000, 20_001, 20_368, 20_001, 20_002, 20_400]), [1, 2, 3, 4, 5, 6], "again and again");
    assert_eq!(numbers_left(&[20_000, 20_001, 20_368, 20_368]), [1, 2, 3], "on one day alone");
    assert_eq!(numbers_left(&[20_000, 20_001, 0, 20_002]), [1, 2, 3, 4], "behind");
}

#[test]
fn segments_are_removed_when_a_second_day_confirms_the_first() {
    assert_eq!(numbers_left(&[20_000, 20_001, 20_100]), [1, 2, 3], "the first day after a long time");
    assert_eq!(numbers_left(&[20_000, 20_001, 20_100, 20_101]), [3, 4]);
    assert_eq!(numbers_left(&[20_000, 20_001, 20_090, 20_091, 20_092]), [2, 3, 4, 5], "90 days are kept");
}

#[test]
fn days_have_numbers_without_gaps() {
    let first = day_number("1970-01-01").unwrap();
    for days in [0, 58, 59, 60, 365, 10_957, 11_016, 20_000, 47_540] {
        let name = timestamp(at(days));
        assert_eq!(day_number(&name[..10]).unwrap() - first, i64::try_from(days).unwrap(), "{name}");
    }
    assert_eq!((day_number("2026-13-01"), day_number("----------")), (None, None));
}

/// Compressing fails for as long as something else has the name of the temporary file.
#[test]
fn old_segments_are_removed_although_others_cannot_be_compressed() {
    let (dir, _) = journal_of(&[20_000, 20_001]);
    let folder = dir.path().join("journal");
    let mut writer = Writer::new(&JournalOptions::new(&folder), "m".to_owned());
    for day in [20_100, 20_101] {
        writer.append(br#""v":1,"kind":"trust""#, at(day)).unwrap();
    }
    let plain: Vec<SegmentName> = segment::list(&folder).unwrap().into_iter().skip(1).map(|one| one.name).collect();
    for name in &plain {
        std::fs::create_dir(folder.join(name.temporary_file())).unwrap();
    }
    maintain(&folder, Retention::default(), at(20_101)).unwrap_err();
    let left: Vec<u64> = segment::list(&folder).unwrap().iter().map(|one| one.name.number).collect();
    assert_eq!(left, [3, 4]);
    assert!(crate::verify::verify(&folder, None).unwrap().is_sound());
}
