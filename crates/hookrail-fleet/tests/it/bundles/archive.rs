//! Archives: the same files give the same bytes, and no archive writes outside its folder, grows without bound or passes for a
//! whole one when it is not.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use hookrail_fleet::archive::{ArchiveError, ArchiveLimits, PackedArchive, list, pack, unpack};
use hookrail_testkit::TestProject;
use proptest::prelude::*;
use tar::{EntryType, Header};

const LIMITS: ArchiveLimits = ArchiveLimits::DEFAULT;

fn content(place: &TestProject) -> PathBuf {
    place.write_at("content/settings.json", "{\"hooks\": {}}\n");
    place.write_at("content/modules/guard.ts", "export default () => {};\n".repeat(20));
    place.write_at("content/plugins/lint/.claude-plugin/plugin.json", "{\"name\": \"lint\"}\n");
    place.write_program_at("content/scripts/guard.sh", "#!/bin/sh\nexit 0\n");
    place.path("content")
}

fn packed() -> (TestProject, PackedArchive) {
    let place = TestProject::new();
    let packed = pack(&content(&place), &LIMITS).unwrap();
    (place, packed)
}

/// A folder to unpack into, in a folder of its own that must stay empty otherwise.
fn target(place: &TestProject, name: &str) -> PathBuf {
    let folder = place.path(name).join("inside");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Everything below a folder: path, mode and content.
fn tree(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, mode, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// An archive of these entries, as any program could write it.
fn forged(entries: &[(&[u8], EntryType, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, kind, data) in entries {
        let mut header = Header::new_ustar();
        header.as_ustar_mut().unwrap().name[..path.len()].copy_from_slice(path);
        header.set_entry_type(*kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend([0; 1024]);
    compressed(&bytes)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_same_files_give_the_same_bytes_whatever_their_times_and_order() {
    let (place, first) = packed();
    let other = TestProject::new();
    // Written in another order, at another time, with another umask.
    other.write_program_at("content/scripts/guard.sh", "#!/bin/sh\nexit 0\n");
    other.write_at("content/plugins/lint/.claude-plugin/plugin.json", "{\"name\": \"lint\"}\n");
    let module = other.write_at("content/modules/guard.ts", "export default () => {};\n".repeat(20));
    fs::set_permissions(module, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(other.path("content/modules/empty")).unwrap();
    other.write_at("content/settings.json", "{\"hooks\": {}}\n");
    let second = pack(&other.path("content"), &LIMITS).unwrap();
    assert_eq!(first.bytes, second.bytes);
    assert_eq!(first.digest, second.digest);
    let folder = target(&place, "out");
    let files = unpack(&first.bytes, &folder, &LIMITS).unwrap();
    assert_eq!(files, first.files);
    assert_eq!(files, list(&first.bytes, &LIMITS).unwrap());
    let modes: Vec<(String, u32)> = tree(&folder).into_iter().map(|(path, mode, _)| (path, mode)).collect();
    let expected = [
        ("modules/guard.ts", 0o644),
        ("plugins/lint/.claude-plugin/plugin.json", 0o644),
        ("scripts/guard.sh", 0o755),
        ("settings.json", 0o644),
    ];
    assert_eq!(modes, expected.map(|(path, mode)| (path.to_owned(), mode)));
}

#[test]
fn every_cut_off_archive_is_refused() {
    let (place, packed) = packed();
    for length in 0..packed.bytes.len() {
        let folder = target(&place, &format!("cut-{length}"));
        let error = unpack(&packed.bytes[..length], &folder, &LIMITS).unwrap_err();
        assert!(matches!(error, ArchiveError::Damaged(_)), "{length}: {error:?}");
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
    let longer = [&packed.bytes[..], b"x"].concat();
    assert!(matches!(list(&longer, &LIMITS), Err(ArchiveError::Damaged(_))));
    let twice = [&packed.bytes[..], &packed.bytes[..]].concat();
    assert!(matches!(list(&twice, &LIMITS), Err(ArchiveError::Damaged(_))));
}

#[test]
fn an_archive_with_any_flipped_bit_is_refused_or_means_the_same() {
    let (place, packed) = packed();
    let whole = target(&place, "whole");
    unpack(&packed.bytes, &whole, &LIMITS).unwrap();
    let expected = tree(&whole);
    for at in 0..packed.bytes.len() {
        let mut bytes = packed.bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        let folder = target(&place, &format!("flip-{at}"));
        // Nothing reads the time and the name of a system in the header of the compression, and the bits that fill up its last
        // byte in front of the checksum and the length.
        if unpack(&bytes, &folder, &LIMITS).is_ok() {
            assert!(at < 10 || at == packed.bytes.len() - 9, "byte {at} of {}", packed.bytes.len());
            assert_eq!(tree(&folder), expected, "byte {at}");
        }
        let around = folder.parent().unwrap();
        assert_eq!(fs::read_dir(around).unwrap().count(), 1, "byte {at} wrote outside");
        fs::remove_dir_all(around).unwrap();
    }
}

/// The reason for refusing an archive of one entry.
fn refusal(path: &[u8], kind: EntryType) -> &'static str {
    let place = TestProject::new();
    let folder = target(&place, "out");
    let reason = unpack(&forged(&[(path, kind, b"x")]), &folder, &LIMITS).unwrap_err().reason();
    assert!(tree(folder.parent().unwrap()).is_empty(), "{:?} wrote something", String::from_utf8_lossy(path));
    reason
}

#[test]
fn what_leads_elsewhere_is_refused() {
    for path in [
        &b"../settings.json"[..],
        b"modules/../../x",
        b"/etc/passwd",
        b"modules/./x",
        b"modules//x",
        b"modules/x/",
        b"modules/..",
        b"modules/a\nb",
        b"modules/a\\b",
        b"modules/\xff",
        b"",
    ] {
        assert_eq!(refusal(path, EntryType::Regular), "archive-path", "{:?}", String::from_utf8_lossy(path));
    }
    for path in [&b"evil.sh"[..], b"settings.json/x", b"modules", b"Modules/x", b".git/config"] {
        assert_eq!(refusal(path, EntryType::Regular), "archive-unexpected", "{:?}", String::from_utf8_lossy(path));
    }
    for (kind, reason) in [
        (EntryType::Symlink, "archive-link"),
        (EntryType::Link, "archive-link"),
        (EntryType::Char, "archive-device"),
        (EntryType::Block, "archive-device"),
        (EntryType::Fifo, "archive-device"),
        (EntryType::Directory, "archive-entry"),
        (EntryType::GNULongName, "archive-entry"),
        (EntryType::GNULongLink, "archive-entry"),
        (EntryType::GNUSparse, "archive-entry"),
        (EntryType::XHeader, "archive-entry"),
        (EntryType::XGlobalHeader, "archive-entry"),
        (EntryType::Continuous, "archive-entry"),
    ] {
        assert_eq!(refusal(b"modules/x", kind), reason, "{kind:?}");
    }
}

#[test]
fn a_path_twice_is_refused() {
    let place = TestProject::new();
    for entries in [
        [(&b"modules/a"[..], EntryType::Regular, &b"1"[..]), (b"modules/a", EntryType::Regular, b"2")],
        [(b"modules/a", EntryType::Regular, b"1"), (b"modules/a/b", EntryType::Regular, b"2")],
        [(b"modules/a/b", EntryType::Regular, b"1"), (b"modules/a", EntryType::Regular, b"2")],
    ] {
        let name = format!("out-{}-{}", entries[0].0.len(), entries[1].0.len());
        let error = unpack(&forged(&entries), &target(&place, &name), &LIMITS).unwrap_err();
        assert!(matches!(error, ArchiveError::Duplicate(_)), "{error:?}");
    }
}

#[test]
fn an_archive_that_grows_too_much_is_refused() {
    let bomb = forged(&[(b"modules/zeros", EntryType::Regular, &vec![0; 15 << 20])]);
    assert!(bomb.len() < 64 << 10, "{}", bomb.len());
    assert!(matches!(list(&bomb, &LIMITS), Err(ArchiveError::Bomb(_))));
    // What stands behind the last entry counts too.
    let mut behind = forged(&[(b"modules/x", EntryType::Regular, b"x")]);
    assert!(list(&behind, &LIMITS).is_ok());
    behind = compressed(&vec![0; 64 << 20]);
    assert!(matches!(list(&behind, &LIMITS), Err(ArchiveError::Bomb(_) | ArchiveError::Empty)));
    let large = forged(&[(b"modules/large", EntryType::Regular, &vec![7; (16 << 20) + 1])]);
    assert!(matches!(list(&large, &LIMITS), Err(ArchiveError::TooLarge { .. })));
    let names: Vec<Vec<u8>> = (0..=LIMITS.files).map(|number| format!("modules/{number}").into_bytes()).collect();
    let many: Vec<(&[u8], EntryType, &[u8])> =
        names.iter().map(|name| (name.as_slice(), EntryType::Regular, &b""[..])).collect();
    assert!(matches!(list(&forged(&many), &LIMITS), Err(ArchiveError::TooMany(_))));
    assert!(matches!(list(&forged(&[]), &LIMITS), Err(ArchiveError::Empty)));
    // A header may name any size.
    let mut header = Header::new_ustar();
    header.set_path("modules/x").unwrap();
    header.set_size(u64::MAX / 2);
    header.set_mode(0o644);
    header.set_cksum();
    assert!(matches!(list(&compressed(header.as_bytes()), &LIMITS), Err(ArchiveError::TooLarge { .. })));
}

#[test]
fn a_folder_with_what_does_not_belong_there_is_not_packed() {
    let place = TestProject::new();
    let folder = content(&place);
    let reason = || pack(&folder, &LIMITS).unwrap_err().reason();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("modules/link")).unwrap();
    assert_eq!(reason(), "archive-link");
    fs::remove_file(folder.join("modules/link")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("modules/pipe")).status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(reason(), "archive-device");
        fs::remove_file(folder.join("modules/pipe")).unwrap();
    }
    place.write_at("content/README.md", "x");
    assert_eq!(reason(), "archive-unexpected");
    fs::remove_file(folder.join("README.md")).unwrap();
    let long = "d".repeat(120);
    place.write_at(&format!("content/modules/{long}.ts"), "x");
    assert_eq!(reason(), "archive-path", "the plain format has no place for it");
    fs::remove_file(folder.join(format!("modules/{long}.ts"))).unwrap();
    assert!(pack(&folder, &LIMITS).is_ok());
    assert_eq!(pack(&place.project, &LIMITS).unwrap_err().reason(), "archive-empty");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes, also below a valid compression, end in an error or in files inside the folder.
    #[test]
    fn any_bytes_are_unpacked_inside_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..4096), wrap: bool) {
        let place = TestProject::new();
        let folder = target(&place, "out");
        let archive = if wrap { compressed(&bytes) } else { bytes };
        let _ = unpack(&archive, &folder, &LIMITS);
        prop_assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
    }

    /// Changed blocks of a valid tar, with a correct compression around them.
    #[test]
    fn a_changed_tar_is_unpacked_inside_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        repair: bool,
    ) {
        let place = TestProject::new();
        let mut bytes = Vec::new();
        for (path, data) in [("modules/a.ts", "one"), ("scripts/b.sh", "two"), ("settings.json", "{}")] {
            let mut header = Header::new_ustar();
            header.set_path(path).unwrap();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            bytes.extend_from_slice(header.as_bytes());
            bytes.extend_from_slice(data.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
        bytes.extend([0; 1024]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if repair {
            // A correct checksum lets the changed header through to the checks behind it.
            for block in [0, 1024, 2048] {
                let mut header = Header::new_old();
                header.as_mut_bytes().copy_from_slice(&bytes[block..block + 512]);
                header.set_cksum();
                bytes[block..block + 512].copy_from_slice(header.as_bytes());
            }
        }
        let folder = target(&place, "out");
        let _ = unpack(&compressed(&bytes), &folder, &LIMITS);
        prop_assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
        for (path, _, _) in tree(&folder) {
            let first = path.split('/').next().unwrap().to_owned();
            prop_assert!(["settings.json", "plugins", "modules", "scripts"].contains(&first.as_str()), "{}", path);
        }
    }
}
