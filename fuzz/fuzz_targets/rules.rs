//! A file of rules with any content loads, or is reported; listing and explaining it never fail.
#![no_main]

use hookrail_fuzz::FuzzProject;
use libfuzzer_sys::fuzz_target;

thread_local!(static PLACE: FuzzProject = FuzzProject::new(".hookrail/rules.toml"));

fuzz_target!(|content: &[u8]| PLACE.with(|place| place.load(content)));
