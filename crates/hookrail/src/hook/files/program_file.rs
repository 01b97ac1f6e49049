//! What kind of program a file of the project is, which decides what else it runs when it is started.

use std::io::Read as _;
use std::path::Path;

/// A file that is started as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProgramFile {
    /// A script; what its first line says after `#!`.
    Script(String),
    /// A program that loads libraries when it starts, perhaps from the project: `$ORIGIN` in it means its own folder.
    LoadsLibraries,
    /// Anything else: a program that loads nothing, or the text of a shell.
    Other,
}

/// The most bytes of a file that are looked at.
const HEAD: u64 = 4096;

/// The longest first line.
const LONGEST_LINE: usize = 512;

/// First bytes of macOS programs, which all load libraries.
const MACH_O: [[u8; 4]; 5] = [
    [0xcf, 0xfa, 0xed, 0xfe],
    [0xce, 0xfa, 0xed, 0xfe],
    [0xfe, 0xed, 0xfa, 0xcf],
    [0xfe, 0xed, 0xfa, 0xce],
    [0xca, 0xfe, 0xba, 0xbe],
];

impl ProgramFile {
    /// Looks at a file. One that cannot be read cannot be covered either.
    pub(super) fn read(file: &Path) -> Self {
        let mut head = Vec::new();
        let opened = hookrail_spawn::open_regular(file);
        if opened.and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
            return Self::Other;
        }
        Self::of_head(&head)
    }

    fn of_head(head: &[u8]) -> Self {
        if let Some(line) = head.strip_prefix(b"#!") {
            let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = line.get(..LONGEST_LINE).unwrap_or(line);
            return Self::Script(String::from_utf8_lossy(line).into_owned());
        }
        let is_dynamic = match head.strip_prefix(b"\x7fELF") {
            Some(_) => !is_static_elf(head).unwrap_or(false),
            None => MACH_O.iter().any(|magic| head.starts_with(magic)),
        };
        if is_dynamic { Self::LoadsLibraries } else { Self::Other }
    }
}

/// Whether an ELF program names no loader of libraries; nothing if its head does not tell.
fn is_static_elf(head: &[u8]) -> Option<bool> {
    const NAMES_LOADER: u64 = 3;
    let is_wide = *head.get(4)? == 2;
    let is_little = *head.get(5)? == 1;
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = head.get(at..at.checked_add(length)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    };
    let (table, size, count) = match is_wide {
        true => (number(32, 8)?, number(54, 2)?, number(56, 2)?),
        false => (number(28, 4)?, number(42, 2)?, number(44, 2)?),
    };
    let kind = |index: u64| number(usize::try_from(table + index * size).ok()?, 4);
    let kinds = (0..count).map(kind).collect::<Option<Vec<u64>>>()?;
    Some(!kinds.contains(&NAMES_LOADER))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of 64 bits with one entry of this kind in its table.
    fn elf(kind: u8) -> Vec<u8> {
        let mut head = vec![0; 64 + 56];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (head[32], head[54], head[56], head[64]) = (64, 56, 1, kind);
        head
    }

    #[test]
    fn only_programs_that_name_no_loader_load_no_libraries() {
        assert_eq!(ProgramFile::of_head(&elf(1)), ProgramFile::Other);
        assert_eq!(ProgramFile::of_head(&elf(3)), ProgramFile::LoadsLibraries);
        // What cannot be understood may load anything.
        assert_eq!(ProgramFile::of_head(&elf(1)[..66]), ProgramFile::LoadsLibraries);
        assert_eq!(ProgramFile::of_head(b"\x7fELF"), ProgramFile::LoadsLibraries);
        let mut far = elf(1);
        far[33] = 0xff;
        assert_eq!(ProgramFile::of_head(&far), ProgramFile::LoadsLibraries);
        assert_eq!(ProgramFile::of_head(&MACH_O[0]), ProgramFile::LoadsLibraries);
        assert_eq!(ProgramFile::of_head(b"echo hello\n"), ProgramFile::Other);
        assert_eq!(ProgramFile::of_head(b"#!/bin/sh -e\nx"), ProgramFile::Script("/bin/sh -e".to_owned()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_test_itself_is_a_program_that_loads_libraries() {
        let own = std::env::current_exe().unwrap();
        let expected =
            if cfg!(target_feature = "crt-static") { ProgramFile::Other } else { ProgramFile::LoadsLibraries };
        assert_eq!(ProgramFile::read(&own), expected);
    }
}
