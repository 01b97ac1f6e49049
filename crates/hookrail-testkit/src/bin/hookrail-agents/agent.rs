//! The agents, each from a file in `crates/hookrail-testkit/agents`: where its program is, what its settings must say, how it
//! runs without a terminal, and what it calls its tools.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail_testkit::model::ModelCall;
use serde::Deserialize;
use serde_json::Value;

use crate::Error;
use crate::lab::{Lab, UserFile};

/// A real coding agent, as its file describes it. Texts have placeholders: `{prompt}`, `{url}` of the scripted model, and in the
/// calls `{path}`, `{name}` of the file, `{content}` and `{command}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LabAgent {
    /// The name on hookrail's command line, which is that of the file.
    #[serde(skip)]
    pub(crate) name: String,
    /// What is installed, each package into a folder of its own. The first one is the agent.
    pub(crate) packages: Vec<AgentPackage>,
    /// The program, below `node_modules` of the first folder.
    program: PathBuf,
    runs_with: Runtime,
    /// One prompt, without a terminal and without questions.
    arguments: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// The settings that the user has before hookrail is installed: the scripted model, no telemetry, and hooks of the user's
    /// own. Their layout is not what a program would write, so that a rewritten file is noticed.
    #[serde(default)]
    user_files: BTreeMap<PathBuf, String>,
    /// The files of the user to which the agent itself adds lines.
    #[serde(default)]
    pub(crate) growing_files: Vec<PathBuf>,
    /// Installed folders that are copied into the home directory. An agent may change them, so that links would not do.
    #[serde(default)]
    copied_folders: BTreeMap<String, String>,
    /// What `hookrail install` is told beside `--yes`.
    #[serde(default)]
    pub(crate) install_options: Vec<String>,
    /// What is done instead of a wish that the agent cannot fulfil, by the name of the wish or by hooks and wish.
    #[serde(default)]
    instead: BTreeMap<String, String>,
    /// The call that writes a file.
    write: ModelCall,
    /// The call that runs a command.
    shell: ModelCall,
}

/// A package of the npm registry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentPackage {
    pub(crate) folder: String,
    pub(crate) package: String,
    pub(crate) version: String,
}

/// What runs a program.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Runtime {
    Node,
    Itself,
}

impl LabAgent {
    /// The agents whose files are in a folder; those that are named, or all of them.
    pub(crate) fn load(folder: &Path, named: &[String]) -> Result<Vec<Self>, Error> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let mut agents = Vec::new();
        for file in files {
            let read = |file: &Path| -> Result<Self, Error> { Ok(serde_json::from_str(&fs::read_to_string(file)?)?) };
            let agent = read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            agents.push(Self { name, ..agent });
        }
        if let Some(unknown) = named.iter().find(|name| !agents.iter().any(|agent| agent.name == **name)) {
            return Err(format!("`{unknown}` is not an agent").into());
        }
        agents.retain(|agent| named.is_empty() || named.contains(&agent.name));
        Ok(agents)
    }

    /// The call that writes a file. The path is absolute; some agents want its name alone.
    pub(crate) fn write(&self, path: &Path, content: &str) -> ModelCall {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        filled_call(&self.write, &[("{path}", &path.to_string_lossy()), ("{name}", &name), ("{content}", content)])
    }

    /// The call that runs a shell command.
    pub(crate) fn shell(&self, command: &str) -> ModelCall {
        filled_call(&self.shell, &[("{command}", command)])
    }

    pub(crate) fn user_files(&self, port: u16) -> Vec<UserFile> {
        let url = model_url(port);
        let file =
            |(path, text): (&PathBuf, &String)| UserFile { path: path.clone(), text: text.replace("{url}", &url) };
        self.user_files.iter().map(file).collect()
    }

    /// Writes those settings, and what else the agent must find in the home directory.
    pub(crate) fn write_user_files(&self, lab: &Lab<'_>, port: u16) -> io::Result<()> {
        lab.write_user_files(&self.user_files(port))?;
        self.copied_folders.iter().try_for_each(|(folder, to)| lab.copy_to_home(folder, to))
    }

    /// What is done instead of a wish that the agent cannot fulfil.
    pub(crate) fn instead_of(&self, hooks: &str, wish: &str) -> Option<&str> {
        self.instead.get(&format!("{hooks} {wish}")).or_else(|| self.instead.get(wish)).map(String::as_str)
    }

    /// What must be in the agent's folder of installed programs for it to run at all.
    pub(crate) fn program(&self, agents: &Path) -> PathBuf {
        let folder = self.packages.first().map_or(self.name.as_str(), |package| &package.folder);
        agents.join(folder).join("node_modules").join(&self.program)
    }

    /// One prompt, without a terminal and without questions.
    pub(crate) fn command(&self, lab: &Lab<'_>, prompt: &str, port: u16) -> Command {
        let program = self.program(lab.agents);
        let mut command = match self.runs_with {
            Runtime::Node => {
                let mut node = lab.command("node");
                node.arg(program);
                node
            }
            Runtime::Itself => lab.command(&program),
        };
        let url = model_url(port);
        let filled = |text: &String| text.replace("{prompt}", prompt).replace("{url}", &url);
        command.args(self.arguments.iter().map(filled));
        command.envs(self.environment.iter().map(|(name, value)| (name, filled(value))));
        command
    }
}

fn model_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn filled_call(call: &ModelCall, values: &[(&str, &str)]) -> ModelCall {
    ModelCall { input: filled_value(&call.input, values), ..call.clone() }
}

fn filled_value(value: &Value, values: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => {
            Value::String(values.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value)))
        }
        Value::Array(items) => items.iter().map(|item| filled_value(item, values)).collect(),
        Value::Object(members) => {
            let filled = members.iter().map(|(name, member)| (name.clone(), filled_value(member, values)));
            Value::Object(filled.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
