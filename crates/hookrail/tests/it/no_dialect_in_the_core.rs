//! The core names no dialect: what is special about one stays in its own folder.

use std::path::{Path, PathBuf};

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn firing_run_guard_and_system_name_no_dialect() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for folder in ["firing", "run", "guard", "system"] {
        rust_files(&source.join(folder), &mut files);
    }
    assert!(files.len() > 10, "the folders were found");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            for name in ["llxprt", "xcode", "xcsh", "x-code", "gemini", "claude"] {
                assert!(!lower.contains(name), "{}:{}: {line}", file.display(), number + 1);
            }
        }
    }
}
