//! The moment between the verification of a script and the moment in which its interpreter opens it.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use rustix::fs::inotify;
use serde_json::{Value, json};

use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

const HONEST: &str = "cat >/dev/null; echo '{\"systemMessage\":\"HONEST\"}'\n";
const EVIL: &str = "cat >/dev/null; echo '{\"systemMessage\":\"EVIL\"}'\n";

/// How often the attack is tried.
const TRIES: usize = 60;

/// The script is read when hooks are loaded and again before it is started; the attacker does not know how often.
const MOST_READS: usize = 4;

/// What the attacker does with the script when it is opened.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// Puts another file in its place.
    Replace,
    /// Puts another file in its place and, when that is opened, the old one back.
    ReplaceAndRestore,
    /// Writes into it.
    Overwrite,
}

/// A thread that waits until the script was read and closed so many times, and then attacks.
struct Attacker {
    ends: Arc<AtomicBool>,
    swaps: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Attacker {
    fn start(folder: &Path, attack: Attack, reads: usize) -> Self {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, folder, inotify::WatchFlags::CLOSE_NOWRITE | inotify::WatchFlags::CREATE).unwrap();
        let (ends, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (folder, stop, count) = (folder.to_owned(), Arc::clone(&ends), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            if !(0..reads).all(|_| next(&watch, &stop)) {
                return;
            }
            let (script, evil) = (folder.join("guard.sh"), folder.join("../evil.sh"));
            match attack {
                Attack::Replace | Attack::ReplaceAndRestore => {
                    fs::rename(&script, folder.join("../aside.sh")).unwrap();
                    fs::rename(&evil, &script).unwrap();
                }
                Attack::Overwrite => fs::write(&script, EVIL).unwrap(),
            }
            count.fetch_add(1, Ordering::SeqCst);
            if matches!(attack, Attack::ReplaceAndRestore) && next(&watch, &stop) {
                fs::rename(folder.join("../aside.sh"), &script).unwrap();
            }
        });
        Self { ends, swaps, thread: Some(thread) }
    }

    /// Ends the attacker; gives whether it attacked.
    fn finish(mut self, folder: &Path) -> bool {
        self.ends.store(true, Ordering::SeqCst);
        fs::write(folder.join("end"), "").unwrap();
        self.thread.take().unwrap().join().unwrap();
        fs::remove_file(folder.join("end")).unwrap();
        self.swaps.load(Ordering::SeqCst) > 0
    }
}

/// Waits for the script to be read and closed; false when the attack is over.
fn next(watch: &OwnedFd, ends: &AtomicBool) -> bool {
    let mut room = [std::mem::MaybeUninit::uninit(); 1024];
    let mut events = inotify::Reader::new(watch, &mut room);
    loop {
        let event = events.next().unwrap();
        if ends.load(Ordering::SeqCst) {
            return false;
        }
        let is_script = event.file_name().is_some_and(|name| name.to_bytes() == b"guard.sh");
        if is_script && event.events().contains(inotify::ReadFlags::CLOSE_NOWRITE) {
            return true;
        }
    }
}

fn has_won(outcome: &Value) -> bool {
    outcome.to_string().contains("EVIL")
}

attacks! { "Races";
    swapped_after_the_check Granted {
        "A program waits until the script of a granted guard was read to be verified, and then replaces it, replaces it for a moment, or writes into it."
        => "In 60 tries the answer of the other script never counts, and without an attack the guard answers."
        |lab| {
            lab.write("hooks/guard.sh", HONEST);
            let hook = json!({"type": "command", "name": "raced", "command": "sh hooks/guard.sh"});
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string());
            lab.grant();
        },
        then |lab, _| {
            let fire = |lab: &Lab| lab.run(&["fire", "BeforeTool", "--tool", "x", "--tool-input", "{}", "--json"], "").json();
            assert!(fire(lab).to_string().contains("HONEST"), "it runs when nothing interferes");
            let folder = lab.project.join("hooks");
            let (mut wins, mut attacks) = (Vec::new(), 0);
            for attempt in 0..TRIES {
                let attack = [Attack::Replace, Attack::ReplaceAndRestore, Attack::Overwrite][attempt % 3];
                fs::write(lab.project.join("evil.sh"), EVIL).unwrap();
                let attacker = Attacker::start(&folder, attack, attempt / 3 % MOST_READS + 1);
                let outcome = fire(lab);
                attacks += usize::from(attacker.finish(&folder));
                if has_won(&outcome) {
                    wins.push((attempt, attack, outcome));
                }
                fs::write(folder.join("guard.sh"), HONEST).unwrap();
            }
            assert!(attacks >= TRIES / 4, "the attacker was there only {attacks} times");
            assert!(wins.is_empty(), "won {} of {TRIES}: {:?}", wins.len(), wins.first());
        }
    }
}
