//! What modules may do: scopes, the environment, imports, and hook places, which no module changes.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::common::{Project, limits, reason, runner, tool_call};
use hookrail::module::Capabilities;
use hookrail::trust::FileTrustStore;
use hookrail::{Environment, HookSystem};
use hookrail_js::{Modules, SharedProcesses};
use hookrail_testkit::TestProject;

/// A project, a home directory and a store of grants in one folder.
struct Lab(TestProject);

impl Lab {
    fn new() -> Self {
        let lab = Self(TestProject::new());
        fs::create_dir_all(lab.at("state/hookrail")).unwrap();
        lab
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        self.0.write_at(name, text)
    }

    /// A module that does each of these, and says how each ended: `ok` with what it gave, or the code of the error.
    fn system(&self, capabilities: &[&str], head: &str, works: &[String]) -> HookSystem {
        let works = works.join(", ");
        self.write(
            "hook/x.ts",
            &format!(
                "import * as fs from 'node:fs';\nimport * as os from 'node:os';\nimport {{ execFileSync }} from 'node:child_process';\n{head}\n\
                 export default (pi) => {{ pi.on('tool_call', async () => {{ const out = [];\n\
                 for (const work of [{works}]) {{ try {{ out.push('ok ' + (await work() ?? '')); }} catch (e) {{ out.push(e.code ?? e.message); }} }}\n\
                 return {{ block: true, reason: out.join('|') }}; }}); }};"
            ),
        );
        let environment: Environment = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
        let environment = environment
            .with("HOME", self.at("home"))
            .with("API_KEY", "secret")
            .with("GITHUB_SHA_X", "abc")
            .with("LANG", "C");
        HookSystem::builder(self.at("project"))
            .environment(environment)
            .trust_store(FileTrustStore::new(self.at("state/hookrail/trust.json")))
            .module(self.at("hook/x.ts"))
            .capabilities(Capabilities::parse(capabilities.iter().copied()).unwrap())
            .runner(runner(limits()))
            .build()
    }

    fn does_with(&self, capabilities: &[&str], head: &str, works: &[String]) -> Vec<String> {
        let system = self.system(capabilities, head, works);
        let said = reason(&system.fire_blocking(tool_call(&system)));
        system.shutdown_blocking();
        said.split('|').map(|said| said.trim().to_owned()).collect()
    }

    fn does(&self, capabilities: &[&str], works: &[String]) -> Vec<String> {
        self.does_with(capabilities, "", works)
    }
}

fn work(text: &str) -> String {
    format!("() => {text}")
}

#[test]
fn the_environment_needs_a_capability_also_for_processes() {
    let lab = Lab::new();
    let works = [
        work("process.env.API_KEY ?? 'none'"),
        work("Bun.env.GITHUB_SHA_X ?? 'none'"),
        work("[process.env.HOME === os.homedir(), process.env.LANG, process.env.PATH.length > 0].join()"),
    ];
    let child = work("execFileSync('sh', ['-c', 'echo ${API_KEY-none} ${GITHUB_SHA_X-none} $LANG']).toString()");
    let seen = |capabilities: &[&str]| lab.does(capabilities, &works);
    assert_eq!(seen(&["read"]), ["ok none", "ok none", "ok true,C,true"]);
    assert_eq!(seen(&["env"]), ["ok secret", "ok abc", "ok true,C,true"]);
    assert_eq!(seen(&["env:GITHUB_*"]), ["ok none", "ok abc", "ok true,C,true"]);
    assert_eq!(lab.does(&["run"], std::slice::from_ref(&child)), ["ok none none C"]);
    assert_eq!(lab.does(&["run", "env:API_KEY"], &[child]), ["ok secret none C"]);
}

#[test]
fn an_import_that_is_chosen_while_the_module_runs_is_reading_a_file() {
    let lab = Lab::new();
    let secret = lab.write("home/secret.json", r#"{"key":"secret"}"#);
    lab.write("hook/part.json", r#"{"a":1}"#);
    lab.write("hook/lib.ts", "import deep from './deep.json';\nexport const b = deep.b;");
    lab.write("hook/deep.json", r#"{"b":2}"#);
    lab.write("project/src/in.json", r#"{"c":3}"#);
    let secret = secret.display();
    let head = "import part from './part.json';\nimport { b } from './lib';";
    let works = [
        work("part.a + b"),
        work(&format!("import('{secret}').then((m) => m.default.key)")),
        work(&format!("import(['{secret}'].join()).then((m) => m.default.key)")),
        work(&format!("import('file://{secret}?x').then((m) => m.default.key)")),
        work(&format!("(0, eval)(\"import('{secret}')\").then((m) => m.default.key)")),
        work(&format!("import('{}').then((m) => m.default.c)", lab.at("project/src/in.json").display())),
    ];
    let refused = lab.does_with(&[], head, &works);
    assert_eq!(refused[0], "ok 3");
    assert!(refused[1..].iter().all(|said| said.contains("no `read` capability")), "{refused:?}");
    assert_eq!(lab.does_with(&["read"], head, &works)[1..3], ["ok secret", "ok secret"]);
    let scoped = lab.does_with(&["read:src/**"], head, &works);
    assert!(scoped[1].contains("does not cover it") && scoped[5] == "ok 3", "{scoped:?}");
}

#[test]
fn data_that_is_not_the_module_s_own_is_read_by_an_import() {
    let lab = Lab::new();
    let secret = lab.write("home/secret.json", r#"{"key":"secret"}"#);
    let text = lab.write("home/secret", "export default 'secret';");
    lab.write("home/code.js", "export default 'code';");
    lab.write("hook/own/part.json", r#"{"key":"own"}"#);
    std::os::unix::fs::symlink(&secret, lab.at("hook/link.json")).unwrap();
    let said = |capabilities: &[&str], import: &str| {
        lab.does_with(capabilities, &format!("import got from '{import}';"), &[work("got.key ?? got")]).join("|")
    };
    let secrets =
        [secret.display().to_string(), "../home/secret.json".into(), "./link.json".into(), text.display().to_string()];
    for import in &secrets {
        let refused = said(&["write"], import);
        assert!(refused.contains("no `read` capability"), "{import}: {refused}");
        assert_eq!(said(&["read", "write"], import), "ok secret", "{import}");
    }
    assert_eq!(said(&["write"], "./own/part.json"), "ok own");
    assert_eq!(said(&["write"], "../home/code.js"), "ok code");
}

#[test]
fn hook_places_are_never_written() {
    let lab = Lab::new();
    lab.write("home/.xcsh/agent/hooks/pre/guard.ts", "export default () => {};");
    lab.write("home/.llxprt/settings.json", "{}");
    lab.write("project/.llxprt/hooks/guard.sh", "exit 2");
    lab.write("state/hookrail/trust.json", r#"{"version":2,"projects":{}}"#);
    lab.write("project/evil/hooks/pre/evil.ts", "export default () => {};");
    fs::create_dir_all(lab.at("project/src")).unwrap();
    symlink(lab.at("home/.xcsh"), lab.at("project/link")).unwrap();
    symlink("../home/.claude/hooks/pre", lab.at("project/nothing-yet")).unwrap();
    symlink(lab.at("home/.llxprt/settings.json"), lab.at("project/settings")).unwrap();
    fs::hard_link(lab.at("home/.llxprt/settings.json"), lab.at("project/other-name")).unwrap();
    fs::hard_link(lab.at("hook/x.ts"), lab.at("project/own-name")).unwrap_or_else(|_| {
        lab.write("hook/x.ts", "");
        fs::hard_link(lab.at("hook/x.ts"), lab.at("project/own-name")).unwrap();
    });
    let base = lab.at("");
    let base = base.display();
    let before = tree(&lab.at(""));
    let works: Vec<String> = [
        "fs.writeFileSync('@home/.xcsh/agent/hooks/pre/evil.ts', '')",
        "fs.writeFileSync('@home/.XCSH/agent/hooks/pre/evil.ts', '')",
        "fs.writeFileSync('@home/.llxprt/settings.json', '')",
        "fs.appendFileSync('@home/.llxprt/settings.json', '')",
        "fs.writeFileSync('.llxprt/hooks/guard.sh', '')",
        "fs.writeFileSync('src/../.llxprt/hooks/json.py', '')",
        "fs.writeFileSync('evil/../.claude', '')",
        "fs.writeFileSync('link/agent/hooks/pre/evil.ts', '')",
        "fs.writeFileSync('link/../.llxprt/x', '')",
        "fs.writeFileSync('settings', '')",
        "fs.writeFileSync('other-name', '')",
        "fs.chmodSync('other-name', 0o777)",
        "fs.writeFileSync('own-name', '')",
        "fs.writeFileSync('nothing-yet', '')",
        "fs.writeFileSync('sub/.xcsh/hooks/pre/evil.ts', '')",
        "fs.mkdirSync('.xcsh/hooks/pre', { recursive: true })",
        "fs.mkdirSync('@home/.codex')",
        "fs.mkdtempSync('.gemini')  && fs.mkdtempSync('.gemini/x')",
        "fs.mkdtempSync('link/')",
        "fs.mkdtempSync('link/agent/hooks/pre/')",
        "fs.symlinkSync('@project/evil', '@home/.claude')",
        "fs.symlinkSync('@project/evil', '.xcsh')",
        "fs.renameSync('evil', '.xcsh')",
        "fs.renameSync('evil', '@home/.claude')",
        "fs.renameSync('.llxprt', 'away')",
        "fs.renameSync('@home', '@away')",
        "fs.renameSync('link', 'link2') || fs.renameSync('@home/.llxprt/settings.json', 'x')",
        "fs.copyFileSync('evil/hooks/pre/evil.ts', '@home/.xcsh/agent/hooks/pre/evil.ts')",
        "fs.copyFileSync('evil/hooks/pre/evil.ts', 'nothing-yet')",
        "fs.rmSync('.llxprt', { recursive: true })",
        "fs.rmSync('@home', { recursive: true, force: true })",
        "fs.rmSync('@state', { recursive: true })",
        "fs.unlinkSync('@state/hookrail/trust.json')",
        "fs.writeFileSync('@state/hookrail/trust.json', '')",
        "fs.writeFileSync('@state/hookrail/trust.lock', '')",
        "fs.rmSync('@state/hookrail/guard-modules', { recursive: true })",
        "fs.writeFileSync('@state/hookrail/guard-modules/x', '')",
        "fs.utimesSync('@home/.llxprt/settings.json', 0, 0)",
        "fs.chmodSync('@home', 0o777)",
        "fs.writeFileSync('@hook/x.ts', '')",
        "Bun.write('@home/.xcsh/agent/hooks/pre/evil.ts', 'x')",
        "fs.promises.writeFile('.hookrail/config.toml', '')",
    ]
    .iter()
    .map(|text| work(&text.replace('@', &format!("{base}"))))
    .collect();
    let said = lab.does(&["read", "write"], &works);
    for (text, said) in works.iter().zip(&said) {
        assert_eq!(said, "EACCES", "{text}");
    }
    // A rename of a link and a folder with a harmless name are the module's to make. The engine remembers the module itself.
    fs::rename(lab.at("project/link2"), lab.at("project/link")).unwrap();
    let made: Vec<PathBuf> = tree(&lab.at("")).into_iter().filter(|path| !before.contains(path)).collect();
    let is_expected = |path: &str| path.contains("/.gemini") || path.contains("/hookrail/guard-modules");
    let made: Vec<_> = made.iter().filter(|path| !is_expected(&path.to_string_lossy())).collect();
    assert!(made.is_empty(), "{made:?}");
    assert_eq!(fs::read_to_string(lab.at("home/.llxprt/settings.json")).unwrap(), "{}");
    let works = [
        "fs.writeFileSync('x', 'x')",
        "fs.mkdirSync('a/b', { recursive: true }) && ''",
        "fs.rmSync('a', { recursive: true })",
    ];
    assert_eq!(lab.does(&["read", "write"], &works.map(work)), ["ok", "ok", "ok"]);
}

/// Every path below a folder.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn a_scope_is_about_where_a_path_really_leads() {
    let lab = Lab::new();
    lab.write("project/src/a.txt", "inside");
    lab.write("project/b.txt", "beside");
    lab.write("home/secret", "secret");
    lab.write("project/out/old", "old");
    symlink(lab.at("home"), lab.at("project/src/link")).unwrap();
    symlink(lab.at("home/new"), lab.at("project/out/dangling")).unwrap();
    symlink(lab.at("home"), lab.at("project/out/away")).unwrap();
    symlink(lab.at("project/src"), lab.at("project/alias")).unwrap();
    let secret = lab.at("home/secret");
    let secret = secret.display();
    let rows = [
        ("fs.readFileSync('src/a.txt', 'utf8')", "ok inside"),
        ("fs.readFileSync('alias/a.txt', 'utf8')", "ok inside"),
        ("fs.readdirSync('src').length", "ok 2"),
        ("fs.existsSync('src/a.txt')", "ok true"),
        ("fs.readFileSync('b.txt', 'utf8')", "EACCES"),
        ("fs.readFileSync('src/../b.txt', 'utf8')", "EACCES"),
        ("fs.readFileSync('src/link/secret', 'utf8')", "EACCES"),
        ("fs.statSync('src/link/secret').size", "EACCES"),
        ("fs.readdirSync('src/link').length", "EACCES"),
        ("fs.readdirSync('.').length", "EACCES"),
        ("fs.copyFileSync('b.txt', 'out/b.txt')", "EACCES"),
        ("fs.copyFileSync('src/link/secret', 'out/b.txt')", "EACCES"),
        ("fs.copyFileSync('src/a.txt', 'out/a.txt')", "ok"),
        ("fs.writeFileSync('out/new/deep.txt', 'x')", "ENOENT"),
        ("fs.writeFileSync('out/deep.txt', 'x')", "ok"),
        ("fs.writeFileSync('src/a.txt', 'x')", "EACCES"),
        ("fs.writeFileSync('out/../b.txt', 'x')", "EACCES"),
        ("fs.writeFileSync('out/dangling', 'x')", "EACCES"),
        ("fs.mkdtempSync('out/away/')", "EACCES"),
        ("fs.mkdtempSync('out/away/x')", "EACCES"),
        ("fs.mkdtempSync('out/tmp-').length > 0", "ok true"),
        ("fs.renameSync('out/old', 'b2.txt')", "EACCES"),
        ("fs.renameSync('b.txt', 'out/b.txt')", "EACCES"),
        ("fs.renameSync('out/old', 'out/older')", "ok"),
        ("fs.watch('b.txt', () => {})", "EACCES"),
    ];
    let mut works: Vec<String> = rows.iter().map(|(text, _)| work(text)).collect();
    works.push(work(&format!("fs.readFileSync('{secret}', 'utf8')")));
    let said = lab.does(&["read:src/**", "write:out/**"], &works);
    for ((text, expected), said) in rows.iter().zip(&said) {
        assert_eq!(said, expected, "{text}");
    }
    assert_eq!(said.last().unwrap(), "EACCES");
    assert!(!lab.at("home/new").exists() && !lab.at("project/out/b.txt").exists());
    assert_eq!(lab.does(&["read:~/secret"], &works[rows.len()..]), ["ok secret"]);
}

#[test]
fn all_modules_together_have_no_more_processes_than_there_may_be() {
    let project = Project::new();
    let source = "export default (pi) => { pi.on('tool_call', async () => {\n\
                  const one = () => pi.exec('sh', ['-c', 'echo + >> log; sleep 0.05; echo - >> log']);\n\
                  await Promise.all(Array.from({ length: 12 }, one)); }); };";
    project.write("a.ts", source);
    project.write("b.ts", source);
    for most in [1_i32, 3] {
        let shared = SharedProcesses::new(usize::try_from(most).unwrap());
        let modules = Modules::with_limits(limits()).sharing_processes(&shared);
        let system = project.builder(&["a.ts", "b.ts"]).runner(modules).build();
        let fired: Vec<_> = (0..2).map(|_| system.fire(tool_call(&system))).collect();
        for fire in fired {
            assert!(!super::common::block_on(fire).is_denied());
        }
        system.shutdown_blocking();
        let log = project.project.join("log");
        let text = fs::read_to_string(&log).unwrap();
        let mut now = 0;
        let highest = text
            .lines()
            .map(|line| {
                now += if line == "+" { 1 } else { -1 };
                now
            })
            .max();
        assert_eq!((text.lines().count(), highest.is_some_and(|highest| highest <= most)), (96, true), "{highest:?}");
        fs::remove_file(log).unwrap();
    }
}
