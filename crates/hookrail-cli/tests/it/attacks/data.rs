//! The standing red team: every attack in `conformance/attacks`, through every host that it names.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hookrail_testkit::conformance::mismatches;
use hookrail_testkit::{ProgramOutput, TestProject, has_program};
use serde_json::Value;

use crate::attacks::entry::{Call, Change, Control, Entry, Expectation, entries};
use crate::attacks::hosts::{Host, Verdict};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hookrail");

/// The number of entries that run at once.
const WORKERS: usize = 2;

/// The place of one entry, or of its control.
struct Place {
    disk: TestProject,
    variables: Vec<(String, Option<String>)>,
    under: Vec<String>,
}

impl Place {
    fn new(setup: &Change) -> Result<Self, String> {
        let mut place = Self { disk: TestProject::new(), variables: Vec::new(), under: Vec::new() };
        place.apply(setup)?;
        Ok(place)
    }

    fn fill(&self, text: &str) -> String {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        text.replace("{{tmp}}", &path(&self.disk.base))
            .replace("{{project}}", &path(&self.disk.project))
            .replace("{{home}}", &path(&self.disk.home))
            .replace("{{hookrail}}", PROGRAM)
    }

    fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (self.fill(key), self.fill_value(value))).collect()
            }
            scalar => scalar.clone(),
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), String> {
        for path in &change.remove {
            let path = self.disk.path(path);
            let removed =
                if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        for (from, to) in &change.rename {
            fs::rename(self.disk.path(from), self.disk.path(to)).map_err(|error| format!("{from}: {error}"))?;
        }
        for (path, content) in &change.files {
            let text = match self.fill_value(content) {
                Value::String(text) => text,
                other => format!("{other:#}\n"),
            };
            self.disk.write_at(path, text);
        }
        for (path, text) in &change.programs {
            self.disk.write_program_at(path, self.fill(text));
        }
        for (path, target) in &change.links {
            let path = self.disk.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(self.fill(target), &path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        for (path, mode) in &change.modes {
            let mode = u32::from_str_radix(mode, 8).map_err(|error| format!("mode of {path}: {error}"))?;
            let changed = fs::set_permissions(self.disk.path(path), fs::Permissions::from_mode(mode));
            changed.map_err(|error| format!("{path}: {error}"))?;
        }
        self.variables.extend(change.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        let grant = ["hookrail", "trust", "grant", "--yes"].map(str::to_owned).to_vec();
        for words in change.commands.iter().chain(change.grant.then_some(&grant)) {
            let ran = self.run(words, "", |_| {});
            if ran.code != 0 {
                return Err(format!("`{}` failed: {ran:?}", words.join(" ")));
            }
        }
        self.under.clone_from(&change.under);
        Ok(())
    }

    /// Runs a program in the project; `hookrail` is the program under test.
    fn run(&self, words: &[String], stdin: &str, prepare: impl FnOnce(&mut Command)) -> ProgramOutput {
        let all: Vec<String> = self.under.iter().chain(words).map(|word| self.fill(word)).collect();
        let named = |word: &String| if word == "hookrail" { PROGRAM.to_owned() } else { word.clone() };
        let mut command = self.disk.command(named(&all[0]));
        // Behind other words only the place of the program is replaced.
        let program_at = self.under.len();
        command.args(
            all.iter().enumerate().skip(1).map(|(at, word)| if at == program_at { named(word) } else { word.clone() }),
        );
        prepare(&mut command);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, self.fill(value)),
                None => command.env_remove(name),
            };
        }
        ProgramOutput::with_input(&mut command, &self.fill(stdin))
    }

    /// What differs from the expectation in one host.
    fn differences(&self, host: &Host, call: Option<&Call>, expected: &Expectation) -> Vec<String> {
        let filled = call.map(|call| Call { tool: call.tool.clone(), input: self.fill_value(&call.input) });
        let started = host.start(filled.as_ref(), &self.disk);
        let words: Vec<String> = std::iter::once("hookrail".to_owned()).chain(started.arguments.clone()).collect();
        let ran = self.run(&words, &started.stdin, |command| started.variables(command, &self.disk));
        let mut found = Vec::new();
        let mut differs = |what: String| found.push(what);
        if let Some(verdict) = expected.verdict {
            let (wanted, seen) = (started.expected(verdict), started.verdict(&ran));
            if seen != Some(wanted) {
                differs(format!("verdict: expected {wanted:?}, found {seen:?}"));
            }
        }
        if expected.status.is_some_and(|status| status != ran.code) {
            differs(format!("status: expected {:?}, found {}", expected.status, ran.code));
        }
        if let Some(outcome) = started.outcome(&ran) {
            let codes = outcome["diagnostics"].as_array();
            let has = |code: &String| codes.is_some_and(|found| found.iter().any(|found| found["code"] == **code));
            if let Some(code) = expected.code.as_ref().filter(|code| !has(code)) {
                differs(format!("no diagnostic `{code}`"));
            }
            if let Some(pattern) = &expected.outcome {
                let different = mismatches(&self.fill_value(pattern), &outcome, "outcome");
                different.iter().for_each(|mismatch| differs(mismatch.to_string()));
            }
        }
        let said = format!("{}{}", ran.stdout, ran.stderr);
        for text in expected.says.iter().map(|text| self.fill(text)).filter(|text| !said.contains(text)) {
            differs(format!("does not say {text:?}"));
        }
        for text in expected.says_not.iter().map(|text| self.fill(text)).filter(|text| said.contains(text)) {
            differs(format!("says {text:?}"));
        }
        let exists = |path: &&String| self.disk.path(path).symlink_metadata().is_ok();
        expected.absent.iter().filter(exists).for_each(|path| differs(format!("{path} exists")));
        expected.present.iter().filter(|path| !exists(path)).for_each(|path| differs(format!("{path} does not exist")));
        if let Some(last) = found.last_mut() {
            last.push_str(&format!("\n      {ran:?}"));
        }
        found
    }
}

/// What a control expects that does not say it: the call passes, and a command without a call succeeds.
fn allowed(host: &Host) -> Expectation {
    let is_call = host.needs_call();
    Expectation {
        verdict: is_call.then_some(Verdict::Passes),
        status: (!is_call).then_some(0),
        ..Expectation::default()
    }
}

/// Everything that does not hold of an entry.
fn try_entry(entry: &Entry) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut note = |what: &str, host: &Host, differences: Vec<String>| {
        let lines = differences.into_iter().map(|line| format!("{what}, {}: {line}", host.name()));
        found.extend(lines);
    };
    let no_control = Control { setup: None, attack: Change::default(), call: None, hosts: None, expect: None };
    let control = entry.control.as_ref().unwrap_or(&no_control);
    let mut place = Place::new(control.setup.as_ref().unwrap_or(&entry.setup))?;
    place.apply(&control.attack)?;
    for host in control.hosts.as_ref().unwrap_or(&entry.hosts) {
        let call = control.call.as_ref().or(entry.call.as_ref());
        let expected = control.expect.clone().unwrap_or_else(|| allowed(host));
        note("control", host, place.differences(host, call, &expected));
    }
    // The control left everything as it was if it is the same operation before the attack.
    if control.setup.is_some() || control.attack != Change::default() {
        place = Place::new(&entry.setup)?;
    }
    place.apply(&entry.attack)?;
    for host in &entry.hosts {
        note("attack", host, place.differences(host, entry.call.as_ref(), &entry.expect));
    }
    Ok(found)
}

/// Whether a command can be run on this machine.
fn succeeds(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// `HOOKRAIL_ATTACK` chooses the entries whose name contains it.
fn is_chosen(entry: &Entry) -> bool {
    std::env::var("HOOKRAIL_ATTACK").map_or(true, |part| entry.name.contains(&part))
}

#[test]
fn every_entry_is_refused_and_its_control_allowed() {
    let entries: Vec<Entry> = entries().into_iter().filter(is_chosen).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(missing) = entry.skip_without.iter().find(|program| !has_program(program)) {
                println!("skipped: {} (no {missing})", entry.name);
                continue;
            }
            if let Some(words) = entry.skip_unless.iter().find(|words| !succeeds(words)) {
                println!("skipped: {} (`{}` fails)", entry.name, words.join(" "));
                continue;
            }
            let found = try_entry(entry).unwrap_or_else(|error| vec![format!("cannot be tried: {error}")]);
            if !found.is_empty() {
                failures.lock().unwrap().push(format!("{}: {}\n    {}", entry.file, entry.name, found.join("\n    ")));
            }
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {} entries failed:\n\n{}",
        failures.len(),
        entries.len(),
        failures.join("\n\n")
    );
}
