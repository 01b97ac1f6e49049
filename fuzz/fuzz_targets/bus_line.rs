//! Any line is a message or a refusal with a reason; a message that was understood reads the same when it is written again.
#![no_main]

use hookrail_bus::fuzzing::{read_client_line, read_server_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    for read in [read_client_line, read_server_line] {
        if let Some(written) = read(line) {
            assert_eq!(read(&written).as_deref(), Some(&*written), "written again: {line}");
        }
    }
});
