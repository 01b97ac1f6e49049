//! Any line is divided, read and followed in bounded time, and always with the same result; the spans of its tokens joined
//! are the line.
#![no_main]

use hookrail_shell::{Scene, accesses, parse, tokens, words};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let mut end = 0;
    for token in tokens(line) {
        assert_eq!(token.span.start, end);
        end = token.span.end;
    }
    assert_eq!(end as usize, line.len());
    let _ = words(line);
    let scene = Scene { project: "/w/project", cwd: "/w/project", home: "/home/u", surroundings: &() };
    let found = accesses(&parse(line), &scene);
    assert_eq!(found, accesses(&parse(line), &scene));
    let commands = found.commands.len();
    let paths = found.reads.iter().chain(&found.writes).chain(&found.deletes);
    assert!(paths.filter_map(|fact| fact.command).all(|index| index < commands));
});
