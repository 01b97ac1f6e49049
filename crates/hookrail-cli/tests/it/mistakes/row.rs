//! One mistake: the files of a project, and what is said about it.

use hookrail_testkit::{ProgramOutput, TestProject};
use serde_json::Value;

/// One mistake.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    files: Vec<(String, String, FileMode)>,
    fire: Vec<&'static str>,
    /// The code that `check` reports; none if the mistake shows only when the hook runs.
    pub(crate) check: Option<&'static str>,
    /// The code that `fire` reports, or the reason of a skip.
    pub(crate) told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileMode {
    Plain,
    Executable,
    /// In the home directory.
    Home,
}

/// What `fire` says about a mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    /// A diagnostic with this code.
    Code(&'static str),
    /// The hook is skipped for this reason.
    Skipped(&'static str),
    /// The hook works here, and not everywhere.
    Nothing,
}

/// What was said about one mistake, without what differs from run to run.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) check: Option<String>,
    pub(crate) fire: Option<String>,
}

impl Row {
    pub(crate) fn new(name: &'static str, check: Option<&'static str>, told: Told) -> Self {
        let fire = vec!["BeforeTool", "--tool", "write_file", "--tool-input", r#"{"path": "a.txt"}"#];
        Self { name, files: Vec::new(), fire, check, told }
    }

    /// A row with this settings file.
    pub(crate) fn settings(name: &'static str, text: &str, check: Option<&'static str>, told: Told) -> Self {
        Self::new(name, check, told).file(".llxprt/settings.json", text)
    }

    /// A row with hooks of BeforeTool, switched on, each as its entry.
    pub(crate) fn hooks(name: &'static str, groups: &str, check: Option<&'static str>, told: Told) -> Self {
        let text = format!(
            "{{\n  \"hooksConfig\": {{\"enabled\": true}},\n  \"hooks\": {{\n    \"BeforeTool\": [{groups}]\n  }}\n}}\n"
        );
        Self::settings(name, &text, check, told)
    }

    /// A row with one hook that runs this command.
    pub(crate) fn command(name: &'static str, command: &str, check: Option<&'static str>, told: Told) -> Self {
        let command = Value::from(command);
        let group = format!(r#"{{"hooks": [{{"type": "command", "name": "guard", "command": {command}}}]}}"#);
        Self::hooks(name, &group, check, told)
    }

    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned(), FileMode::Plain));
        self
    }

    pub(crate) fn program(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned(), FileMode::Executable));
        self
    }

    pub(crate) fn home(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned(), FileMode::Home));
        self
    }

    /// The row with another event.
    pub(crate) fn fires(mut self, arguments: &[&'static str]) -> Self {
        self.fire = arguments.to_vec();
        self
    }

    /// Runs both commands, and fails if they do not say what the row says they do.
    pub(crate) fn run(&self) -> Result<Said, String> {
        let place = TestProject::new();
        for (name, text, mode) in &self.files {
            match mode {
                FileMode::Plain => place.write(name, text),
                FileMode::Executable => place.write_program(name, text),
                FileMode::Home => place.write_home(name, text),
            };
        }
        let print = |arguments: &[&str]| {
            let mut command = place.command(env!("CARGO_BIN_EXE_hookrail"));
            ProgramOutput::capture(command.args(arguments))
        };
        let run = |arguments: &[&str]| print(arguments).json();
        let checked = run(&["check", "--json"]);
        let fire = [&["fire"], self.fire.as_slice(), &["--trust-project", "--json"]].concat();
        let fired = run(&fire);
        let check = self.check.map(|code| self.message(&place, &checked, code, "check")).transpose()?;
        let fire = match self.told {
            Told::Code(code) => Some(self.message(&place, &fired, code, "fire")?),
            Told::Skipped(why) => {
                let skipped = fired["skipped"].as_array().unwrap();
                let found = skipped.iter().find(|skip| skip["why"] == why);
                let found = found.ok_or_else(|| format!("{}: `fire` says {fired:#}", self.name))?;
                // The fix is for people, so it is not in the document.
                let shown = print(&[&["fire"], self.fire.as_slice(), &["--trust-project"]].concat()).stdout;
                let fix = shown.lines().find_map(|line| line.trim().strip_prefix("fix: "));
                let fix = fix.map(|fix| format!(". Help: {fix}")).unwrap_or_default();
                Some(format!("skipped, `{why}`: {}{fix}", found["detail"].as_str().unwrap_or_default()))
            }
            Told::Nothing => None,
        };
        Ok(Said { check, fire: fire.map(|text| steady(&place, &text)) })
    }

    fn message(&self, place: &TestProject, document: &Value, code: &str, command: &str) -> Result<String, String> {
        let found = document["diagnostics"].as_array().unwrap().iter().find(|found| found["code"] == code);
        let found = found.ok_or_else(|| format!("{}: `{command}` says {:#}", self.name, document["diagnostics"]))?;
        let text = |key: &str| found[key].as_str().map(str::to_owned);
        let file = text("file").ok_or_else(|| format!("{}: `{command}` names no file: {found:#}", self.name))?;
        let hint = text("hint").ok_or_else(|| format!("{}: `{command}` names no fix: {found:#}", self.name))?;
        let level = text("level").unwrap();
        let message = without_quotation(&text("message").unwrap());
        let line = found["line"].as_u64().unwrap_or(1);
        Ok(steady(place, &format!("{level} `{code}` at {file}:{line}: {message}. Help: {hint}")))
    }
}

/// A message without what a shell or an interpreter wrote, which differs from system to system.
fn without_quotation(message: &str) -> String {
    for mark in ["(exit status 127)", "(exit status 126)", "exited with status 1", "reports a failure"] {
        if let Some((head, _)) = message.split_once(mark) {
            return format!("{head}{mark}");
        }
    }
    if message.contains("comes from") {
        return message.split_once(" (").map_or(message, |(head, _)| head).to_owned();
    }
    message.to_owned()
}

fn steady(place: &TestProject, text: &str) -> String {
    let project = format!("{}/", place.project.display());
    text.replace(&project, "").replace(&*place.home.to_string_lossy(), "~")
}
