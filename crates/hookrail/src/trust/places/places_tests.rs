#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct World {
    _folder: tempfile::TempDir,
    project: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (project, home) = (base.join("project"), base.join("home"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&home).unwrap();
        Self { _folder: folder, project, home }
    }

    fn places(&self) -> ProtectedPlaces {
        self.places_with(&Environment::new())
    }

    fn places_with(&self, environment: &Environment) -> ProtectedPlaces {
        let (project, home) = (self.project.clone(), Some(self.home.clone()));
        ProtectedPlaces::new(KnownPlaces { project, home, named: Vec::new() }, environment, &[])
    }
}

#[test]
fn what_agents_read_is_protected_whether_it_exists_or_not() {
    let world = World::new();
    let places = world.places();
    for place in [
        ".llxprt/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/agents/reviewer.md",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".gemini/extensions/hookrail/hooks/hooks.json",
        ".qwen/settings.json",
        ".factory/settings.json",
        ".factory/hooks.json",
        ".copilot/hooks/hookrail.json",
        ".pi/agent/extensions/hookrail.ts",
        ".opencode/plugin/hookrail.js",
        ".hookrail/rules.toml",
        ".hookrail",
    ] {
        for root in [&world.project, &world.home] {
            assert!(places.protects(&root.join(place)), "{place}");
            assert_eq!(places.protected_target(root, Path::new(place)), Some(root.join(place)), "{place}");
        }
        assert!(places.protects(&world.project.join("nested/project").join(place)), "nested {place}");
    }
    for place in [".config/hookrail/config.toml", ".config/hookrail/rules.toml", ".config/opencode/plugin/hookrail.js"]
    {
        assert!(places.protects(&world.home.join(place)), "{place}");
    }
    assert!(places.protects(&world.project.join(".github/hooks/hookrail.json")));
    for place in ["/etc/hookrail/rules.toml", "/etc/claude-code/managed-settings.json", "/etc/codex/hooks.json"] {
        assert!(places.protects(Path::new(place)), "{place}");
    }
    for other in
        ["src/main.rs", ".github/workflows/ci.yml", "notes/.claude.md", "claude/settings.json", ".gitignore", ""]
    {
        assert!(!places.protects(&world.project.join(other)), "{other}");
        assert_eq!(places.protected_target(&world.project, Path::new(other)), None, "{other}");
    }
}

#[test]
fn the_work_of_an_agent_is_not_protected_but_its_hooks_are() {
    let world = World::new();
    let places = world.places();
    for work in [".claude/worktrees/a/src/main.rs", ".claude/plans/plan.md", ".claude/projects/p/memory/m.md"] {
        assert!(!places.protects(&world.project.join(work)), "{work}");
        assert!(!places.protects(&world.home.join(work)), "{work}");
    }
    assert!(places.protects(&world.project.join(".claude/worktrees/a/.claude/settings.json")));
    // A project may lie in such a folder.
    let project = world.home.join(".claude/worktrees/a");
    let known = KnownPlaces { project: project.clone(), home: Some(world.home.clone()), named: Vec::new() };
    let inner = ProtectedPlaces::new(known, &Environment::new(), &[]);
    assert!(!inner.protects(&project.join("src/main.rs")));
    assert!(inner.protects(&project.join(".claude/settings.json")));
    assert!(inner.protects(&world.home.join(".claude/settings.json")));
}

#[test]
fn folders_that_the_environment_names_are_protected() {
    let world = World::new();
    let environment = Environment::new()
        .with("CODEX_HOME", "/srv/codex")
        .with("XDG_CONFIG_HOME", "/srv/config")
        .with("CLAUDE_CONFIG_DIR", "relative");
    let places = world.places_with(&environment);
    for place in
        ["/srv/codex/hooks.json", "/srv/config/hookrail/config.toml", "/srv/config/opencode/plugin/hookrail.js"]
    {
        assert!(places.protects(Path::new(place)), "{place}");
    }
    assert!(!places.protects(&world.project.join("relative/settings.json")));
    assert!(!places.protects(Path::new("/srv/config/other.toml")));
}

#[test]
fn paths_are_judged_as_the_kernel_resolves_them_and_as_they_are_written() {
    let world = World::new();
    let project = &world.project;
    fs::create_dir_all(project.join(".claude/hooks")).unwrap();
    fs::create_dir_all(project.join("src/deep")).unwrap();
    symlink(".claude", project.join("link")).unwrap();
    symlink("link/settings.json", project.join("notes.md")).unwrap();
    symlink("../.claude/hooks", project.join("src/hooks")).unwrap();
    symlink("src/deep", project.join("plain")).unwrap();
    let places = world.places();
    let target = |path: &str| places.protected_target(project, Path::new(path));
    let settings = Some(project.join(".claude/settings.json"));
    for path in [
        "link/settings.json",
        "notes.md",
        "src/../.claude/settings.json",
        "src/hooks/../settings.json",
        "missing/../.claude/settings.json",
        "./.claude//settings.json",
        "src/deep/../../link/settings.json",
    ] {
        assert_eq!(target(path), settings, "{path}");
    }
    assert_eq!(target("src/hooks/guard.sh"), Some(project.join(".claude/hooks/guard.sh")));
    for path in ["plain/file", "src/main.rs", "src/../README.md", "plain/../main.rs"] {
        assert_eq!(target(path), None, "{path}");
    }
    // A folder of an agent, or a file in it, that is a link is protected where it leads.
    fs::create_dir_all(world.home.join("dotfiles/qwen")).unwrap();
    symlink("dotfiles/qwen", world.home.join(".qwen")).unwrap();
    fs::create_dir_all(world.home.join(".gemini")).unwrap();
    symlink("../dotfiles/gemini.json", world.home.join(".gemini/settings.json")).unwrap();
    places.look_again();
    for path in ["dotfiles/qwen/settings.json", "dotfiles/gemini.json"] {
        assert!(places.protected_target(&world.home, Path::new(path)).is_some(), "{path}");
    }
    assert_eq!(places.protected_target(&world.home, Path::new("dotfiles/vimrc")), None);
}

#[test]
fn a_project_behind_a_link_is_the_same_project() {
    let world = World::new();
    let link = world.home.join("link");
    symlink(&world.project, &link).unwrap();
    let known = KnownPlaces { project: link.clone(), home: Some(world.home.clone()), named: Vec::new() };
    let places = ProtectedPlaces::new(known, &Environment::new(), &[]);
    for root in [&link, &world.project] {
        assert!(places.protected_target(root, Path::new(".claude/settings.json")).is_some());
        assert_eq!(places.protected_target(root, Path::new("src/main.rs")), None);
    }
}

#[test]
fn a_named_place_that_holds_the_project_does_not_protect_everything() {
    let world = World::new();
    let base = world.project.parent().unwrap().to_owned();
    let named = vec![base, world.home.clone(), world.project.join("rules"), PathBuf::new()];
    let known = KnownPlaces { project: world.project.clone(), home: Some(world.home.clone()), named };
    let places = ProtectedPlaces::new(known, &Environment::new(), &[]);
    assert!(!places.protects(&world.project.join("src/main.rs")));
    assert!(places.protects(&world.project.join("rules/a.toml")));
    assert!(places.protects_below(&world.project) && !places.protects_below(&world.project.join("src")));
}
