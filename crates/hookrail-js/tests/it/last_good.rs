//! A module that could be loaded once stays in force while it cannot be.

use std::fs;

use super::common::{Project, tool_call};
use hookrail::{Code, HookSystem, OnFailure, Outcome};

const GUARD: &str = "import { word } from './lib';\n\
    export default (pi) => { pi.on('tool_call', () => ({ block: true, reason: word })); };";
const LIBRARY: &str = "export const word = 'old';";

/// A project with a guard that imports another file.
fn project() -> Project {
    let project = Project::new();
    project.write("guard.ts", GUARD);
    project.write("lib.ts", LIBRARY);
    project
}

fn build(project: &Project) -> HookSystem {
    project.builder(&["guard.ts"]).runner(hookrail_js::modules()).build()
}

fn fire(system: &HookSystem) -> Outcome {
    system.fire_blocking(tool_call(system))
}

fn says(outcome: &Outcome, code: Code) -> bool {
    outcome.diagnostics.iter().any(|finding| finding.code == code)
}

/// The ways in which a module becomes useless, as the file and its new text.
const WAYS: [(&str, &str); 9] = [
    ("guard.ts", "export default (pi) => {"),
    ("guard.ts", ""),
    ("guard.ts", "  \n\n"),
    ("guard.ts", "throw new Error('no');"),
    ("guard.ts", "export default () => { throw new Error('no'); };"),
    ("guard.ts", "export const other = 1;"),
    ("guard.ts", "import { word } from './nowhere'; export default () => word;"),
    ("lib.ts", "export const word = ;"),
    ("lib.ts", ""),
];

#[test]
fn a_module_that_cannot_be_loaded_any_more_stays_in_force() {
    for (file, text) in WAYS {
        // It runs as it was, whether it ran before or not.
        for ran_before in [true, false] {
            let project = project();
            let system = build(&project);
            if ran_before {
                assert!(fire(&system).is_denied());
            }
            project.write(file, text);
            for reload in [HookSystem::refresh, HookSystem::reload] {
                reload(&system);
                let outcome = fire(&system);
                assert_eq!(outcome.effects.reason.as_deref(), Some("old"), "{file} became {text:?}");
                assert!(says(&outcome, Code::KeptLastGood), "{file} became {text:?}: {:?}", outcome.diagnostics);
                let findings = system.snapshot().diagnostics().to_vec();
                assert!(findings.iter().any(|finding| finding.code == Code::ModuleLoad), "{file} became {text:?}");
            }
            project.write("lib.ts", "export const word = 'new';");
            project.write("guard.ts", GUARD);
            system.refresh();
            let outcome = fire(&system);
            assert_eq!(outcome.effects.reason.as_deref(), Some("new"), "{file} was {text:?}");
            assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
        }
    }
}

#[test]
fn a_module_or_an_import_that_is_gone_stays_in_force() {
    for file in ["guard.ts", "lib.ts"] {
        let project = project();
        let system = build(&project);
        fs::remove_file(project.project.join(file)).unwrap();
        system.refresh();
        let outcome = fire(&system);
        assert_eq!(outcome.effects.reason.as_deref(), Some("old"), "{file}");
        let code = if file == "guard.ts" { Code::SourceRemoved } else { Code::KeptLastGood };
        assert!(says(&outcome, code), "{file}: {:?}", outcome.diagnostics);
    }
}

#[test]
fn a_module_in_a_folder_is_gone_when_that_is_accepted() {
    let project = Project::new();
    let file = project.write(".xcsh/hooks/pre/guard.ts", GUARD.replace("./lib", "../../../lib"));
    project.write("lib.ts", LIBRARY);
    let system = project.builder(&[]).runner(hookrail_js::modules()).trust_project().build();
    assert!(fire(&system).is_denied());
    fs::remove_file(file).unwrap();
    system.refresh();
    let outcome = fire(&system);
    assert!(outcome.is_denied() && says(&outcome, Code::SourceRemoved), "{:?}", outcome.diagnostics);
    system.reload();
    let outcome = fire(&system);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn the_version_that_was_looked_into_runs_again_after_its_runtime_was_thrown_away() {
    let project = project();
    project.write(
        "guard.ts",
        "let calls = 0; import { word } from './lib';\n\
         export default (pi) => { pi.on('tool_call', () => { if (++calls === 2) for (;;) {} return { block: true, reason: word }; }); };",
    );
    let mut limits = hookrail_js::RuntimeLimits::default();
    limits.cpu = std::time::Duration::from_millis(200);
    let runner = hookrail_js::Modules::with_limits(limits);
    let system = project.builder(&["guard.ts"]).runner(runner).build();
    assert!(fire(&system).is_denied());
    project.write("guard.ts", "{{{");
    project.write("lib.ts", "");
    system.refresh();
    assert!(fire(&system).is_denied(), "it loops, and a guard that fails blocks");
    assert_eq!(fire(&system).effects.reason.as_deref(), Some("old"), "a new runtime has the same sources");
}

#[test]
fn a_module_that_cannot_be_loaded_from_the_start_is_reported_and_has_the_effect_its_user_wants() {
    for (file, text) in WAYS {
        let project = project();
        project.write(file, text);
        let system = build(&project);
        let outcome = fire(&system);
        assert!(!outcome.is_denied(), "{text:?}");
        assert!(system.snapshot().diagnostics().iter().any(|finding| finding.code == Code::ModuleLoad), "{text:?}");
        assert_eq!(system.configuration().unusable.len(), 1, "{text:?}");
        let strict = project.builder(&["guard.ts"]).runner(hookrail_js::modules()).on_load_failure(OnFailure::Block);
        assert!(fire(&strict.build()).is_denied(), "{text:?}");
    }
}

#[test]
fn a_module_and_everything_it_imports_are_watched_also_what_is_missing() {
    let project = project();
    project.write("lib.ts", "import './missing.js'; export const word = 'old';");
    let system = build(&project);
    let watched = system.watched_paths();
    for name in ["guard.ts", "lib.ts", "missing.js", "missing.ts"] {
        assert!(watched.contains(&project.project.join(name)), "{name}: {watched:#?}");
    }
    let before = system.configuration();
    project.write("missing.ts", "");
    system.refresh();
    assert!(fire(&system).is_denied());
    let after = system.configuration();
    assert!(after.revision > before.revision && after.digest != before.digest);
    project.write("lib.ts", "import './missing.js'; export const word = 'new';");
    system.refresh();
    assert!(system.configuration().digest != after.digest, "an import belongs to the configuration");
}

#[test]
fn a_module_that_could_not_be_inspected_for_lack_of_resources_is_inspected_again() {
    let own = std::env::current_exe().unwrap();
    let script = "ulimit -n 64 && exec \"$0\" --ignored --exact last_good::without_descriptors --test-threads 1";
    let output = std::process::Command::new("sh").arg("-c").arg(script).arg(own).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "it is run by the test before it, in a process of its own"]
fn without_descriptors() {
    let project = project();
    let system = build(&project);
    let take = || -> Vec<fs::File> { std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect() };
    project.write("lib.ts", "export const word = 'new';");
    let taken = take();
    system.refresh();
    assert!(system.configuration().is_incomplete);
    assert!(!system.configuration().kept.is_empty(), "{:?}", system.snapshot().diagnostics());
    drop(taken);
    assert_eq!(fire(&system).effects.reason.as_deref(), Some("new"), "the event loaded again");
    let builder = project.builder(&["guard.ts"]).runner(hookrail_js::modules());
    let taken = take();
    let late = builder.build();
    drop(taken);
    assert_eq!(fire(&late).effects.reason.as_deref(), Some("new"), "the event loaded for the first time");
}
