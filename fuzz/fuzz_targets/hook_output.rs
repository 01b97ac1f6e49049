//! Whatever two hooks of a command dialect print and exit with, there is an outcome. The first byte chooses dialect and
//! event, the second one the exit status; the rest is standard output, and standard error behind a zero byte.
#![no_main]

use hookrail::{DialectId, Hook};
use hookrail::hook::{Action, Owner};
use hookrail::process::{RawEnd, Output, ProcessEnd, RunEnd};
use hookrail::sources::{Origin, SourceKind};
use hookrail_fuzz::{MOMENT, drive, event, dialect_event};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, status, output @ ..] = data else { return };
    let dialect = if choice & 1 == 0 { DialectId::Llxprt } else { DialectId::Xcode };
    let kind = dialect_event(dialect, choice >> 1);
    let (stdout, stderr) = match output.iter().position(|byte| *byte == 0) {
        Some(at) => (&output[..at], &output[at + 1..]),
        None => (output, &[][..]),
    };
    let hook = |name: &str| {
        let origin = Origin::without_file(SourceKind::Plugin);
        let mut hook = Hook::new(kind, dialect, name, Action::Shell(name.into()), origin);
        let owner = Owner { id: "p@local".to_owned(), dir: "/p".into(), data_dir: None };
        hook.owner = Some(std::sync::Arc::new(owner));
        hook
    };
    // Most exits are successful, because only their output is read in all dialects.
    let status = if *status < 128 { 0 } else { i32::from(status & 3) };
    let end = || {
        let (stdout, stderr) = (Output::whole(stdout), Output::whole(stderr));
        RunEnd::Process(ProcessEnd { stdout, stderr, ..ProcessEnd::new(RawEnd::Exited(status), MOMENT) })
    };
    let once = drive(vec![hook("a"), hook("b")], event(kind), |_| end());
    let again = drive(vec![hook("a"), hook("b")], event(kind), |_| end());
    assert_eq!(once.effects.decision, again.effects.decision, "the same answers have the same outcome");
});
