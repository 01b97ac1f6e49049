//! Whatever a module returns, there is an outcome. The first byte chooses the event; the rest is JSON values, one on a
//! line: what it returned, then messages and entries in turn.
#![no_main]

use hookrail::{DialectId, Hook, Json};
use hookrail::hook::Action;
use hookrail::module::ModuleReturn;
use hookrail::process::{RawEnd, ModuleEnd, RunEnd, Surroundings};
use hookrail::sources::{Origin, SourceKind};
use hookrail_fuzz::{MOMENT, drive, event, dialect_event};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let kind = dialect_event(DialectId::Xcsh, *choice);
    let values: Vec<Option<Json>> = text.lines().map(|line| Json::parse(line).ok()).collect();
    let hook = |path: &str| {
        let action = Action::Module(std::path::Path::new(path).into());
        Hook::new(kind, DialectId::Xcsh, path, action, Origin::without_file(SourceKind::Option))
    };
    drive(vec![hook("/a.js"), hook("/b.js")], event(kind), |_| {
        let mut returned = ModuleReturn::new(RawEnd::Returned(values.first().cloned().flatten()));
        for (at, value) in values.iter().skip(1).flatten().enumerate() {
            if at % 2 == 0 { returned.messages.push(value.clone()) } else { returned.entries.push(value.clone()) }
        }
        RunEnd::Module(ModuleEnd { returned, duration: MOMENT, surroundings: Surroundings::default() })
    });
});
