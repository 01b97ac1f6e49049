//! Writers that are killed at any moment: nothing that was acknowledged is lost, and the chain holds.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hookrail_journal::{Journal, JournalOptions};

use super::{append, place, records};

/// A child of this test: it appends records until it is killed, and says which ones it has appended.
#[test]
fn writer_that_is_killed() {
    let Some(folder) = std::env::var_os("HOOKRAIL_TEST_WRITER") else { return };
    let name = std::env::var("HOOKRAIL_TEST_NAME").unwrap();
    let journal = Journal::new(JournalOptions { segment_bytes: 1 << 20, ..JournalOptions::new(folder) });
    let filler = if name.starts_with("large") { "x".repeat(400_000) } else { "x".repeat(1500) };
    let mut stdout = std::io::stdout();
    for number in 0_u64.. {
        let text = format!("{name}-{number}");
        if append(&journal, &format!("{text} {filler}")).is_err() {
            continue;
        }
        // One call, so that the parent sees the whole line or nothing.
        stdout.write_all(format!("acknowledged {text}\n").as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
}

fn start(folder: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["killed::writer_that_is_killed", "--exact", "--nocapture"])
        .env("HOOKRAIL_TEST_WRITER", folder)
        .env("HOOKRAIL_TEST_NAME", name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads what a child has acknowledged, until it is gone.
fn acknowledged(child: &mut Child) -> std::thread::JoinHandle<Vec<String>> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let lines = stdout.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("acknowledged ").map(str::to_owned)).collect()
    })
}

fn kill_writers(rounds: u64) {
    let (_dir, folder) = place();
    let mut all = BTreeSet::new();
    // A generator that needs no crate: the moments only have to differ.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..rounds {
        let names = [format!("small-{round}-a"), format!("small-{round}-b"), format!("large-{round}")];
        let mut children: Vec<Child> = names.iter().map(|name| start(&folder, name)).collect();
        let readers: Vec<_> = children.iter_mut().map(acknowledged).collect();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(15_000 + random % 40_000));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for reader in readers {
            all.extend(reader.join().unwrap());
        }
    }
    let journal = Journal::new(JournalOptions::new(&folder));
    append(&journal, "end").unwrap();
    let found = journal.verify(None).unwrap();
    assert!(found.is_sound() && !found.has_unfinished_record, "{found:?}");
    let recorded: BTreeSet<String> =
        records(&journal).into_iter().filter_map(|record| Some(record.hook?.split(' ').next()?.to_owned())).collect();
    let lost: Vec<&String> = all.difference(&recorded).collect();
    assert!(lost.is_empty(), "{} of {} were lost: {lost:?}", lost.len(), all.len());
    assert!(all.len() > usize::try_from(rounds).unwrap(), "{} were acknowledged", all.len());
    println!("{rounds} rounds, {} acknowledged, {} recorded", all.len(), found.records);
}

#[test]
fn nothing_acknowledged_is_lost_when_three_writers_are_killed() {
    kill_writers(6);
}

/// The long form, which `scripts/journal-killed.sh` runs.
#[test]
#[ignore = "takes long; run by scripts/journal-killed.sh"]
fn nothing_acknowledged_is_lost_in_200_rounds() {
    kill_writers(200);
}
