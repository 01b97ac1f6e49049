//! Finds the programs that tests start. Tests build nothing: `cargo test --workspace` puts every program of the workspace
//! beside its tests before the first one runs.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// What a program is made of: its package, its name, and the libraries of this workspace that it links.
struct Program {
    package: &'static str,
    name: &'static str,
    libraries: &'static [&'static str],
}

const CHILD: Program =
    Program { package: "hookrail-testkit", name: "hookrail-child", libraries: &["hookrail_testkit"] };

const MEASURE: Program =
    Program { package: "hookrail-testkit", name: "hookrail-measure", libraries: &["hookrail_testkit"] };

const HOOKRAIL: Program = Program {
    package: "hookrail-cli",
    name: "hookrail",
    libraries: &[
        "hookrail",
        "hookrail_agent",
        "hookrail_bridge",
        "hookrail_bus",
        "hookrail_inspect",
        "hookrail_journal",
        "hookrail_js",
        "hookrail_matcher",
        "hookrail_spawn",
    ],
};

/// Returns the path of the `hookrail-child` binary, see `src/bin/hookrail-child`.
///
/// # Panics
///
/// If it is missing or older than its sources.
#[must_use]
pub fn child() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| find(&CHILD)).clone()
}

/// Returns the path of the `hookrail` binary, for tests of packages that it links and that cannot depend on its package.
///
/// # Panics
///
/// If it is missing or older than its sources.
#[must_use]
pub fn hookrail() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| find(&HOOKRAIL)).clone()
}

/// Returns the path of the `hookrail-measure` binary, see `src/bin/hookrail-measure`.
///
/// # Panics
///
/// If it is missing or older than its sources.
#[must_use]
pub fn measure() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| find(&MEASURE)).clone()
}

#[expect(clippy::panic, reason = "a test without its programs can only fail")]
fn find(program: &Program) -> PathBuf {
    let folder = profile_folder();
    let Program { package, name, .. } = program;
    let binary = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let problem = match modified(&binary) {
        None => "does not exist".to_owned(),
        Some(built) => match newer_source(program, &binary, built, &folder.join("deps")) {
            None => return binary,
            Some(source) => format!("is older than `{}`", source.display()),
        },
    };
    panic!(
        "this test starts `{}`, which {problem}: build it with `cargo build --package {package} --bin {name}`, or everything \
         that tests start with `cargo build --workspace --bins`",
        binary.display()
    )
}

/// `target/[triple/]profile`, from `target/[triple/]profile/deps/this-test`.
#[expect(clippy::panic, reason = "a test that cannot find itself can only fail")]
pub(crate) fn profile_folder() -> PathBuf {
    let test = match std::env::current_exe() {
        Ok(test) => test,
        Err(error) => panic!("cannot determine the path of this test: {error}"),
    };
    let folder = test.parent().unwrap_or(Path::new("."));
    match folder.file_name() {
        Some(name) if name == "deps" || name == "examples" => folder.parent().unwrap_or(folder).to_owned(),
        _ => folder.to_owned(),
    }
}

/// A source of the program, or of a library that it links, that was written after the program.
///
/// The compiler lists the sources of everything that it makes in `deps`; Cargo's own list beside the program is missing
/// where `cargo test` has built it.
fn newer_source(program: &Program, binary: &Path, built: SystemTime, deps: &Path) -> Option<PathBuf> {
    let lists = std::fs::read_dir(deps).ok()?.flatten().map(|entry| entry.path());
    let lists = lists.filter(|path| path.extension().is_some_and(|ending| ending == "d"));
    let of_this_program = lists.filter(|list| {
        let stem = list.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let Some((made, _hash)) = stem.rsplit_once('-') else { return false };
        let is_library = program.libraries.contains(&made) && deps.join(format!("lib{stem}.rlib")).exists();
        is_library || (made == program.name.replace('-', "_") && is_same_file(&list.with_extension(""), binary))
    });
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let texts = of_this_program.filter_map(|list| std::fs::read_to_string(list).ok());
    let mut sources = texts.flat_map(|text| sources(&text)).map(|source| workspace.join(source));
    sources.find(|source| modified(source).is_some_and(|written| written > built))
}

/// Whether two paths lead to the same file: Cargo links a program from `deps` to where people look for it.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| std::fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// The files after the colon of the first rule for `make`, in which a space of a name follows a backslash.
fn sources(list: &str) -> Vec<PathBuf> {
    let rule = list.lines().next().unwrap_or_default();
    let names = rule.split_once(": ").map_or("", |(_, names)| names).replace("\\ ", "\0");
    names.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|about| about.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_sources_is_read() {
        let list = "target/debug/hookrail: a/main.rs a/with\\ space/lib.rs\n\na/main.rs:\n";
        assert_eq!(sources(list), [Path::new("a/main.rs"), Path::new("a/with space/lib.rs")]);
    }

    #[test]
    fn a_program_is_too_old_if_a_source_was_written_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let (deps, source) = (dir.path().join("deps"), dir.path().join("main.rs"));
        std::fs::create_dir(&deps).unwrap();
        std::fs::write(&source, "").unwrap();
        std::fs::write(deps.join("sample-0.d"), format!("x: {}\n", source.display())).unwrap();
        std::fs::write(deps.join("sample-0"), "").unwrap();
        let binary = dir.path().join("sample");
        std::fs::hard_link(deps.join("sample-0"), &binary).unwrap();
        let program = Program { package: "sample", name: "sample", libraries: &[] };
        let written = modified(&source).unwrap();
        assert_eq!(newer_source(&program, &binary, written, &deps), None);
        let before = written - std::time::Duration::from_secs(1);
        assert_eq!(newer_source(&program, &binary, before, &deps), Some(source));
    }
}
