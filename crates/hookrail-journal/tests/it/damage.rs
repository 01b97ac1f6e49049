//! Every prefix and every flipped bit of a segment.

use std::path::Path;

use hookrail::{Effects, Environment, Event, EventKind, Hook, HookSystem, Json, NativeHook};
use hookrail_journal::RecordKind;

use super::{append, journal, place, records, segment_files, texts};

/// Records events, with inputs, outcomes and hooks.
fn fire(folder: &Path, tools: &[&str]) {
    let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
    let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard);
    let system = builder.recorder(journal(folder)).build();
    for tool in tools {
        let input = Json::parse(r#"{"command":"ls","token":"a secret text"}"#).unwrap();
        system.fire_blocking(
            Event::new(EventKind::BeforeTool, "/p").with_text("tool_name", tool).with("tool_input", input),
        );
    }
    assert!(records(&journal(folder)).iter().all(|record| record.kind == RecordKind::Fired));
}

/// Whatever a crash leaves of a segment: whole records only are read, and the next writer continues the chain.
#[test]
fn every_prefix_gives_whole_records_and_can_be_continued() {
    let (_dir, folder) = place();
    let first = journal(&folder);
    for text in ["a", "b", "c"] {
        append(&first, text).unwrap();
    }
    let file = segment_files(&folder).remove(0);
    let whole = std::fs::read(&file).unwrap();
    for length in 0..=whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        let journal = journal(&folder);
        assert_eq!(texts(&journal), ["a", "b", "c"][..complete], "after {length} bytes");
        let found = journal.verify(None).unwrap();
        assert!(found.is_sound(), "after {length} bytes: {found:?}");
        assert_eq!(found.has_unfinished_record, length > 0 && whole[length - 1] != b'\n');
        append(&journal, "next").unwrap();
        let found = journal.verify(None).unwrap();
        assert!(found.is_sound() && !found.has_unfinished_record, "after {length} bytes: {found:?}");
        assert_eq!(found.records, complete as u64 + 1);
    }
}

#[test]
fn every_prefix_of_recorded_events_gives_whole_records() {
    let (_dir, folder) = place();
    fire(&folder, &["a", "b"]);
    let file = segment_files(&folder).remove(0);
    let whole = std::fs::read(&file).unwrap();
    for length in 0..=whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        let journal = journal(&folder);
        let tools: Vec<_> = records(&journal).into_iter().map(|record| record.tool.unwrap()).collect();
        assert_eq!(tools, ["a", "b"][..complete], "after {length} bytes");
        let found = journal.verify(None).unwrap();
        assert!(found.is_sound() && found.records == complete as u64, "after {length} bytes: {found:?}");
    }
}

#[test]
fn every_flipped_bit_is_seen_and_located() {
    let (_dir, folder) = place();
    for text in ["a", "b"] {
        append(&journal(&folder), text).unwrap();
    }
    flip_every_bit(&folder);
}

#[test]
fn every_flipped_bit_of_a_recorded_event_is_seen_and_located() {
    let (_dir, folder) = place();
    fire(&folder, &["a"]);
    flip_every_bit(&folder);
}

fn flip_every_bit(folder: &Path) {
    let journal = journal(folder);
    let file = segment_files(folder).remove(0);
    let whole = std::fs::read(&file).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            std::fs::write(&file, &damaged).unwrap();
            let found = journal.verify(None).unwrap();
            // Without its line end the last record is one that was never acknowledged.
            let is_cut = at == whole.len() - 1;
            assert!(!found.is_sound() || found.has_unfinished_record, "byte {at} bit {bit}");
            if !is_cut {
                let line = if at <= first_line { 1 } else { 2 };
                assert_eq!(found.problems[0].line, line, "byte {at} bit {bit}: {found:?}");
            }
        }
    }
}

/// A damaged last record is not continued as if it held: a new segment is begun behind the last good one.
#[test]
fn a_damaged_last_record_stays_where_it_is() {
    let (_dir, folder) = place();
    let journal = journal(&folder);
    for text in ["a", "b", "c"] {
        append(&journal, text).unwrap();
    }
    let file = segment_files(&folder).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"hook\":\"c\"", "\"hook\":\"d\"")).unwrap();
    append(&super::journal(&folder), "e").unwrap();
    assert_eq!(segment_files(&folder).len(), 2);
    let found = journal.verify(None).unwrap();
    assert_eq!(found.problems.len(), 1, "{found:?}");
    assert_eq!((found.problems[0].line, found.head.unwrap().seq), (3, 3));
}

#[test]
fn a_segment_of_zeros_is_cut() {
    let (_dir, folder) = place();
    append(&journal(&folder), "a").unwrap();
    let file = segment_files(&folder).remove(0);
    let mut text = std::fs::read(&file).unwrap();
    text.extend([0; 5000]);
    std::fs::write(&file, text).unwrap();
    let journal = journal(&folder);
    append(&journal, "b").unwrap();
    assert_eq!(texts(&journal), ["a", "b"]);
    assert!(journal.verify(None).unwrap().is_sound());
}
