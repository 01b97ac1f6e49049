use super::*;

fn command(root: &Path, line: &str) -> Command {
    let name = |name: &str| (name.to_owned(), root.to_owned());
    let folders =
        [name("LLXPRT_PROJECT_DIR"), name("CLAUDE_PROJECT_DIR"), ("pluginDir".to_owned(), root.join("plug in"))];
    Command {
        text: CommandText::Line(line.into()),
        folders: folders.into(),
        search_path: std::env::var_os("PATH"),
        home: None,
    }
}

fn files(root: &Path, line: &str) -> Vec<String> {
    let found = command(root, line).files(root, root).found.into_iter();
    found.map(|found| found.path.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn scripts_are_found_however_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let root = &dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.sh"), "a").unwrap();
    std::fs::write(root.join("b c.sh"), "b").unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    for line in [
        "./a.sh",
        "bash a.sh --flag",
        "\"$LLXPRT_PROJECT_DIR/a.sh\"",
        "${CLAUDE_PROJECT_DIR}/a.sh",
        "true&&./a.sh;true",
        "X=1 ./sub/../a.sh",
        "cat<a.sh",
        "python3 'a.sh'",
    ] {
        assert_eq!(files(root, line), ["a.sh"], "{line}");
    }
    assert_eq!(files(root, "sh \"./b c.sh\""), ["b c.sh"]);
    assert_eq!(files(root, "sh a\\\n.sh"), ["a.sh"]);
    assert!(files(root, "npm run lint").is_empty());
    // What is only written is not run.
    for line in ["cat >> a.sh", "cat >a.sh", "true 2>'a.sh'", "echo x > \"a.sh\""] {
        assert!(files(root, line).is_empty(), "{line}");
    }
    for line in ["cat > a.sh; sh a.sh", "sh a.sh > log", "sh a.sh>log 2>&1", "cat < a.sh > log"] {
        assert_eq!(files(root, line), ["a.sh"], "{line}");
    }
    // A blank that no shell splits at belongs to the name of another file.
    for blank in ['\u{a0}', '\u{2003}', '\u{3000}', '\u{85}', '\u{2028}', '\r', '\u{c}', '\u{b}'] {
        assert!(files(root, &format!("bash a.sh{blank}")).is_empty(), "{blank:?}");
    }
    std::fs::create_dir(root.join("plug in")).unwrap();
    std::fs::write(root.join("plug in/d e.sh"), "d").unwrap();
    for line in ["sh ${pluginDir}/\"d e.sh\"", "\"${pluginDir}\"/'d e.sh'", "\"${pluginDir}${sep}d e.sh\""] {
        assert_eq!(files(root, line), ["plug in/d e.sh"], "{line}");
    }
}

#[test]
fn a_changed_file_breaks_the_fingerprint() {
    let dir = tempfile::tempdir().unwrap();
    let root = &dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.sh"), "one").unwrap();
    let look = || FileOrigin::Command(Arc::new(command(root, "./a.sh"))).inspect(root, root).files;
    let taken = look();
    std::fs::write(root.join("a.sh"), "two").unwrap();
    assert_ne!(taken, look());
}
